import { toError } from '../../../common/errors.js';
import { clientRequestFromWire } from '../../../proto/convert/index.js';
import { decodeClientRequest } from '../../../proto/wire/index.js';
import type { RaftClientReply, RaftClientRequest } from '../../../protocol/requests.js';
import { OK_STATUS, type ServerStream, type StreamListener } from '../../transport.js';
import type { RaftServerHandler, ReplySink } from './handler.js';
import { ReadRoom } from './read-room.js';
import type { ReplyEncoder } from './reply-encoder.js';
import { statusOfError } from './status.js';

/** Replies leave as they come; an error of one request ends the stream (spec: wire-grpc 5.5). */
export class UnorderedStream implements StreamListener {
  readonly #stream: ServerStream;
  readonly #handler: RaftServerHandler;
  readonly #encoder: ReplyEncoder;
  readonly #room = new ReadRoom();
  /** Requests that wait for room, oldest first; the stream is paused meanwhile. */
  #waiting: RaftClientRequest[] = [];
  #submitting = false;
  #paused = false;
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
    try {
      this.#waiting.push(clientRequestFromWire(decodeClientRequest(message)));
    } catch (error) {
      this.#fail(toError(error));
      return;
    }
    this.#submitWaiting();
  }

  onHalfClose(): void {
    this.#halfClosed = true;
    this.#finishIfDone();
  }

  onDrain(): void {
    this.#room.isFull = false;
    this.#submitWaiting();
  }

  onEnd(): void {
    this.#isOver = true;
    this.#waiting = [];
  }

  #submitWaiting(): void {
    // A reply may come while its request is submitted.
    if (this.#submitting) return;
    this.#submitting = true;
    let at = 0;
    for (; at < this.#waiting.length && !this.#isOver; at++) {
      const request = this.#waiting[at];
      if (request === undefined || !this.#room.admits(request)) break;
      this.#submit(request);
    }
    this.#waiting.splice(0, at);
    this.#submitting = false;
    if (this.#isOver) return;
    this.#pauseOrResume();
    this.#finishIfDone();
  }

  #submit(request: RaftClientRequest): void {
    this.#outstanding++;
    this.#room.enter(request);
    const sink: ReplySink = {
      onReply: (reply) => this.#onReply(request, reply),
      onFailure: (error) => this.#fail(error),
    };
    this.#handler.submitClientRequest(request, sink);
  }

  #onReply(request: RaftClientRequest, reply: RaftClientReply): void {
    this.#outstanding--;
    this.#room.leave(request);
    if (this.#isOver) return;
    if (!this.#stream.send(this.#encoder.encode(reply))) this.#room.isFull = true;
    this.#submitWaiting();
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.onEnd();
    this.#stream.end(statusOfError(error));
  }

  #pauseOrResume(): void {
    const pauses = this.#waiting.length > 0 || this.#room.isFull;
    if (pauses === this.#paused) return;
    this.#paused = pauses;
    if (pauses) this.#stream.pause();
    else this.#stream.resume();
  }

  #finishIfDone(): void {
    const open = this.#outstanding + this.#waiting.length;
    if (!this.#halfClosed || open > 0 || this.#isOver || this.#submitting) return;
    this.#isOver = true;
    this.#stream.end(OK_STATUS);
  }
}
