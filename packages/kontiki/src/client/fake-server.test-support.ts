import { create, toBinary } from '@bufbuild/protobuf';
import { NULL_LOGGER } from '../common/logger.js';
import { RaftProperties } from '../config/raft-properties.js';
import {
  LeaderNotReadyExceptionProtoSchema,
  NotLeaderExceptionProtoSchema,
  NotReplicatedExceptionProtoSchema,
  StateMachineExceptionProtoSchema,
} from '../proto/gen/ratis/common/exceptions_pb.js';
import { RaftPeerProtoSchema } from '../proto/gen/ratis/common/peers_pb.js';
import {
  type ClientReplyMessage,
  type ClientRequestMessage,
  decodeClientRequest,
  encodeClientReply,
  encodePeer,
} from '../proto/wire/index.js';
import { createGroup, type RaftGroup } from '../protocol/group.js';
import { ClientId, RaftGroupId } from '../protocol/ids.js';
import { createPeer, type RaftPeer } from '../protocol/peer.js';
import { MemoryNetwork, MemoryTransport } from '../rpc/memory/index.js';
import { ORDERED_PATH, UNORDERED_PATH } from '../rpc/ratis/client/method-paths.js';
import {
  OK_STATUS,
  type RpcServer,
  type RpcStatus,
  type ServerCall,
  type ServerStream,
  StatusCode,
  type StreamListener,
} from '../rpc/transport.js';
import { limitsOf, type RaftClientOptions } from './client-options.js';
import { RaftClient } from './raft-client.js';
import { VirtualRuntime } from './virtual-runtime.test-support.js';

const text = new TextEncoder();

export const GROUP_ID = RaftGroupId.parse('02511d47-d67c-49a3-9011-abb3109a44c1');
export const CLIENT_ID = ClientId.parse('01234567-89ab-cdef-0123-456789abcdef');

/** Fields of a reply that a test chooses. */
export type ReplyFields = Partial<ClientReplyMessage>;

/** What a reply says when the request was carried out. */
export function success(content = '', logIndex = 1): ReplyFields {
  return { success: true, content: text.encode(content), logIndex };
}

export function notLeader(suggested?: RaftPeer, peers: readonly RaftPeer[] = []): ReplyFields {
  const proto = (peer: RaftPeer) =>
    create(RaftPeerProtoSchema, {
      id: text.encode(peer.id),
      address: peer.address,
      priority: peer.priority,
    });
  const exception = create(NotLeaderExceptionProtoSchema, {
    suggestedLeader: suggested === undefined ? undefined : proto(suggested),
    peersInConf: peers.map(proto),
  });
  return { exceptionCase: 3, exception: toBinary(NotLeaderExceptionProtoSchema, exception) };
}

export function notReplicated(callId: number, logIndex: number): ReplyFields {
  const exception = create(NotReplicatedExceptionProtoSchema, {
    callId: BigInt(callId),
    replication: 1,
    logIndex: BigInt(logIndex),
  });
  return { exceptionCase: 4, exception: toBinary(NotReplicatedExceptionProtoSchema, exception) };
}

export function stateMachineFailure(message: string): ReplyFields {
  const exception = create(StateMachineExceptionProtoSchema, {
    exceptionClassName: 'java.lang.ArithmeticException',
    errorMsg: message,
  });
  return { exceptionCase: 5, exception: toBinary(StateMachineExceptionProtoSchema, exception) };
}

export function leaderNotReady(peerId: string): ReplyFields {
  const exception = create(LeaderNotReadyExceptionProtoSchema, {
    serverId: { peerId: text.encode(peerId), groupId: { id: GROUP_ID.bytes } },
  });
  return { exceptionCase: 6, exception: toBinary(LeaderNotReadyExceptionProtoSchema, exception) };
}

/** A status as servers end streams with it. */
export function failure(javaName: string, message: string): RpcStatus {
  const name = `org.apache.ratis.protocol.exceptions.${javaName}`;
  return { code: StatusCode.INTERNAL, message, metadata: { 'exception-type': name } };
}

/** One stream as the server sees it. */
export class FakeStream implements StreamListener {
  readonly kind: 'ordered' | 'unordered';
  readonly requests: ClientRequestMessage[] = [];
  /** The same, as they came. */
  readonly raw: Uint8Array[] = [];
  readonly #stream: ServerStream;
  readonly #server: FakeServer;
  #replies = 0;
  halfClosed = false;
  /** How the client ended it. */
  ended: RpcStatus | undefined;

  constructor(kind: 'ordered' | 'unordered', stream: ServerStream, server: FakeServer) {
    this.kind = kind;
    this.#stream = stream;
    this.#server = server;
  }

  onMessage(message: Uint8Array): void {
    const request = decodeClientRequest(message);
    this.requests.push(request);
    this.raw.push(message);
    this.#server.onRequest(this, request);
  }

  onHalfClose(): void {
    this.halfClosed = true;
    this.#endWhenDone();
  }

  onEnd(status: RpcStatus): void {
    this.ended = status;
  }

