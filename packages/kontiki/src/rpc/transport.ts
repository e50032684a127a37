/**
 * The interface between the Ratis services (`rpc/ratis`) and a transport (`rpc/grpc` over HTTP/2,
 * `rpc/memory` in process, the simulator's network). A transport knows nothing of Raft.
 *
 * Contract (design: section 4): messages of a stream arrive in order and at most once; a broken
 * stream loses a suffix in each direction; a unary call that failed may have been carried out;
 * nothing is repeated but by the caller. Every callback is called from a fresh turn or from the
 * transport's own input handling, never from inside a call that the user makes on the same object.
 * After `onEnd` (or a call's callback) nothing more is called. A connection may live in another
 * thread, hence events and counted credits, not promises.
 */

/** gRPC status codes. */
export const StatusCode = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;
export type StatusCode = (typeof StatusCode)[keyof typeof StatusCode];

/**
 * Header or trailer entries: lower-case names; a name that ends in `-bin` holds bytes, any other
 * printable ASCII text.
 */
export type Metadata = Readonly<Record<string, string | Uint8Array>>;

/** How a call or stream ended. */
export interface RpcStatus {
  readonly code: StatusCode;
  /** `grpc-message`, decoded; empty when absent. */
  readonly message: string;
  /** Trailers other than `grpc-status` and `grpc-message`. */
  readonly metadata: Metadata;
  /**
   * Set when the status was made locally (lost connection, cancel, deadline, size limit): what
   * happened underneath.
   */
  readonly cause?: Error;
}

export const OK_STATUS: RpcStatus = { code: StatusCode.OK, message: '', metadata: {} };

/** One message, or its parts in order (a head and a payload that must not be copied twice). */
export type OutgoingMessage = Uint8Array | readonly Uint8Array[];

/** What the user of a stream is told. */
export interface StreamListener {
  /**
   * One whole message. The bytes belong to the receiver; they may be a view on a buffer that other
   * small messages share.
   */
  onMessage(message: Uint8Array): void;
  /** Server side: the client sends no more. Client side: never called. */
  onHalfClose?(): void;
  /** The stream is over; server side: cancelled or lost (never called after own `end`). */
  onEnd(status: RpcStatus): void;
  /** `send` returned false earlier, and there is room again. */
  onDrain?(): void;
}

/** Common to both ends of a stream. */
export interface RpcStream {
  /**
   * Takes one message for sending. Returns false when the stream's buffer is above its mark: the
   * message is still taken, but the sender must wait for `onDrain` before it sends more. Ignored
   * after the end. The buffers must not be changed afterwards.
   */
  send(message: OutgoingMessage): boolean;
  /** Bytes taken and not yet handed to the operating system. */
  readonly bufferedBytes: number;
  /**
   * Stops reading: the peer is slowed down by flow control. At most what is already in flight
   * arrives after it.
   */
  pause(): void;
  resume(): void;
}

export interface ClientStream extends RpcStream {
  /** No more messages from this side. */
  halfClose(): void;
  /** Ends the stream at once; the peer sees CANCEL. `onEnd` is called with CANCELLED. */
  cancel(): void;
}

export interface ServerStream extends RpcStream {
  /** Ends the stream; queued messages go first. */
  end(status: RpcStatus): void;
  readonly peer: PeerIdentity;
}

/** Who is at the other end of a connection. */
export interface PeerIdentity {
  /** `host:port` as seen by the socket. */
  readonly remoteAddress: string;
  /**
   * Subject common name and alternative names of the verified client certificate; empty without
   * mutual TLS.
   */
  readonly certificateNames: readonly string[];
}

export interface CallOptions {
  /** The call fails with DEADLINE_EXCEEDED after so many milliseconds; sent as `grpc-timeout`. */
  readonly timeoutMs?: number;
  readonly metadata?: Metadata;
}

/** Ends a unary call early; its callback gets CANCELLED. */
export interface PendingCall {
  cancel(): void;
}

export type ChannelState = 'idle' | 'connecting' | 'ready' | 'backoff' | 'closed';

