import { KontikiError } from '../common/errors.js';
import type { CallId, RaftPeerId } from './ids.js';
import { peerText, type RaftPeer } from './peer.js';
import type { CommitInfo, ReplicationLevel } from './requests.js';

/**
 * Base of the exceptions that Ratis knows (spec: client 14). `javaClass` is the name that travels
 * on the wire.
 */
export abstract class RaftException extends KontikiError {
  abstract readonly javaClass: string;
}

const PACKAGE = 'org.apache.ratis.protocol.exceptions';

/** The server is not the leader (spec: client 14). */
export class NotLeaderException extends RaftException {
  readonly code = 'RAFT_NOT_LEADER';
  readonly javaClass = `${PACKAGE}.NotLeaderException`;
  readonly suggestedLeader: RaftPeer | undefined;
  readonly peers: readonly RaftPeer[];

  constructor(memberId: string, suggestedLeader: RaftPeer | undefined, peers: readonly RaftPeer[]) {
    const suggestion =
      suggestedLeader === undefined ? '' : `, suggested leader is: ${peerText(suggestedLeader)}`;
    super(`Server ${memberId} is not the leader${suggestion}`);
    this.suggestedLeader = suggestedLeader;
    this.peers = peers;
  }
}

/** Leader that has not applied the first entry of its term (spec: L-3). */
export class LeaderNotReadyException extends RaftException {
  readonly code = 'RAFT_LEADER_NOT_READY';
  readonly javaClass = `${PACKAGE}.LeaderNotReadyException`;
  /** Peer id and 16-byte group id of the leader. */
  readonly peerId: RaftPeerId;
  readonly groupIdBytes: Uint8Array;

  constructor(memberId: string, peerId: RaftPeerId, groupIdBytes: Uint8Array) {
    super(`${memberId} is in LEADER state but not ready yet.`);
    this.peerId = peerId;
    this.groupIdBytes = groupIdBytes;
  }
}

/** A watch, or the replication wait of a write, ran out of time. */
export class NotReplicatedException extends RaftException {
  readonly code = 'RAFT_NOT_REPLICATED';
  readonly javaClass = `${PACKAGE}.NotReplicatedException`;
  readonly callId: CallId;
  readonly replication: ReplicationLevel;
  readonly logIndex: number;
  /** Filled at the client from the reply. */
  commitInfos: readonly CommitInfo[] = [];

  constructor(callId: CallId, replication: ReplicationLevel, logIndex: number) {
    const level = ['MAJORITY', 'ALL', 'MAJORITY_COMMITTED', 'ALL_COMMITTED'][replication];
    super(
      `Request with call Id ${callId} and log index ${logIndex} is not yet replicated to ${level}`,
    );
    this.callId = callId;
    this.replication = replication;
    this.logIndex = logIndex;
  }
}

/** An error of the application's state machine. */
export class StateMachineException extends RaftException {
  readonly code = 'RAFT_STATE_MACHINE';
  readonly javaClass = `${PACKAGE}.StateMachineException`;
  /** Class name of the cause as it travels: Java's full name, or the JavaScript error's name. */
  readonly causeClass: string;
  readonly causeMessage: string;
  /** preAppend only: whether the leader gives up its office (spec: W-2). Local. */
  readonly leaderShouldStepDown: boolean;

