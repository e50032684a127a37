import {
  type ClientStream,
  OK_STATUS,
  type PendingCall,
  type RpcStatus,
  StatusCode,
  type StreamListener,
} from '../transport.js';
import { localStatus } from './status.js';

type CallCallback = (status: RpcStatus, reply: Uint8Array | undefined) => void;

/** A unary call as the listener of a stream: exactly one message and OK, or a status that is not OK. */
export class ClientCall implements StreamListener, PendingCall {
  readonly #callback: CallCallback;
  #stream: ClientStream | undefined;
  #reply: Uint8Array | undefined;
  #replies = 0;

  constructor(callback: CallCallback) {
    this.#callback = callback;
  }

  attach(stream: ClientStream): void {
    this.#stream = stream;
  }

  onMessage(message: Uint8Array): void {
    this.#replies++;
    this.#reply = message;
  }

  onEnd(status: RpcStatus): void {
    if (status.code !== StatusCode.OK) this.#callback(status, undefined);
    else if (this.#replies === 1) this.#callback(status ?? OK_STATUS, this.#reply);
    else {
      const text = `peer sent ${this.#replies} replies to a unary call`;
      this.#callback(localStatus(StatusCode.INTERNAL, text), undefined);
    }
  }

  cancel(): void {
    this.#stream?.cancel();
  }
}
