import { toError } from '../../../common/errors.js';
import { clientRequestFromWire } from '../../../proto/convert/index.js';
import { decodeClientRequest } from '../../../proto/wire/index.js';
import type { RaftClientReply, RaftClientRequest } from '../../../protocol/requests.js';
import { OK_STATUS, type ServerStream, type StreamListener } from '../../transport.js';
import type { RaftServerHandler, ReplySink } from './handler.js';
import type { ReplyEncoder } from './reply-encoder.js';
import { statusOfError } from './status.js';

/** Replies leave as they come; an error of one request ends the stream (spec: wire-grpc 5.5). */
export class UnorderedStream implements StreamListener, ReplySink {
  readonly #stream: ServerStream;
  readonly #handler: RaftServerHandler;
  readonly #encoder: ReplyEncoder;
  #outstanding = 0;
  #halfClosed = false;
  #isOver = false;

  constructor(stream: ServerStream, handler: RaftServerHandler, encoder: ReplyEncoder) {
    this.#stream = stream;
    this.#handler = handler;
    this.#encoder = encoder;
  }

  onMessage(message: Uint8Array): void {
    if (this.#isOver) return;
    let request: RaftClientRequest;
    try {
      request = clientRequestFromWire(decodeClientRequest(message));
    } catch (error) {
      this.onFailure(toError(error));
      return;
    }
    this.#outstanding++;
    this.#handler.submitClientRequest(request, this);
  }

  onReply(reply: RaftClientReply): void {
    this.#outstanding--;
    if (this.#isOver) return;
    if (!this.#stream.send(this.#encoder.encode(reply))) this.#stream.pause();
    this.#finishIfDone();
  }

  onFailure(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream.end(statusOfError(error));
  }

  onHalfClose(): void {
    this.#halfClosed = true;
    this.#finishIfDone();
  }

  onDrain(): void {
    this.#stream.resume();
  }

  onEnd(): void {
    this.#isOver = true;
  }

  #finishIfDone(): void {
    if (!this.#halfClosed || this.#outstanding > 0 || this.#isOver) return;
    this.#isOver = true;
    this.#stream.end(OK_STATUS);
  }
}