  constructor(
    memberId: string | undefined,
    causeClass: string,
    causeMessage: string,
    options: { readonly cause?: unknown; readonly leaderShouldStepDown?: boolean } = {},
  ) {
    const from = memberId === undefined ? '' : ` from Server ${memberId}`;
    super(
      `${causeClass}${from}: ${causeMessage}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.causeClass = causeClass;
    this.causeMessage = causeMessage;
    this.leaderShouldStepDown = options.leaderShouldStepDown ?? true;
  }
}

/** A stream, proxy, client or window was closed. */
export class AlreadyClosedException extends RaftException {
  readonly code = 'RAFT_ALREADY_CLOSED';
  readonly javaClass = `${PACKAGE}.AlreadyClosedException`;
}
/** The group exists already. */
export class AlreadyExistsException extends RaftException {
  readonly code = 'RAFT_ALREADY_EXISTS';
  readonly javaClass = `${PACKAGE}.AlreadyExistsException`;
}
/** A data stream packet failed. */
export class DataStreamException extends RaftException {
  readonly code = 'RAFT_DATA_STREAM';
  readonly javaClass = `${PACKAGE}.DataStreamException`;
}
/** The request's group is unknown here, or not the stream's. */
export class GroupMismatchException extends RaftException {
  readonly code = 'RAFT_GROUP_MISMATCH';
  readonly javaClass = `${PACKAGE}.GroupMismatchException`;
}
/** A leadership transfer is under way. */
export class LeaderSteppingDownException extends RaftException {
  readonly code = 'RAFT_LEADER_STEPPING_DOWN';
  readonly javaClass = `${PACKAGE}.LeaderSteppingDownException`;
}
/** Retries are exhausted. */
export class RaftRetryFailureException extends RaftException {
  readonly code = 'RAFT_RETRY_FAILURE';
  readonly javaClass = `${PACKAGE}.RaftRetryFailureException`;
}
/** A linearizable read could not be served in time. */
export class ReadException extends RaftException {
  readonly code = 'RAFT_READ';
  readonly javaClass = `${PACKAGE}.ReadException`;
}
/** No read index could be had. */
export class ReadIndexException extends RaftException {
  readonly code = 'RAFT_READ_INDEX';
  readonly javaClass = `${PACKAGE}.ReadIndexException`;
}
/** Another membership change is under way. */
export class ReconfigurationInProgressException extends RaftException {
  readonly code = 'RAFT_RECONFIGURATION_IN_PROGRESS';
  readonly javaClass = `${PACKAGE}.ReconfigurationInProgressException`;
}
/** New peers made no progress. */
export class ReconfigurationTimeoutException extends RaftException {
  readonly code = 'RAFT_RECONFIGURATION_TIMEOUT';
  readonly javaClass = `${PACKAGE}.ReconfigurationTimeoutException`;
}
/** A limit of pending writes or watches was hit; nothing was done. */
export class ResourceUnavailableException extends RaftException {
  readonly code = 'RAFT_RESOURCE_UNAVAILABLE';
  readonly javaClass = `${PACKAGE}.ResourceUnavailableException`;
}
/** The division does not run. */
export class ServerNotReadyException extends RaftException {
  readonly code = 'RAFT_SERVER_NOT_READY';
  readonly javaClass = `${PACKAGE}.ServerNotReadyException`;
}
/** The membership change is refused. */
export class SetConfigurationException extends RaftException {
  readonly code = 'RAFT_SET_CONFIGURATION';
  readonly javaClass = `${PACKAGE}.SetConfigurationException`;
}
/** The local commit index is below the asked minimum. */
export class StaleReadException extends RaftException {
  readonly code = 'RAFT_STALE_READ';
  readonly javaClass = `${PACKAGE}.StaleReadException`;
}
/** A message stream broke its rules. */
export class StreamException extends RaftException {
  readonly code = 'RAFT_STREAM';
  readonly javaClass = `${PACKAGE}.StreamException`;
}
/** Not done in time. */
export class TimeoutIOException extends RaftException {
  readonly code = 'RAFT_TIMEOUT';
  readonly javaClass = `${PACKAGE}.TimeoutIOException`;
}
/** The transfer is refused or failed. */
export class TransferLeadershipException extends RaftException {
  readonly code = 'RAFT_TRANSFER_LEADERSHIP';
  readonly javaClass = `${PACKAGE}.TransferLeadershipException`;
}
/**
 * A failure of input or output: storage, connection, or one that a peer reported without a class of
 * its own.
 */
export class RaftIOException extends RaftException {
  readonly code = 'RAFT_IO';
  readonly javaClass = 'java.io.IOException';
}
/** A request that breaks the protocol's rules. */
export class IllegalStateException extends RaftException {
  readonly code = 'RAFT_ILLEGAL_STATE';
  readonly javaClass = 'java.lang.IllegalStateException';
}
/** A request with an argument that is not acceptable. */
export class IllegalArgumentException extends RaftException {
  readonly code = 'RAFT_ILLEGAL_ARGUMENT';
  readonly javaClass = 'java.lang.IllegalArgumentException';
}
/** Not supported by the server. */
export class UnsupportedOperationException extends RaftException {
  readonly code = 'RAFT_UNSUPPORTED';
  readonly javaClass = 'java.lang.UnsupportedOperationException';
}
/** A term or index outside of what this implementation carries (2^53). */
export class NumberOutOfRangeException extends RaftException {
  readonly code = 'RAFT_NUMBER_OUT_OF_RANGE';
  readonly javaClass = 'java.io.IOException';
}
