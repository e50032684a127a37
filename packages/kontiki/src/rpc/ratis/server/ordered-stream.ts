import { toError } from '../../../common/errors.js';
import { clientRequestFromWire } from '../../../proto/convert/index.js';
import { decodeClientRequest } from '../../../proto/wire/index.js';
import {
  AlreadyClosedException,
  GroupMismatchException,
  IllegalArgumentException,
  LeaderNotReadyException,
  NotLeaderException,
  ResourceUnavailableException,
} from '../../../protocol/exceptions.js';
import type { RaftGroupId } from '../../../protocol/ids.js';
import type { RaftClientReply, RaftClientRequest } from '../../../protocol/requests.js';
import { OK_STATUS, type ServerStream, type StreamListener } from '../../transport.js';
import type { RaftServerHandler, ReplySink } from './handler.js';
import { ReadRoom } from './read-room.js';
import type { ReplyEncoder } from './reply-encoder.js';
import { statusOfError } from './status.js';

/**
 * Requests that one stream may hold: beyond it the client does not keep the rules of the window.
 */
const HELD_MAX = 65_536;
/** Bytes of requests that wait for one before them: room for a few of the largest messages. */
const WAITING_MAX_BYTES = 256 * 1024 * 1024;

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

  get isAbandoned(): boolean {
    return this.#stream.isRefusing;
  }

  onReply(reply: RaftClientReply): void {
    this.reply = reply;
    this.#stream.replied(reply);
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
  readonly #room = new ReadRoom();
  #processing = false;
  #paused = false;
  #groupId: RaftGroupId | undefined;
  #next: number | undefined;
  /** Bytes of the requests that are held and were not submitted. */
  #waitingBytes = 0;
  #halfClosed = false;
  /** A request was sent back to be tried again: nothing behind it may be carried out. */
  #isRefusing = false;
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

  /** What was submitted and is not carried out yet must not be any more. */
  get isRefusing(): boolean {
    return this.#isRefusing;
  }

  /** Group of the first request; undefined before. */
  get groupId(): RaftGroupId | undefined {
    return this.#groupId;
  }

  onMessage(message: Uint8Array): void {
    if (this.#isOver || this.#isRefusing) return;
    try {
      this.#take(clientRequestFromWire(decodeClientRequest(message)));
    } catch (error) {
      this.fail(toError(error));
    }
  }

  onHalfClose(): void {
    if (this.#isOver) return;
    this.#halfClosed = true;
    let from = this.#next ?? Number.NEGATIVE_INFINITY;
    // What waits for room is still carried out.
    while (this.#find(from) !== undefined) from++;
    const unprocessed = this.#slots.filter((slot) => slot.seqNum >= from);
    this.#slots.length -= unprocessed.length;
    for (const slot of unprocessed) this.#send(this.#closedReply(slot.request));
    this.#finishIfDone();
  }

  onDrain(): void {
    this.#room.isFull = false;
    if (!this.#isOver) this.#process();
  }

  /** The client is gone. */
  onEnd(): void {
    this.#over();
  }

  /** The leader lost its office: the client goes on elsewhere. */
  complete(): void {
    if (this.#isOver) return;
    this.#isRefusing = true;
    this.#over();
    this.#stream.end(OK_STATUS);
  }

  /**
   * A request failed in a way that no reply can tell: the stream ends, what is in the log goes on.
   */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isRefusing = true;
    this.#over();
    this.#stream.end(statusOfError(error));
  }

  /** Sends the replies that are due. */
  replied(newest: RaftClientReply): void {
    if (this.#isOver) return;
    const { exception } = newest;
    if (exception instanceof NotLeaderException || exception instanceof LeaderNotReadyException) {
      this.#refuseRest();
    }
    let sent = 0;
    for (; sent < this.#slots.length; sent++) {
      const slot = this.#slots[sent];
      if (slot?.reply === undefined) break;
      this.#send(slot.reply);
      this.#room.leave(slot.request);
    }
    if (sent > 0) this.#slots.splice(0, sent);
    this.#process();
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
    const waitingBytes = this.#waitingBytes + request.message.length;
    if (this.#slots.length >= HELD_MAX || waitingBytes > WAITING_MAX_BYTES) {
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
    this.#waitingBytes += request.message.length;
    return true;
  }

  #process(): void {
    // A reply may come while its request is submitted.
    if (this.#processing) return;
    this.#processing = true;
    const hasRoom = this.#submitHeld();
    this.#processing = false;
    if (this.#isOver) return;
    if (!hasRoom || this.#room.isFull) this.#pause();
    else if (this.#paused) {
      this.#paused = false;
      this.#stream.resume();
    }
  }

  /** Submits what is due; false when the next one has to wait for room. */
  #submitHeld(): boolean {
    while (this.#next !== undefined && !this.#isOver && !this.#isRefusing) {
      const slot = this.#find(this.#next);
      if (slot === undefined) return true;
      if (!this.#room.admits(slot.request)) return false;
      this.#next++;
      this.#waitingBytes -= slot.request.message.length;
      this.#room.enter(slot.request);
      this.#handler.submitClientRequest(slot.request, slot);
    }
    return true;
  }

  #pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#stream.pause();
  }

  /**
   * The client tries the refused request again on another stream, and all that came after it. Were
   * one of those carried out here, because this server became a ready leader meanwhile, it would
   * overtake; so the stream takes nothing more, and is completed after the replies that are due, as
   * at the loss of the leadership.
   */
  #refuseRest(): void {
    if (this.#isRefusing) return;
    this.#isRefusing = true;
    const from = this.#next ?? Number.NEGATIVE_INFINITY;
    const submitted = this.#slots.findIndex((slot) => slot.seqNum >= from);
    if (submitted >= 0) this.#slots.length = submitted;
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
    if (this.#stream.send(this.#encoder.encode(reply))) return;
    this.#room.isFull = true;
    this.#pause();
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
    if (this.#slots.length > 0 || this.#isOver) return;
    if (!this.#halfClosed && !this.#isRefusing) return;
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
