import { toError } from '../../../common/errors.js';
import { AlreadyClosedException, type RaftException } from '../../../protocol/exceptions.js';
import type { ClientStream, RpcChannel, RpcStatus, StreamListener } from '../../transport.js';
import { StatusCode } from '../../transport.js';
import { failureOf, streamFailure } from './status-error.js';

/** What the user of a request stream is told. After `onFailed` nothing more is called. */
export interface RequestStreamListener {
  /** One reply message, undecoded. */
  onReply(bytes: Uint8Array): void;
  /** The stream is over, whoever ended it; what had no answer may have been carried out. */
  onFailed(error: RaftException): void;
  /** `send` returned false, and there is room again. */
  onDrain?(): void;
}

/** Told by its streams how the peer behaves: for back-off, and to end them together. */
export interface StreamOwner {
  onAlive(): void;
  onStreamOver(stream: RequestStream, status: RpcStatus | undefined): void;
}

/** One `ordered` or `unordered` stream to a server. */
export class RequestStream implements StreamListener {
  readonly #listener: RequestStreamListener;
  readonly #owner: StreamOwner;
  readonly #stream: ClientStream;
  readonly #target: string;
  #over = false;

  constructor(
    channel: RpcChannel,
    path: string,
    owner: StreamOwner,
    listener: RequestStreamListener,
  ) {
    this.#listener = listener;
    this.#owner = owner;
    this.#target = channel.target;
    this.#stream = channel.openStream(path, this);
  }

  get isOver(): boolean {
    return this.#over;
  }

  /** False asks to wait for `onDrain`; the message is taken all the same. */
  send(bytes: Uint8Array): boolean {
    return this.#stream.send(bytes);
  }

  /**
   * Ends the stream from this side; the listener is not told. A stream `inUse` is cut, an idle one
   * says goodbye.
   */
  abandon(inUse: boolean): void {
    if (this.#over) return;
    this.#end(undefined);
    if (inUse) this.#stream.cancel();
    else this.#stream.halfClose();
  }

  /** Ends the stream from this side and tells the listener. */
  fail(error: RaftException): void {
    if (this.#over) return;
    this.#end(undefined);
    this.#stream.cancel();
    this.#listener.onFailed(error);
  }

  onMessage(message: Uint8Array): void {
    if (this.#over) return;
    this.#owner.onAlive();
    try {
      this.#listener.onReply(message);
    } catch (thrown) {
      this.fail(streamFailure(`unusable reply from ${this.#target}`, toError(thrown)));
    }
  }

  onDrain(): void {
    if (!this.#over) this.#listener.onDrain?.();
  }

  onEnd(status: RpcStatus): void {
    if (this.#over) return;
    this.#end(status);
    const error =
      status.code === StatusCode.OK
        ? new AlreadyClosedException(`stream to ${this.#target} was completed by the server`)
        : failureOf(status, this.#target);
    this.#listener.onFailed(error);
  }

  #end(status: RpcStatus | undefined): void {
    this.#over = true;
    this.#owner.onStreamOver(this, status);
  }
}
