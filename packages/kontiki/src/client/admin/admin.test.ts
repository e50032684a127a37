import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  clientReplyToWire,
  decodeAdminRequest,
  encodeGroupListReply,
  trailersOfException,
} from '../../proto/convert/index.js';
import { encodeClientReply } from '../../proto/wire/index.js';
import {
  AlreadyExistsException,
  NotLeaderException,
  type RaftException,
  TransferLeadershipException,
} from '../../protocol/exceptions.js';
import { createPeer } from '../../protocol/peer.js';
import type { AdminRequest, RaftClientReply } from '../../protocol/requests.js';
import { type ServerCall, StatusCode } from '../../rpc/transport.js';
import {
  CLIENT_ID,
  type Cluster,
  type FakeServer,
  GROUP_ID,
  withCluster,
} from '../fake-server.test-support.js';

const METHODS = [
  'setConfiguration',
  'transferLeadership',
  'groupManagement',
  'snapshotManagement',
  'leaderElectionManagement',
  'groupList',
  'groupInfo',
] as const;
type Method = (typeof METHODS)[number];
const PREFIX = '/ratis.grpc.AdminProtocolService/';

function replyTo(request: AdminRequest, exception?: RaftException): RaftClientReply {
  return {
    clientId: request.clientId,
    serverId: request.serverId,
    groupId: request.groupId,
    callId: request.callId,
    success: exception === undefined,
    message: undefined,
    exception,
    logIndex: 42,
    commitInfos: [],
  };
}

/**
 * Answers admin calls; `answer` returns the exception of the reply, if any, and throws for a
 * status.
 */
function serve(
  server: FakeServer,
  seen: AdminRequest[],
  answer: (request: AdminRequest) => RaftException | undefined,
) {
  server.onCall = (path: string, call: ServerCall) => {
    const request = decodeAdminRequest(path.slice(PREFIX.length) as Method, call.request);
    seen.push(request);
    try {
      const reply = replyTo(request, answer(request));
      call.reply(
        request.operation.kind === 'groupList'
          ? encodeGroupListReply({ ...reply, groupIds: [GROUP_ID] })
          : encodeClientReply(clientReplyToWire(reply)),
      );
    } catch (error) {
      call.fail({ code: StatusCode.INTERNAL, ...trailersOfException(error) });
    }
  };
}

function withAdmin(body: (cluster: Cluster, seen: AdminRequest[]) => Promise<void>): Promise<void> {
  const adminPaths = METHODS.map((method) => `${PREFIX}${method}`);
  return withCluster({ adminPaths }, async (cluster) => {
    const seen: AdminRequest[] = [];
    for (const server of cluster.servers) serve(server, seen, () => undefined);
    await body(cluster, seen);
  });
}

describe('admin calls (spec: client 3, wire-grpc 8)', () => {
  it('sends each operation as Java fills it', () =>
    withAdmin(async ({ client, group }, seen) => {
      const [peer] = group.peers;
      assert.ok(peer !== undefined);
      await client.admin().setConfiguration(group.peers);
      await client.admin().transferLeadership('n1', 500);
      await client.admin().transferLeadership(undefined, 500, { leaderId: 'n2' });
      await client.groupManagement('n1').add(group);
      await client.groupManagement('n1').remove(GROUP_ID, { renameDirectory: true });
      const snapshot = await client.snapshotManagement().create(100, { force: true });
      await client.snapshotManagement('n2').create(100);
      await client.leaderElectionManagement('n1').pause();
      await client.leaderElectionManagement('n1').resume();
      const list = await client.groupManagement('n2').list();
      assert.equal(snapshot.logIndex, 42);
      assert.deepEqual(list.groupIds.map(String), [String(GROUP_ID)]);
      assert.deepEqual(
        seen.map(({ operation, serverId, toLeader, timeoutMs }) => [
          operation.kind,
          serverId,
          toLeader,
          timeoutMs,
        ]),
        [
          ['setConfiguration', 'n0', true, 0],
          ['transferLeadership', 'n0', true, 500],
          ['transferLeadership', 'n2', true, 500],
          ['groupAdd', 'n1', false, 0],
          ['groupRemove', 'n1', false, 0],
          ['snapshotCreate', 'n0', true, 100],
          ['snapshotCreate', 'n2', false, 100],
          ['electionPause', 'n1', false, 0],
          ['electionResume', 'n1', false, 0],
          ['groupList', 'n2', false, 0],
        ],
      );
      assert.ok(seen.every((request) => request.clientId.equals(CLIENT_ID)));
    }));

  it('allows the server the time of a transfer beyond the request timeout', () =>
    withAdmin(async ({ client, servers: [n0] }) => {
      await client.admin().transferLeadership('n1', 500);
      await client.groupManagement('n0').list();
      assert.deepEqual(
        n0.calls.map((call) => Math.round(call.timeoutMs ?? 0)),
        [3_500, 3_000],
      );
    }));

  it('follows the leader with the same call id', () =>
    withAdmin(async ({ client, group, servers: [n0, n1], runtime }, seen) => {
      serve(n0, seen, () => new NotLeaderException('n0', n1.peer, []));
      await runtime.until(client.admin().setConfiguration(group.peers));
      assert.deepEqual(
        seen.map((request) => request.serverId),
        ['n0', 'n1'],
      );
      assert.equal(seen[0]?.callId, seen[1]?.callId);
    }));

  it('gives a refusal back without another attempt, and keeps its leader', () =>
    withAdmin(async ({ client, group, servers: [n0] }, seen) => {
      serve(n0, seen, ({ operation }) => {
        if (operation.kind === 'groupAdd') throw new AlreadyExistsException('exists');
        return new TransferLeadershipException('it does not has highest priority');
      });
      await assert.rejects(client.groupManagement('n0').add(group), AlreadyExistsException);
      await assert.rejects(
        client.admin().transferLeadership('n1', 10),
        TransferLeadershipException,
      );
      assert.equal(seen.length, 2);
      assert.equal(client.leaderId, 'n0');
    }));

  it('asks for lists and infos once', () =>
    withAdmin(async ({ client, servers: [n0] }, seen) => {
      serve(n0, seen, () => {
        throw new Error('broken');
      });
      await assert.rejects(client.groupManagement('n0').info(), /broken/);
      assert.equal(seen.length, 1);
    }));

  it('refuses a configuration that names a peer twice', () =>
    withAdmin(async ({ client }) => {
      const peer = createPeer({ id: 'n0', address: 'host0:6000' });
      await assert.rejects(client.admin().setConfiguration([peer, peer]), /occurs twice/);
    }));

  it('knows new members by their addresses afterwards', () =>
    withAdmin(async ({ client, group, servers: [n0] }, seen) => {
      const added = createPeer({ id: 'n3', address: n0.peer.address });
      await client.admin().setConfiguration({ servers: [...group.peers, added], mode: 'ADD' });
      await client.groupManagement('n3').list();
      assert.equal(seen[1]?.serverId, 'n3');
    }));
});
