import { toError } from '../../../common/errors.js';
import { clientRequestFromWire } from '../../../proto/convert/index.js';
import { decodeClientRequest } from '../../../proto/wire/index.js';
import {
  AlreadyClosedException,
  GroupMismatchException,
  IllegalArgumentException,
  ResourceUnavailableException,
} from '../../../protocol/exceptions.js';
import type { RaftGroupId } from '../../../protocol/ids.js';
import type { RaftClientReply, RaftClientRequest } from '../../../protocol/requests.js';
import { OK_STATUS, type ServerStream, type StreamListener } from '../../transport.js';
import type { RaftServerHandler, ReplySink } from './handler.js';
import type { ReplyEncoder } from './reply-encoder.js';
import { statusOfError } from './status.js';

/**
 * Requests that one stream may hold: beyond it the client does not keep the rules of the window.
 */
const HELD_MAX = 65_536;

/** One request of the window, and later its reply. */
class Slot implements ReplySink {
  readonly seqNum: number;
  readonly request: RaftClientRequest;
  reply: RaftClientReply | undefined;
  readonly #stream: OrderedStream;

  constructor(stream: OrderedStream, seqNum: number, request: RaftClientRequest) {
    this.#stream = stream;
    this.seqNum = seqNum;
    this.request = request;
  }

  onReply(reply: RaftClientReply): void {
    this.reply = reply;
    this.#stream.replied();
  }

  onFailure(error: Error): void {
    this.#stream.fail(error);
  }
}

/**
 * The server side of an ordered client stream (spec: wire-grpc 5.3): requests are carried out in
 * the order of their sequence numbers, and their replies leave in that order, although they may
 * overlap.
 */
export class OrderedStream implements StreamListener {
  readonly #stream: ServerStream;
  readonly #handler: RaftServerHandler;
  readonly #encoder: ReplyEncoder;
  readonly #ended: (stream: OrderedStream) => void;
  /** Held requests by ascending sequence number. */
  readonly #slots: Slot[] = [];
  #groupId: RaftGroupId | undefined;
  #next: number | undefined;
  #halfClosed = false;
  #isOver = false;

  constructor(
    stream: ServerStream,
    handler: RaftServerHandler,
    encoder: ReplyEncoder,
    ended: (stream: OrderedStream) => void,
  ) {
    this.#stream = stream;
    this.#handler = handler;
    this.#encoder = encoder;
    this.#ended = ended;
  }

  /** Group of the first request; undefined before. */
  get groupId(): RaftGroupId | undefined {
    return this.#groupId;
  }

  onMessage(message: Uint8Array): void {
    if (this.#isOver) return;
    try {
      this.#take(clientRequestFromWire(decodeClientRequest(message)));
    } catch (error) {
      this.fail(toError(error));
    }
  }

  onHalfClose(): void {
    if (this.#isOver) return;
    this.#halfClosed = true;
    const from = this.#next ?? Number.NEGATIVE_INFINITY;
    const unprocessed = this.#slots.filter((slot) => slot.seqNum >= from);
    this.#slots.length -= unprocessed.length;
    for (const slot of unprocessed) this.#send(this.#closedReply(slot.request));
    this.#finishIfDone();
  }

  onDrain(): void {
    this.#stream.resume();
  }

  /** The client is gone. */
  onEnd(): void {
    this.#over();
  }

  /** The leader lost its office: the client goes on elsewhere. */
  complete(): void {
    if (this.#isOver) return;
    this.#over();
    this.#stream.end(OK_STATUS);
  }

  /**
   * A request failed in a way that no reply can tell: the stream ends, what was submitted goes on.
   */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.#over();
    this.#stream.end(statusOfError(error));
  }

  /** Sends the replies that are due. */
  replied(): void {
    if (this.#isOver) return;
    let sent = 0;
    for (; sent < this.#slots.length; sent++) {
      const reply = this.#slots[sent]?.reply;
      if (reply === undefined) break;
      this.#send(reply);
    }
    if (sent > 0) this.#slots.splice(0, sent);
    this.#finishIfDone();
  }

  #take(request: RaftClientRequest): void {
    const window = request.slidingWindowEntry;
    if (window === undefined) {
      throw new IllegalArgumentException('an ordered request needs a slidingWindowEntry');
    }
    this.#groupId ??= request.groupId;
    if (!this.#groupId.equals(request.groupId)) {
      const text = `the request is for ${request.groupId}, but the stream for ${this.#groupId}`;
      throw new GroupMismatchException(text);
    }
    if (this.#slots.length >= HELD_MAX) {
      throw new ResourceUnavailableException('too many requests wait in one ordered stream');
    }
    const { seqNum, isFirst } = window;
    if (this.#next === undefined && (isFirst || seqNum === 0)) this.#next = seqNum;
    if (this.#insert(seqNum, request)) this.#process();
  }

  /** False when a request of that number is held: a retry in flight. */
  #insert(seqNum: number, request: RaftClientRequest): boolean {
    let at = this.#slots.length;
    while (at > 0 && (this.#slots[at - 1]?.seqNum ?? 0) >= seqNum) {
      at--;
      if (this.#slots[at]?.seqNum === seqNum) return false;
    }
    const slot = new Slot(this, seqNum, request);
    if (at === this.#slots.length) this.#slots.push(slot);
    else this.#slots.splice(at, 0, slot);
    return true;
  }

  #process(): void {
    while (this.#next !== undefined && !this.#isOver) {
      const slot = this.#find(this.#next);
      if (slot === undefined) return;
      this.#next++;
      this.#handler.submitClientRequest(slot.request, slot);
    }
  }

  #find(seqNum: number): Slot | undefined {
    for (let i = this.#slots.length - 1; i >= 0; i--) {
      const slot = this.#slots[i];
      if (slot === undefined || slot.seqNum < seqNum) return undefined;
      if (slot.seqNum === seqNum) return slot;
    }
    return undefined;
  }

  #send(reply: RaftClientReply): void {
    if (!this.#stream.send(this.#encoder.encode(reply))) this.#stream.pause();
  }

  #closedReply(request: RaftClientRequest): RaftClientReply {
    return {
      clientId: request.clientId,
      serverId: request.serverId,
      groupId: request.groupId,
      callId: request.callId,
      success: false,
      message: undefined,
      exception: new AlreadyClosedException(`${this.#handler.id}: the ordered stream is closed`),
      logIndex: 0,
      commitInfos: [],
    };
  }

  #finishIfDone(): void {
    if (!this.#halfClosed || this.#slots.length > 0 || this.#isOver) return;
    this.#over();
    this.#stream.end(OK_STATUS);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#slots.length = 0;
    this.#ended(this);
  }
}