  reply(request: ClientRequestMessage, fields: ReplyFields): void {
    this.#stream.send(
      encodeClientReply({
        requestorId: request.requestorId,
        replyId: request.replyId,
        raftGroupId: request.raftGroupId,
        callId: request.callId,
        success: false,
        content: undefined,
        exceptionCase: 0,
        exception: undefined,
        logIndex: 0,
        commitInfos: [{ server: encodePeer(createPeer({ id: request.replyId })), commitIndex: 7 }],
        ...fields,
      }),
    );
    this.#replies++;
    this.#endWhenDone();
  }

  #endWhenDone(): void {
    if (this.halfClosed && this.#replies >= this.requests.length) this.#stream.end(OK_STATUS);
  }

  end(status: RpcStatus = OK_STATUS): void {
    this.#stream.end(status);
  }

  /** Numbers of the requests that came, the first ones marked. */
  get numbers(): string[] {
    return this.requests.map((request) => `${request.seqNum}${request.isFirst ? '*' : ''}`);
  }

  /** Contents of the requests that came. */
  get contents(): string[] {
    const decoder = new TextDecoder();
    return this.requests.map((request) => decoder.decode(request.content));
  }
}

/** A server that does what a test says. */
export class FakeServer {
  readonly peer: RaftPeer;
  readonly streams: FakeStream[] = [];
  readonly calls: ServerCall[] = [];
  /** What happens when a request comes. Default: nothing. */
  onRequest: (stream: FakeStream, request: ClientRequestMessage) => void = () => undefined;
  /** What happens on an admin call. Default: nothing. */
  onCall: (path: string, call: ServerCall) => void = () => undefined;
  #server: RpcServer | undefined;

  constructor(peer: RaftPeer) {
    this.peer = peer;
  }

  async start(transport: MemoryTransport, adminPaths: readonly string[]): Promise<void> {
    const [host, port] = this.peer.address.split(':');
    const limits = limitsOf(new RaftProperties());
    const server = transport.createServer({ host, port: Number(port), tls: undefined, limits });
    const handler = (kind: 'ordered' | 'unordered') => (stream: ServerStream) => {
      const fake = new FakeStream(kind, stream, this);
      this.streams.push(fake);
      return fake;
    };
    const unary = adminPaths.map((path) => [
      path,
      (call: ServerCall) => {
        this.calls.push(call);
        this.onCall(path, call);
      },
    ]);
    server.addService({
      streams: { [ORDERED_PATH]: handler('ordered'), [UNORDERED_PATH]: handler('unordered') },
      unary: Object.fromEntries(unary),
    });
    await server.listen();
    this.#server = server;
  }

  /** The latest stream. */
  get stream(): FakeStream {
    const latest = this.streams[this.streams.length - 1];
    if (latest === undefined) throw new Error(`${this.peer.id} has no stream`);
    return latest;
  }

  async stop(): Promise<void> {
    await this.#server?.close(0);
    this.#server = undefined;
  }
}

export interface Cluster {
  readonly runtime: VirtualRuntime;
  readonly transport: MemoryTransport;
  readonly group: RaftGroup;
  readonly servers: readonly [FakeServer, FakeServer, FakeServer];
  readonly client: RaftClient;
}

export interface ClusterOptions extends Omit<Partial<RaftClientOptions>, 'properties'> {
  readonly properties?: Readonly<Record<string, string>>;
  readonly adminPaths?: readonly string[];
  /** Servers that do not listen. */
  readonly down?: readonly string[];
}

/**
 * Three fake servers n0 (the first leader guess), n1, n2 and a client without the dummy request,
 * unless the properties say otherwise.
 */
export async function withCluster(
  options: ClusterOptions,
  body: (cluster: Cluster) => Promise<void>,
): Promise<void> {
  const runtime = new VirtualRuntime();
  const transport = new MemoryTransport({
    runtime,
    logger: NULL_LOGGER,
    network: new MemoryNetwork(),
  });
  const peers = [0, 1, 2].map((i) => createPeer({ id: `n${i}`, address: `host${i}:${6000 + i}` }));
  const servers = peers.map((peer) => new FakeServer(peer)) as [FakeServer, FakeServer, FakeServer];
  for (const server of servers) {
    if (options.down?.includes(server.peer.id) === true) continue;
    await server.start(transport, options.adminPaths ?? []);
  }
  const group = createGroup(GROUP_ID, peers);
  const properties = RaftProperties.fromEntries(
    Object.entries({
      'raft.client.async.experimental.send-dummy-request': 'false',
      ...options.properties,
    }),
  );
  const client = RaftClient.create({
    group,
    clientId: CLIENT_ID,
    leaderId: 'n0',
    transport,
    runtime,
    ...options,
    properties,
  });
  try {
    await body({ runtime, transport, group, servers, client });
  } finally {
    const closing = client.close();
    await runtime.advance(5_000);
    await closing;
    for (const server of servers) {
      const stopping = server.stop();
      await runtime.advance(10);
      await stopping;
    }
  }
}

/** Answers every request at once with success and the request's own content. */
export function echo(server: FakeServer): void {
  const decoder = new TextDecoder();
  server.onRequest = (stream, request) => {
    stream.reply(request, success(decoder.decode(request.content)));
  };
}
