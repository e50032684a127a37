import {
  type ChannelOptions,
  type ClientStream,
  type RpcChannel,
  type RpcServer,
  type RpcStatus,
  type RpcTransport,
  type ServerOptions,
  type ServiceDefinition,
  StatusCode,
  type StreamListener,
  type TransportLimits,
} from '../transport.js';

/** A transport under test. */
export interface TransportHarness {
  readonly name: string;
  readonly transport: RpcTransport;
  readonly host: string;
  readonly serverTls?: ServerOptions['tls'];
  readonly clientTls?: ChannelOptions['tls'];
}

export const TEST_LIMITS: TransportLimits = {
  maxInboundMessageBytes: 1_000_000,
  maxOutboundMessageBytes: 2_000_000,
  flowControlWindowBytes: 65_536,
  sendBufferBytes: 100_000,
  maxHeaderListBytes: 65_536,
  keepaliveTimeMs: 0,
  keepaliveTimeoutMs: 1_000,
  reconnectBackoffMinMs: 100,
  reconnectBackoffMaxMs: 1_000,
  connectTimeoutMs: 5_000,
};

export interface Fixture {
  readonly server: RpcServer;
  readonly channel: RpcChannel;
  /** Another channel to the same server. */
  openChannel(limits?: Partial<TransportLimits>): RpcChannel;
}

/** Runs `body` with a server that serves `service` and a channel to it, and closes both. */
export async function withServer(
  harness: TransportHarness,
  service: ServiceDefinition,
  body: (fixture: Fixture) => Promise<void>,
  limits: Partial<TransportLimits> = {},
): Promise<void> {
  const { transport, host } = harness;
  const serverLimits = { ...TEST_LIMITS, ...limits };
  const server = transport.createServer({
    host,
    port: 0,
    tls: harness.serverTls,
    limits: serverLimits,
  });
  server.addService(service);
  await server.listen();
  const channels: RpcChannel[] = [];
  const openChannel = (own: Partial<TransportLimits> = {}) => {
    const channel = transport.createChannel(`${server.address.host}:${server.address.port}`, {
      tls: harness.clientTls,
      limits: { ...serverLimits, ...own },
    });
    channels.push(channel);
    return channel;
  };
  try {
    await body({ server, channel: openChannel(), openChannel });
  } finally {
    for (const channel of channels) channel.close(0);
    await server.close(0);
  }
}

/** The outcome of a unary call. */
export interface CallResult {
  readonly status: RpcStatus;
  readonly reply: Uint8Array | undefined;
}

export function call(
  channel: RpcChannel,
  path: string,
  request: Uint8Array | readonly Uint8Array[],
  options: Parameters<RpcChannel['call']>[2] = {},
): Promise<CallResult> {
  return new Promise((resolve) => {
    channel.call(path, request, options, (status, reply) => resolve({ status, reply }));
  });
}

/** A listener that keeps everything, and whose events can be awaited. */
export class RecordingListener implements StreamListener {
  readonly messages: Uint8Array[] = [];
  readonly statuses: RpcStatus[] = [];
  halfCloses = 0;
  drains = 0;
  /** Called after each event. */
  onEvent: () => void = () => undefined;
  #waiters: { readonly done: () => boolean; readonly resolve: () => void }[] = [];

  onMessage(message: Uint8Array): void {
    this.messages.push(message);
    this.#changed();
  }

  onHalfClose(): void {
    this.halfCloses++;
    this.#changed();
  }

  onEnd(status: RpcStatus): void {
    this.statuses.push(status);
    this.#changed();
  }

  onDrain(): void {
    this.drains++;
    this.#changed();
  }

  get messageBytes(): number {
    return this.messages.reduce((sum, message) => sum + message.length, 0);
  }

  /** Resolves as soon as `done` holds. */
  until(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ done, resolve }));
  }

  /** Resolves with the status of the end. */
  async ended(): Promise<RpcStatus> {
    await this.until(() => this.statuses.length > 0);
    const status = this.statuses[0];
    if (status === undefined) throw new Error('no status');
    return status;
  }

  #changed(): void {
    this.onEvent();
    const ready = this.#waiters.filter((waiter) => waiter.done());
    this.#waiters = this.#waiters.filter((waiter) => !ready.includes(waiter));
    for (const waiter of ready) waiter.resolve();
  }
}

/** Opens a stream with a recording listener. */
export function open(
  channel: RpcChannel,
  path: string,
  options: Parameters<RpcChannel['openStream']>[2] = {},
): { readonly stream: ClientStream; readonly listener: RecordingListener } {
  const listener = new RecordingListener();
  return { stream: channel.openStream(path, listener, options), listener };
}

export const OK: RpcStatus = { code: StatusCode.OK, message: '', metadata: {} };

export const text = (bytes: Uint8Array | undefined): string =>
  bytes === undefined ? '(none)' : new TextDecoder().decode(bytes);

export const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

/**
 * A service whose stream echoes, ends with OK after the half-close, and whose unary method echoes.
 */
export const ECHO: ServiceDefinition = {
  unary: { '/test.Echo/unary': (request) => request.reply(request.request) },
  streams: {
    '/test.Echo/stream': (stream) => ({
      onMessage: (message) => void stream.send(message),
      onHalfClose: () => stream.end(OK),
      onEnd: () => undefined,
    }),
  },
};

/** A stream method that hands its ends to the test. */
export function capture(path = '/test.Capture/stream') {
  const listener = new RecordingListener();
  let take: (stream: import('../transport.js').ServerStream) => void = () => undefined;
  const stream = new Promise<import('../transport.js').ServerStream>((resolve) => {
    take = resolve;
  });
  const service: ServiceDefinition = {
    streams: {
      [path]: (serverStream) => {
        take(serverStream);
        return listener;
      },
    },
  };
  return { path, service, listener, stream };
}
