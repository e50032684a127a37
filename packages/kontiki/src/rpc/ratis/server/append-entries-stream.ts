import { toError } from '../../../common/errors.js';
import { decodeAppendEntriesRequest, encodeAppendEntriesReply } from '../../../proto/wire/index.js';
import type {
  AppendEntriesReplyMessage,
  AppendEntriesRequestMessage,
} from '../../../proto/wire/types.js';
import { IllegalStateException } from '../../../protocol/exceptions.js';
import { RaftGroupId } from '../../../protocol/ids.js';
import { OK_STATUS, type ServerStream, type StreamListener } from '../../transport.js';
import type { AppendSink, RaftServerHandler } from './handler.js';
import { statusOfError } from './status.js';

/** One append request, and later its reply. */
class Slot implements AppendSink {
  readonly isHeartbeat: boolean;
  reply: AppendEntriesReplyMessage | undefined;
  readonly #request: AppendEntriesRequestMessage;
  readonly #stream: AppendEntriesStream;

  constructor(stream: AppendEntriesStream, request: AppendEntriesRequestMessage) {
    this.#stream = stream;
    this.#request = request;
    this.isHeartbeat = request.entries.length === 0;
  }

  onReply(reply: AppendEntriesReplyMessage): void {
    this.reply = reply;
    this.#stream.replied(this);
  }

  onFailure(error: Error): void {
    this.#stream.fail(error, this.#request.callId, this.isHeartbeat);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }
}

/**
 * The follower's side of an append stream (spec: wire-grpc 7.3.1): replies to requests with entries
 * leave in order of arrival, those to heartbeats as soon as they are there.
 */
export class AppendEntriesStream implements StreamListener {
  readonly #stream: ServerStream;
  readonly #handler: RaftServerHandler;
  /** Requests with entries that are not answered. */
  readonly #slots: Slot[] = [];
  #heartbeats = 0;
  #groupId: RaftGroupId | undefined;
  #halfClosed = false;
  #isOver = false;

  constructor(stream: ServerStream, handler: RaftServerHandler) {
    this.#stream = stream;
    this.#handler = handler;
  }

  onMessage(message: Uint8Array): void {
    if (this.#isOver) return;
    let request: AppendEntriesRequestMessage;
    let groupId: RaftGroupId;
    try {
      request = decodeAppendEntriesRequest(message);
      if (request.requestorId === '') throw new IllegalStateException('requestorId is empty');
      groupId = this.#groupOf(request.raftGroupId);
    } catch (error) {
      this.#end(toError(error));
      return;
    }
    const slot = new Slot(this, request);
    if (slot.isHeartbeat) this.#heartbeats++;
    else this.#slots.push(slot);
    this.#handler.appendEntries(groupId, request, slot);
  }

  onHalfClose(): void {
    this.#halfClosed = true;
    this.#finishIfDone();
  }

  onEnd(): void {
    this.#isOver = true;
    this.#slots.length = 0;
  }

  replied(slot: Slot): void {
    if (this.#isOver) return;
    if (slot.isHeartbeat) {
      this.#heartbeats--;
      this.#send(slot);
    } else {
      let sent = 0;
      for (; this.#slots[sent]?.reply !== undefined; sent++) this.#send(this.#slots[sent]);
      if (sent > 0) this.#slots.splice(0, sent);
    }
    this.#finishIfDone();
  }

  /** Ends the stream once, naming the request (spec: wire-grpc 4.1). */
  fail(error: Error, callId: number | bigint, heartbeat: boolean): void {
    if (this.#isOver) return;
    this.onEnd();
    this.#stream.end(statusOfError(error, { callId, heartbeat }));
  }

  pause(): void {
    if (!this.#isOver) this.#stream.pause();
  }

  resume(): void {
    if (!this.#isOver) this.#stream.resume();
  }

  #end(error: Error): void {
    this.onEnd();
    this.#stream.end(statusOfError(error));
  }

  #send(slot: Slot | undefined): void {
    if (slot?.reply !== undefined) this.#stream.send(encodeAppendEntriesReply(slot.reply));
  }

  #groupOf(bytes: Uint8Array): RaftGroupId {
    const known = this.#groupId;
    if (known?.bytes.every((byte, i) => byte === bytes[i]) && bytes.length === 16) return known;
    this.#groupId = RaftGroupId.of(bytes);
    return this.#groupId;
  }

  #finishIfDone(): void {
    const open = this.#slots.length + this.#heartbeats;
    if (!this.#halfClosed || open > 0 || this.#isOver) return;
    this.onEnd();
    this.#stream.end(OK_STATUS);
  }
}
