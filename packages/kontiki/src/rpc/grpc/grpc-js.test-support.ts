import * as grpc from '@grpc/grpc-js';

/** @grpc/grpc-js as the other end: a service of raw bytes. */
const bytesOf = (value: Buffer): Buffer => value;

const method = (path: string, stream: boolean) => ({
  path,
  requestStream: stream,
  responseStream: stream,
  requestSerialize: bytesOf,
  requestDeserialize: bytesOf,
  responseSerialize: bytesOf,
  responseDeserialize: bytesOf,
});

export const UNARY_PATH = '/test.Peer/unary';
export const STREAM_PATH = '/test.Peer/stream';

export const PEER_SERVICE = {
  unary: method(UNARY_PATH, false),
  stream: method(STREAM_PATH, true),
};

export type PeerUnary = grpc.handleUnaryCall<Buffer, Buffer>;
export type PeerStream = grpc.handleBidiStreamingCall<Buffer, Buffer>;

export const PEER_LIMITS = {
  'grpc.max_receive_message_length': 100 * 1_048_576,
  'grpc.max_send_message_length': 100 * 1_048_576,
};

/** Starts a grpc-js server with these handlers; returns it with its port. */
export async function startPeerServer(
  handlers: { unary?: PeerUnary; stream?: PeerStream },
  credentials = grpc.ServerCredentials.createInsecure(),
): Promise<{ readonly server: grpc.Server; readonly port: number }> {
  const server = new grpc.Server(PEER_LIMITS);
  server.addService(PEER_SERVICE, {
    unary: handlers.unary ?? echoUnary,
    stream: handlers.stream ?? echo,
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { server, port };
}

const echoUnary: PeerUnary = (call, reply) => reply(null, call.request);

const echo: PeerStream = (call) => {
  call.on('data', (message: Buffer) => call.write(message));
  call.on('end', () => call.end());
  call.on('error', () => undefined);
};

/** A grpc-js client of raw bytes. */
export class PeerClient extends grpc.Client {
  constructor(port: number, credentials = grpc.credentials.createInsecure()) {
    super(`127.0.0.1:${port}`, credentials, PEER_LIMITS);
  }

  unary(
    request: Buffer,
    options: Partial<grpc.CallOptions> = {},
    path = UNARY_PATH,
  ): Promise<{ error: grpc.ServiceError | null; reply: Buffer | undefined }> {
    return new Promise((resolve) => {
      this.makeUnaryRequest(
        path,
        bytesOf,
        bytesOf,
        request,
        new grpc.Metadata(),
        options,
        (error, reply) => resolve({ error, reply }),
      );
    });
  }

  stream(path = STREAM_PATH): grpc.ClientDuplexStream<Buffer, Buffer> {
    const call = this.makeBidiStreamRequest(path, bytesOf, bytesOf);
    call.on('error', () => undefined);
    return call;
  }
}

/** The status that ends a grpc-js call. */
export function peerStatus(call: {
  on(event: 'status', listener: (status: grpc.StatusObject) => void): unknown;
}): Promise<grpc.StatusObject> {
  return new Promise((resolve) => {
    call.on('status', resolve);
  });
}