/** A connection to one address; connects on first use, reconnects with back-off. */
export interface RpcChannel {
  readonly target: string;
  readonly state: ChannelState;
  /**
   * Opens a bidirectional stream. While connecting, messages are held (bounded by the stream's own
   * mark).
   */
  openStream(path: string, listener: StreamListener, options?: CallOptions): ClientStream;
  /**
   * Calls a unary method. `callback` is called exactly once; `reply` is defined iff status is OK.
   */
  call(
    path: string,
    request: OutgoingMessage,
    options: CallOptions,
    callback: (status: RpcStatus, reply: Uint8Array | undefined) => void,
  ): PendingCall;
  /** Forgets the back-off: the next use connects at once. */
  resetBackoff(): void;
  /**
   * New calls fail; open ones may finish for `graceMs`, then are cut. `done` is called when the
   * socket is gone.
   */
  close(graceMs: number, done?: () => void): void;
}

/** Handles one incoming bidirectional stream: gets the stream, gives its listener. */
export type StreamHandler = (stream: ServerStream) => StreamListener;

/** A unary call at the server: answer exactly once by `reply` or `fail`. */
export interface ServerCall {
  readonly request: Uint8Array;
  readonly peer: PeerIdentity;
  /** Milliseconds until the caller's deadline at arrival, or undefined. */
  readonly timeoutMs: number | undefined;
  reply(message: OutgoingMessage): void;
  fail(status: RpcStatus): void;
  /** Calls `listener` when the caller gave up (cancel, deadline, lost connection). */
  onCancel(listener: () => void): void;
}
export type UnaryHandler = (call: ServerCall) => void;

export interface ServiceDefinition {
  /** Full path (`/package.Service/method`) to handler. */
  readonly streams?: Readonly<Record<string, StreamHandler>>;
  readonly unary?: Readonly<Record<string, UnaryHandler>>;
}

export interface RpcServer {
  addService(service: ServiceDefinition): void;
  /**
   * Starts to accept. Rejects with an error that names address and reason (in use, no permission).
   */
  listen(): Promise<void>;
  /** `host:port` that is bound; the port is the real one. Only after `listen`. */
  readonly address: { readonly host: string; readonly port: number };
  /**
   * Refuses new connections and streams (GOAWAY); open ones may finish for `graceMs`, then are cut.
   */
  close(graceMs: number): Promise<void>;
}

/** Bytes of PEM files, or in-memory PEM text. */
export type PemSource = string | Uint8Array;

/** One TLS slot (spec: wire-grpc 9). */
export interface TlsOptions {
  /** Certificates that the other end must be signed by. */
  readonly trustCertificates?: PemSource;
  readonly certificateChain?: PemSource;
  readonly privateKey?: PemSource;
  /** Server: demand a client certificate. Client: present ours. */
  readonly mutual: boolean;
}

/** Limits and windows shared by the channels and servers of one transport (spec: wire-grpc 3.1). */
export interface TransportLimits {
  /**
   * Largest message taken from a peer, bytes; a larger one ends the stream with RESOURCE_EXHAUSTED.
   */
  readonly maxInboundMessageBytes: number;
  /**
   * Largest message sent, bytes; a larger one fails locally with RESOURCE_EXHAUSTED before anything
   * is sent.
   */
  readonly maxOutboundMessageBytes: number;
  /** HTTP/2 window of each stream and of the connection, bytes. */
  readonly flowControlWindowBytes: number;
  /** Mark above which `send` returns false, bytes a stream. */
  readonly sendBufferBytes: number;
  /** Largest header list accepted, bytes (HTTP/2 accounting). */
  readonly maxHeaderListBytes: number;
  /**
   * Client: ping after so long without input while calls are open; 0 is off. Server: ping after so
   * long without input, calls or not; 0 is a minute (a dead peer must not be kept for ever).
   */
  readonly keepaliveTimeMs: number;
  /** The connection is dropped when a ping is not answered for so long. */
  readonly keepaliveTimeoutMs: number;
  /** First and largest pause between connection attempts. */
  readonly reconnectBackoffMinMs: number;
  readonly reconnectBackoffMaxMs: number;
  /** A connection attempt (TCP, TLS, SETTINGS) is given up after so long. */
  readonly connectTimeoutMs: number;
}

export interface ServerOptions {
  readonly host: string | undefined;
  /** 0 picks a free port. */
  readonly port: number;
  readonly tls: TlsOptions | undefined;
  readonly limits: TransportLimits;
}

export interface ChannelOptions {
  readonly tls: TlsOptions | undefined;
  readonly limits: TransportLimits;
}

/** Makes channels and servers: `rpc/grpc`, `rpc/memory`, or the simulator's network. */
export interface RpcTransport {
  createChannel(target: string, options: ChannelOptions): RpcChannel;
  createServer(options: ServerOptions): RpcServer;
}
