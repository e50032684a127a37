import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { RaftProperties } from '../config/raft-properties.js';
import { decodeClientRequest, encodeClientReply } from '../proto/wire/index.js';
import { AlreadyClosedException } from '../protocol/exceptions.js';
import { createGroup } from '../protocol/group.js';
import { createPeer } from '../protocol/peer.js';
import { GrpcTransport } from '../rpc/grpc/index.js';
import { ORDERED_PATH, UNORDERED_PATH } from '../rpc/ratis/client/method-paths.js';
import {
  type ChannelOptions,
  OK_STATUS,
  type RpcServer,
  type RpcTransport,
  type ServerStream,
  type TlsOptions,
} from '../rpc/transport.js';
import { limitsOf } from './client-options.js';
import { CLIENT_ID, echo, GROUP_ID, withCluster } from './fake-server.test-support.js';
import { RaftClient } from './raft-client.js';

const limits = limitsOf(new RaftProperties());

/** A gRPC server that answers each request with its own content. */
async function startEcho(): Promise<RpcServer> {
  const transport = new GrpcTransport();
  const server = transport.createServer({ host: '127.0.0.1', port: 0, tls: undefined, limits });
  const handler = (stream: ServerStream) => ({
    onMessage: (bytes: Uint8Array) => {
      const { requestorId, replyId, raftGroupId, callId, content } = decodeClientRequest(bytes);
      const head = { requestorId, replyId, raftGroupId, callId, content };
      const rest = { exceptionCase: 0, exception: undefined, logIndex: 1, commitInfos: [] };
      stream.send(encodeClientReply({ ...head, success: true, ...rest }));
    },
    onHalfClose: () => stream.end(OK_STATUS),
    onEnd: () => undefined,
  });
  server.addService({ streams: { [ORDERED_PATH]: handler, [UNORDERED_PATH]: handler } });
  await server.listen();
  return server;
}

function groupAt(port: number) {
  return createGroup(GROUP_ID, [createPeer({ id: 'n0', address: `127.0.0.1:${port}` })]);
}

describe('a client over gRPC', () => {
  it('sends on all paths and closes its sockets', async () => {
    const server = await startEcho();
    try {
      const group = groupAt(server.address.port);
      await using client = RaftClient.create({ group });
      const replies = await Promise.all([
        ...['a', 'b', 'c'].map((message) => client.async().send(message)),
        client.async().sendReadOnlyUnordered('d'),
        client.io().send('e'),
      ]);
      const contents = replies.map((reply) => new TextDecoder().decode(reply.message));
      assert.deepEqual(contents, ['a', 'b', 'c', 'd', 'e']);
      await client.close();
      await assert.rejects(client.io().send('f'), AlreadyClosedException);
    } finally {
      await server.close(0);
    }
  });

  it('takes messages beyond the send buffer without losing their order', async () => {
    const server = await startEcho();
    try {
      await using client = RaftClient.create({ group: groupAt(server.address.port) });
      const messages = Array.from({ length: 12 }, (_, i) => new Uint8Array(700_000).fill(i));
      const replies = await Promise.all(messages.map((message) => client.async().send(message)));
      assert.deepEqual(
        replies.map((reply) => reply.message?.[0]),
        messages.map((message) => message[0]),
      );
    } finally {
      await server.close(0);
    }
  });

  it('can be closed while it connects to something that does not speak', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket));
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = silent.address();
    assert.ok(address !== null && typeof address === 'object');
    const client = RaftClient.create({ group: groupAt(address.port) });
    const outstanding = [client.async().send('a'), client.io().send('b')];
    const closing = client.close();
    for (const reply of outstanding) await assert.rejects(reply, AlreadyClosedException);
    await closing;
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

describe('what a client makes of its options', () => {
  /** Notes the channels that are asked for. */
  function recording(inner: RpcTransport) {
    const channels: [string, TlsOptions | undefined][] = [];
    const transport: RpcTransport = {
      createChannel: (target: string, options: ChannelOptions) => {
        channels.push([target, options.tls]);
        return inner.createChannel(target, options);
      },
      createServer: (options) => inner.createServer(options),
    };
    return { channels, transport };
  }

  const slot = (name: string): TlsOptions => ({ trustCertificates: name, mutual: false });

  it('goes to the client and admin addresses with their TLS slots', () =>
    withCluster({}, async ({ transport: inner, runtime }) => {
      const { channels, transport } = recording(inner);
      const peer = createPeer({
        id: 'n0',
        address: 'h:1',
        clientAddress: 'h:2',
        adminAddress: 'h:3',
      });
      const tls = { default: slot('default'), admin: slot('admin') };
      const group = createGroup(GROUP_ID, [peer]);
      const client = RaftClient.create({ group, transport, runtime, tls });
      client
        .async()
        .send('a')
        .catch(() => undefined);
      await assert.rejects(client.groupManagement('n0').list());
      assert.deepEqual(channels.slice(0, 2), [
        ['h:2', slot('default')],
        ['h:3', slot('admin')],
      ]);
      const closing = client.close();
      await runtime.advance(2_000);
      await closing;
    }));

  it('shares one channel, with the client slot, when the addresses are equal', () =>
    withCluster({}, async ({ transport: inner, runtime }) => {
      const { channels, transport } = recording(inner);
      const tls = { client: slot('client'), admin: slot('admin') };
      const group = createGroup(GROUP_ID, [createPeer({ id: 'n0', address: 'h:1' })]);
      const client = RaftClient.create({ group, transport, runtime, tls });
      client
        .io()
        .send('a')
        .catch(() => undefined);
      await assert.rejects(client.groupManagement('n0').list());
      assert.deepEqual(channels.slice(0, 1), [['h:1', slot('client')]]);
      assert.ok(channels.every(([, tls]) => tls?.trustCertificates === 'client'));
      const closing = client.close();
      await runtime.advance(2_000);
      await closing;
    }));

  it('has a random version 4 id unless one is given', () =>
    withCluster({ clientId: CLIENT_ID }, async ({ client, group, runtime, transport }) => {
      assert.equal(client.id, CLIENT_ID);
      const other = RaftClient.create({ group, runtime, transport });
      assert.match(other.id.uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/);
      await other.close();
    }));

  it('sends the vector client-write-first as its second call', () =>
    withCluster({}, async ({ transport, runtime, servers: [n0] }) => {
      const peer = createPeer({ id: 's1', address: n0.peer.address });
      const group = createGroup(GROUP_ID, [peer]);
      const properties = RaftProperties.from({
        'raft.client.async.experimental.send-dummy-request': false,
      });
      const options = { group, clientId: CLIENT_ID, transport, runtime, properties };
      const client = RaftClient.create(options);
      echo(n0);
      await client.io().sendStaleRead('x', 0, 's1');
      await client.async().send('hello');
      assert.equal(
        Buffer.from(n0.stream.raw[0] ?? []).toString('hex'),
        '0a340a100123456789abcdef0123456789abcdef120273311a120a1002511d47d67c49a39011abb3109a44c1' +
          '200228017a040801100112070a0568656c6c6f1a00',
      );
      const closing = client.close();
      await runtime.advance(2_000);
      await closing;
    }));
});
