import { ResourceUnavailableException, StreamException } from '../protocol/exceptions.js';
import { type RaftClientRequest, ReplicationLevel } from '../protocol/requests.js';

/** What a part costs beside its bytes, so that empty ones are bounded, too. */
const PART_OVERHEAD_BYTES = 128;

export interface MessageStreamLimits {
  /** Bounds what all unfinished streams hold, bytes. */
  readonly byteLimit: number;
  /** A stream that got no part for so long may be dropped when room is needed, milliseconds. */
  readonly idleMs: number;
}

interface Parts {
  touchedMs: number;
  nextId: number;
  readonly parts: Uint8Array[];
  bytes: number;
}

/** A client's large write that comes in parts (spec: consensus 7.6). Lost with the office. */
export class MessageStreams {
  readonly #streams = new Map<string, Parts>();
  readonly #limits: MessageStreamLimits;
  readonly #nowMs: () => number;
  #bytes = 0;

  constructor(limits: MessageStreamLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /**
   * Takes a part. Returns the whole write after the last one, else undefined. Throws
   * StreamException when the part is not the next one, and ResourceUnavailableException above the
   * limit.
   */
  add(request: RaftClientRequest): RaftClientRequest | undefined {
    const { type } = request;
    if (type.kind !== 'messageStream') throw new StreamException('not a message stream request');
    const key = `${request.clientId.uuid}:${type.streamId}`;
    const known = this.#streams.get(key);
    if (known === undefined && type.endOfRequest) {
      throw new StreamException(`stream ${type.streamId} of ${request.clientId} is unknown`);
    }
    const messageId = Number(type.messageId);
    const stream = known ?? { touchedMs: 0, nextId: messageId, parts: [], bytes: 0 };
    if (messageId !== stream.nextId) {
      throw new StreamException(
        `stream ${type.streamId} of ${request.clientId}: part ${messageId} is not ${stream.nextId}`,
      );
    }
    const bytes = request.message.length + PART_OVERHEAD_BYTES;
    stream.touchedMs = this.#nowMs();
    if (this.#bytes + bytes > this.#limits.byteLimit) this.#dropIdle();
    if (this.#bytes + bytes > this.#limits.byteLimit) {
      throw new ResourceUnavailableException('too many bytes in unfinished message streams');
    }
    if (type.endOfRequest) {
      this.#streams.delete(key);
      this.#bytes -= stream.bytes;
      return wholeWrite(request, [...stream.parts, request.message]);
    }
    stream.nextId++;
    stream.parts.push(request.message);
    stream.bytes += bytes;
    this.#bytes += bytes;
    this.#streams.set(key, stream);
    return undefined;
  }

  /** A client that died in the middle must not take the room of others for ever. */
  #dropIdle(): void {
    const beforeMs = this.#nowMs() - this.#limits.idleMs;
    for (const [key, stream] of this.#streams) {
      if (stream.touchedMs > beforeMs) continue;
      this.#streams.delete(key);
      this.#bytes -= stream.bytes;
    }
  }

  clear(): void {
    this.#streams.clear();
    this.#bytes = 0;
  }
}

function wholeWrite(last: RaftClientRequest, parts: readonly Uint8Array[]): RaftClientRequest {
  const message = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    message.set(part, at);
    at += part.length;
  }
  return { ...last, message, type: { kind: 'write', replication: ReplicationLevel.MAJORITY } };
}
