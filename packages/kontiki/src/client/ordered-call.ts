import type { RaftClientReply, RequestType } from '../protocol/requests.js';
import type { RequestBody } from '../rpc/ratis/client/request-encoder.js';
import type { Attempts } from './retry.js';
import { Settler } from './settler.js';

/**
 * One request on its way through a sliding window. Its call id and replied call ids are set when it
 * gets its permit.
 */
export class OrderedCall extends Settler<RaftClientReply> implements RequestBody {
  readonly type: RequestType;
  readonly content: Uint8Array | undefined;
  readonly toLeader: boolean;
  /** The client's own first request, whose outcome nobody waits for (spec: client 9). */
  readonly isDummy: boolean;
  callId = 0;
  repliedCallIds: readonly number[] = [];
  seqNum = 0;
  /** Sent with the mark of a first request: every later attempt keeps it (spec: wire-grpc 5.4). */
  isFirst = false;
  /** When the current attempt was sent, monotonic. */
  sentMs = 0;
  attempts: Attempts | undefined;

  constructor(
    type: RequestType,
    content: Uint8Array | undefined,
    toLeader: boolean,
    isDummy: boolean,
  ) {
    super();
    this.type = type;
    this.content = content;
    this.toLeader = toLeader;
    this.isDummy = isDummy;
  }
}
