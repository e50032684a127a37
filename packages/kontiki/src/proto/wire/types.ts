import type { CallId } from '../../protocol/ids.js';

/**
 * The hot messages as the hand codec gives and takes them: flat, one object a message, byte fields
 * as views on the frame (the caller copies what it keeps). 64-bit fields are numbers while they are
 * safe integers and bigints beyond, read as signed (spec: wire-grpc 2.1); terms and indices that
 * are not safe integers make the decoder throw NumberOutOfRangeException, call ids pass as they
 * are. Names are those of the protobuf fields (spec: wire-grpc 1.4), flattened.
 */

export const EntryKind = { NONE: 0, STATE_MACHINE: 1, CONFIGURATION: 2, METADATA: 3 } as const;
export type EntryKind = (typeof EntryKind)[keyof typeof EntryKind];

/** One log entry in the forms that file and wire need (design: section 3; spec: storage 8). */
export interface LogEntry {
  readonly term: number;
  readonly index: number;
  readonly kind: EntryKind;
  /**
   * Canonical bytes as the log file holds them: state machine data replaced by the full entry's
   * size.
   */
  readonly stored: Uint8Array;
  /** The state machine data when the entry has some and it is at hand. */
  readonly data: Uint8Array | undefined;
  /** True when the entry has state machine data, at hand or not. */
  readonly hasData: boolean;
  /** Bytes of the full entry on the wire, state machine data included. */
  readonly fullSizeBytes: number;
}

/** Body of a state machine entry, by `stateMachineBodyOf`. */
export interface StateMachineBody {
  readonly logData: Uint8Array;
  /** 0 WRITE, 1 DATASTREAM. */
  readonly type: 0 | 1;
  readonly clientId: Uint8Array;
  readonly callId: CallId;
}

/** RaftClientRequestProto.Type as the number of its oneof field; 0 when absent. */
export const ClientRequestCase = {
  NOT_SET: 0,
  WRITE: 3,
  READ: 4,
  STALE_READ: 5,
  WATCH: 6,
  MESSAGE_STREAM: 7,
  DATA_STREAM: 8,
  FORWARD: 9,
} as const;
export type ClientRequestCase = (typeof ClientRequestCase)[keyof typeof ClientRequestCase];

/** RaftClientRequestProto. */
export interface ClientRequestMessage {
  requestorId: Uint8Array;
  /** UTF-8 text. */
  replyId: string;
  raftGroupId: Uint8Array;
  callId: CallId;
  toLeader: boolean;
  /** Serialized SpanContextProto / RoutingTableProto, or undefined. */
  spanContext: Uint8Array | undefined;
  routingTable: Uint8Array | undefined;
  repliedCallIds: readonly CallId[];
  timeoutMs: CallId;
  /** SlidingWindowEntry; seqNum is undefined when the field is absent. */
  seqNum: CallId | undefined;
  isFirst: boolean;
  /** ClientMessageEntryProto.content; undefined when `message` is absent. */
  content: Uint8Array | undefined;
  type: ClientRequestCase;
  /** write.replication, watch.replication. */
  replication: number;
  /** read. */
  preferNonLinearizable: boolean;
  readAfterWriteConsistent: boolean;
  dummy: boolean;
  /** staleRead.minIndex, watch.index. */
  index: CallId;
  /** messageStream. */
  streamId: CallId;
  messageId: CallId;
  endOfRequest: boolean;
}

/** CommitInfoProto; `server` stays serialized, because it repeats in every message. */
export interface CommitInfoMessage {
  /** Serialized RaftPeerProto. */
  server: Uint8Array;
  commitIndex: number;
}

/** RaftClientReplyProto. */
export interface ClientReplyMessage {
  requestorId: Uint8Array;
  replyId: string;
  raftGroupId: Uint8Array;
  callId: CallId;
  success: boolean;
  content: Uint8Array | undefined;
  /**
   * Field number of the oneof ExceptionDetails (3 to 12), 0 when absent, and its serialized
   * message.
   */
  exceptionCase: number;
  exception: Uint8Array | undefined;
  logIndex: CallId;
  commitInfos: readonly CommitInfoMessage[];
}

/** AppendEntriesRequestProto. Also the header that the encoder takes, without entries. */
export interface AppendEntriesRequestHeader {
  /** UTF-8 peer ids. */
  requestorId: string;
  replyId: string;
  raftGroupId: Uint8Array;
  callId: CallId;
  leaderTerm: number;
  /** Undefined when previousLog is absent. */
  previousTerm: number | undefined;
  previousIndex: number | undefined;
  leaderCommit: number;
  initializing: boolean;
  commitInfos: readonly CommitInfoMessage[];
  spanContext: Uint8Array | undefined;
}

export interface AppendEntriesRequestMessage extends AppendEntriesRequestHeader {
  entries: LogEntry[];
}

export const AppendResult = { SUCCESS: 0, NOT_LEADER: 1, INCONSISTENCY: 2 } as const;
export type AppendResult = (typeof AppendResult)[keyof typeof AppendResult];

/** AppendEntriesReplyProto. `result` may hold an unknown value from a peer. */
export interface AppendEntriesReplyMessage {
  requestorId: string;
  replyId: string;
  raftGroupId: Uint8Array;
  callId: CallId;
  success: boolean;
  term: number;
  nextIndex: number;
  result: number;
  followerCommit: number;
  matchIndex: number;
  /** isHearbeat (sic). */
  isHeartbeat: boolean;
}
