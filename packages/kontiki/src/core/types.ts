import type { AppendResult, EntryKind } from '../proto/wire/types.js';
import type { RaftConfiguration } from '../protocol/configuration.js';
import type { CallId, RaftPeerId } from '../protocol/ids.js';
import type { RaftPeer, RaftPeerRole } from '../protocol/peer.js';
import type { SetConfigurationMode } from '../protocol/requests.js';
import type { TermIndex } from '../protocol/term-index.js';

/**
 * The consensus engine's face (design: section 2). Synchronous and deterministic; it deals in
 * terms, indices and sizes, never in entry bytes.
 *
 * Duties of whoever drives it:
 *
 * 1. Call one method at a time, each with `nowMs` of one monotonic clock; after every call take
 *    `takeCommands()` and carry the commands out in order. Do not call the engine while carrying
 *    out commands; inputs that arise meanwhile wait until the batch is through.
 * 2. Call `tick` when `deadlineMs()` is reached. A late tick is allowed: input that waited is to be
 *    given first.
 * 3. `persistMetadata`: write term and vote durably, then call `onMetadataPersisted(sequence)`. The
 *    engine itself holds back every message that depends on it (spec: A-2, I-3).
 * 4. `appendEntries` / `appendOwn`: give the entries to the log in command order, before anything
 *    else is given to it; report each durable prefix by `onLogFlushed` with the generation of the
 *    newest truncation that was in force when the entries were appended. A failure of the log is
 *    reported by `onLogFailed`.
 * 5. Entries of state machine requests: ask `propose`, and append them at once, in that order, at
 *    the position it returned.
 * 6. `commit`: apply entries in order, and report by `onApplied`.
 * 7. Replies to peers' requests are sent by the commands `replyVote`, `replyAppend`, `failAppend`,
 *    which name the request by the id that the driver chose.
 * 8. Appenders ask `nextFor` when woken, read what was offered, then call `commitSend`
 *    synchronously just before the frame is written. An undefined answer means that the offer is
 *    stale: ask again.
 * 9. Peers' replies are reported with the epoch of the appender that sent the request.
 */

/** Time-outs and limits, milliseconds and counts (spec: consensus 9). */
export interface EngineConfig {
  readonly rpcTimeoutMinMs: number;
  readonly rpcTimeoutMaxMs: number;
  readonly firstElectionTimeoutMinMs: number;
  readonly firstElectionTimeoutMaxMs: number;
  readonly rpcRequestTimeoutMs: number;
  readonly rpcSlownessTimeoutMs: number;
  readonly stepDownWaitTimeMs: number;
  readonly preVote: boolean;
  readonly noLeaderTimeoutMs: number;
  readonly sleepDeviationThresholdMs: number;
  readonly logMetadataEnabled: boolean;
  readonly composeEnabled: boolean;
  /** Followers fetch snapshots by themselves when told to (spec: consensus 5.4). */
  readonly snapshotByNotification?: boolean;
  /** Requests with entries in flight to one follower. */
  readonly outstandingAppendsMax: number;
  readonly appenderWaitTimeMinMs: number;
  /**
   * Pauses after consecutive errors of an appender: (milliseconds, count) pairs, walked in order
   * (spec: 3.3, H-19).
   */
  readonly appenderRetryPauses: readonly (readonly [number, number])[];
  /** `write.follower.gap.ratio.max` and `write.element-limit`; -1 turns the throttle off. */
  readonly followerGapRatioMax: number;
  readonly writeElementLimit: number;
  /** A linearizable read that is not confirmed in this time fails (spec: H-18). */
  readonly readTimeoutMs: number;
  /** A new peer that is silent for longer fails the change (spec: consensus 4.2). */
  readonly stagingTimeoutMs: number;
  /** Entries that a new peer may lack of what is committed. */
  readonly stagingCatchupGap: number;
  /** Allows changes whose new voters are a majority (spec: consensus 4.1 check 5). */
  readonly memberMajorityAdd: boolean;
}

/** What the engine knows of an entry. */
export interface EntryHeader {
  readonly term: number;
  readonly index: number;
  readonly kind: EntryKind;
  /** For CONFIGURATION entries. */
  readonly configuration?: RaftConfiguration;
  /** For METADATA entries: the commit index that it records. */
  readonly metadataCommitIndex?: number;
}

/** Persistent state as it was found at start. */
export interface EngineState {
  readonly term: number;
  readonly votedFor: RaftPeerId | undefined;
  /** First and last index in the log; lastIndex = startIndex - 1 when empty. */
  readonly startIndex: number;
  readonly lastIndex: number;
  /** Terms of the log as runs: the first index of each run and its term, ascending. */
  readonly termRuns: readonly TermIndex[];
  /** The state machine's latest snapshot. */
  readonly snapshot: TermIndex | undefined;
  /** max(snapshot index, commit index of the last metadata entry), -1 if none. */
  readonly commitIndex: number;
  /** Commit index recorded by the last metadata entry, -1 if none. */
  readonly lastMetadataCommitIndex: number;
  /**
   * All configurations by ascending index: initial one or configuration file first, then the log's.
   * Empty without any peer.
   */
  readonly configurations: readonly RaftConfiguration[];
  /**
   * Indices of entries above commitIndex that are metadata entries or configuration entries need
   * not be told: the engine asks `kindAt`.
   */
  readonly kindAt: (index: number) => EntryKind;
}

export interface VoteRequest {
  readonly candidateId: RaftPeerId;
  readonly candidateTerm: number;
  /** (0, 0) when absent (spec: consensus 2.5). */
  readonly candidateLastEntry: TermIndex | undefined;
  readonly preVote: boolean;
}

export interface VoteReply {
  readonly granted: boolean;
  readonly term: number;
  readonly shouldShutdown: boolean;
  /** (0, -1) when the voter's log is empty; undefined or (0, 0) from voters that do not tell. */
  readonly lastEntry: TermIndex | undefined;
}

/** An AppendEntries request without entry bytes. */
export interface AppendRequest {
  readonly leaderId: RaftPeerId;
  readonly leaderTerm: number;
  readonly previous: TermIndex | undefined;
  readonly entries: readonly EntryHeader[];
  readonly leaderCommit: number;
  readonly initializing: boolean;
}

export interface AppendReply {
  readonly result: AppendResult;
  readonly term: number;
  readonly nextIndex: number;
  readonly matchIndex: number;
  readonly followerCommit: number;
  readonly isHeartbeat: boolean;
}

/** A reply as the leader hears it. `callId` echoes `AppendHeader.callId`. */
export interface AppendReplyReceived extends Omit<AppendReply, 'result'> {
  readonly callId: CallId;
  /** May hold a value that is not known here; such a reply is ignored. */
  readonly result: number;
}

/** Names an offer; checked again when it is used (design: section 2). */
export interface SendToken {
  readonly term: number;
  readonly epoch: number;
  readonly from: number;
}

/** What a follower needs next. */
export type AppendOffer =
  | {
      readonly kind: 'entries';
      readonly token: SendToken;
      readonly from: number;
      readonly to: number;
    }
  | { readonly kind: 'heartbeat'; readonly token: SendToken }
  /** The log no longer holds what the follower needs. */
  | { readonly kind: 'snapshot'; readonly token: SendToken }
  /** Nothing until then, or until the appender is woken. */
  | { readonly kind: 'idle'; readonly untilMs: number };

/** Fields of the request that is about to be written. */
export interface AppendHeader {
  readonly callId: number;
  readonly leaderTerm: number;
  readonly previous: TermIndex | undefined;
  readonly leaderCommit: number;
  readonly initializing: boolean;
}

export type StepDownReason =
  | 'HIGHER_TERM'
  | 'LOST_MAJORITY_HEARTBEATS'
  | 'STATE_MACHINE_EXCEPTION'
  | 'JVM_PAUSE'
  | 'FORCE';

/** Why a leader check failed (spec: consensus 7.1). */
export type LeaderCheck = 'ok' | 'notLeader' | 'notReady' | 'steppingDown';

/** A request for other members (spec: consensus 4.1). */
export interface SetConfigurationRequest {
  readonly mode: SetConfigurationMode;
  readonly peers: readonly RaftPeer[];
  readonly listeners: readonly RaftPeer[];
  /** What COMPARE_AND_SET expects. */
  readonly currentPeers: readonly RaftPeer[];
  readonly currentListeners: readonly RaftPeer[];
}

export type ConfigurationFailure =
  | { readonly kind: 'notLeader' | 'notReady' | 'steppingDown' }
  /**
   * `inProgress`: another change is. `refused`: the members may not become these. `invalid`: no
   * group can have them. `timeout`: a new peer could not be brought up.
   */
  | {
      readonly kind: 'inProgress' | 'refused' | 'invalid' | 'timeout';
      readonly message: string;
    };

export type TransferFailure =
  | { readonly kind: 'notLeader' | 'notReady' }
  | { readonly kind: 'refused'; readonly message: string };

/** What a leader asks of its successor (spec: consensus 2.9). */
export interface ElectionInvitation {
  readonly leaderId: RaftPeerId;
  readonly leaderLastEntry: TermIndex | undefined;
}

export type AppendFailure =
  | { readonly kind: 'notRunning' }
  /** Entries with a gap, a wrong first index, or a term above the leader's. */
  | { readonly kind: 'malformed'; readonly message: string }
  | { readonly kind: 'logFailed'; readonly message: string };

export type EngineCommand =
  | {
      readonly kind: 'persistMetadata';
      readonly term: number;
      readonly votedFor: RaftPeerId | undefined;
      readonly sequence: number;
    }
  /**
   * Follower: truncate from `truncateFrom` if set, then append the request's entries from position
   * `skip` on.
   */
  | {
      readonly kind: 'appendEntries';
      readonly requestId: number;
      readonly skip: number;
      readonly truncateFrom: number | undefined;
      readonly generation: number;
    }
  /** Leader: append a configuration (start-up entry) or metadata entry of its own. */
  | { readonly kind: 'appendOwn'; readonly header: EntryHeader; readonly generation: number }
  | { readonly kind: 'replyVote'; readonly requestId: number; readonly reply: VoteReply }
  /** `malformed` says why the request cannot come from a correct candidate; else: not running. */
  | { readonly kind: 'failVote'; readonly requestId: number; readonly malformed?: string }
  | { readonly kind: 'replyAppend'; readonly requestId: number; readonly reply: AppendReply }
  | { readonly kind: 'failAppend'; readonly requestId: number; readonly failure: AppendFailure }
  /**
   * Ask `to` for its vote; report by `onVoteReply(electionId, ...)`. Replaces older elections,
   * whose calls may be cancelled.
   */
  | {
      readonly kind: 'requestVote';
      readonly to: RaftPeerId;
      readonly electionId: number;
      readonly request: VoteRequest;
    }
  /** The election that this id names is decided: calls still open may be cancelled. */
  | { readonly kind: 'electionEnded'; readonly electionId: number }
  | {
      readonly kind: 'roleChanged';
      readonly role: RaftPeerRole;
      readonly term: number;
      /** Set when a leader lost its office: fail what is pending (spec: 3.12). */
      readonly stepDownReason: StepDownReason | undefined;
    }
  | { readonly kind: 'leaderChanged'; readonly leaderId: RaftPeerId | undefined }
  /**
   * Start, stop or wake the appender of a follower or listener. Starting one that exists replaces
   * it (new epoch).
   */
  | {
      readonly kind: 'startAppender';
      readonly peerId: RaftPeerId;
      readonly epoch: number;
      /** Where it is reached; a peer that is brought up is in no configuration yet. */
      readonly peer: RaftPeer;
    }
  | { readonly kind: 'stopAppender'; readonly peerId: RaftPeerId; readonly epoch: number }
  | { readonly kind: 'wakeAppender'; readonly peerId: RaftPeerId }
  | { readonly kind: 'commit'; readonly commitIndex: number }
  /** The start-up entry is applied (spec: L-2). */
  | { readonly kind: 'leaderReady'; readonly startIndex: number }
  /**
   * A configuration is in force (appended or received, spec: C-1), or an older one again after
   * truncation.
   */
  | { readonly kind: 'configurationInForce'; readonly configuration: RaftConfiguration }
  | { readonly kind: 'readReady'; readonly readId: number; readonly readIndex: number }
  /** 'notLeader': leadership was lost; 'timeout': no majority answered in time. */
  | {
      readonly kind: 'readFailed';
      readonly readId: number;
      readonly reason: 'notLeader' | 'timeout';
    }
  /** The configuration that was asked for is committed, or was in force before. */
  | { readonly kind: 'configurationDone'; readonly requestId: number }
  | {
      readonly kind: 'configurationFailed';
      readonly requestId: number;
      readonly failure: ConfigurationFailure;
    }
  | { readonly kind: 'transferDone'; readonly requestId: number }
  | {
      readonly kind: 'transferFailed';
      readonly requestId: number;
      readonly failure: TransferFailure;
    }
  /** Ask `to` to campaign; report by `onStartLeaderElectionReply(transferId, ...)`. */
  | {
      readonly kind: 'startLeaderElection';
      readonly to: RaftPeerId;
      readonly transferId: number;
      readonly leaderLastEntry: TermIndex;
    }
  | {
      readonly kind: 'replyStartLeaderElection';
      readonly requestId: number;
      readonly accepted: boolean;
    }
  /** The division does not run. */
  | { readonly kind: 'failStartLeaderElection'; readonly requestId: number }
  | { readonly kind: 'extendedNoLeader' }
  | { readonly kind: 'followerSlow'; readonly peerId: RaftPeerId; readonly elapsedMs: number }
  | { readonly kind: 'becameRunning' }
  /** Close this division: a peer or the configuration says that it left the group. */
  | { readonly kind: 'closeDivision'; readonly reason: string };

/** Progress of one follower, for replies, metrics and group info. */
export interface FollowerInfo {
  readonly peerId: RaftPeerId;
  readonly nextIndex: number;
  readonly matchIndex: number;
  readonly commitIndex: number;
  readonly caughtUp: boolean;
  readonly lastResponseElapsedMs: number;
}

/** Levels for watches (spec: consensus 7.5). */
export interface WatchLevels {
  readonly majority: number;
  readonly all: number;
  readonly majorityCommitted: number;
  readonly allCommitted: number;
}

/** A snapshot request of a leader under way. */
export interface InstallTicket {
  /** False: the sender is not this server's leader. */
  readonly accepted: boolean;
  /** Term before the leader's was taken over: for the reply. */
  readonly term: number;
  /** The election timer that is held; the engine's own affair. */
  readonly timer: { end(nowMs: number): void } | undefined;
}

/** How a follower answered a piece of a snapshot or an announcement (spec: consensus 5.4). */
export type SnapshotReplyReceived =
  | { readonly kind: 'notLeader'; readonly term: number }
  /** It is being installed, or was refused for a reason of the follower's own. */
  | { readonly kind: 'pending' }
  /** A piece was taken, or the attempt has ended. */
  | { readonly kind: 'attempted' };

/** The engine of one division. Made by `createEngine(options)` in `core/engine.ts`. */
export interface RaftEngine {
  readonly selfId: RaftPeerId;
  readonly role: RaftPeerRole;
  readonly currentTerm: number;
  readonly votedFor: RaftPeerId | undefined;
  readonly leaderId: RaftPeerId | undefined;
  readonly commitIndex: number;
  readonly appliedIndex: number;
  readonly lastIndex: number;
  readonly flushIndex: number;
  readonly configuration: RaftConfiguration;
  /**
   * STARTING until a leader contacts a server that is not in its configuration (spec: consensus
   * 1.3).
   */
  readonly lifeCycle: 'starting' | 'running' | 'closed';
  /** Last entry, or the snapshot's position when the log is empty. */
  readonly lastEntry: TermIndex | undefined;
  /** Watch levels; undefined unless leader. */
  readonly watchLevels: WatchLevels | undefined;

  start(nowMs: number): void;
  /** Stops everything; answers what is held with failures. */
  close(nowMs: number): void;
  tick(nowMs: number): void;
  /** When `tick` must be called at the latest; Infinity if never. */
  deadlineMs(): number;
  takeCommands(): EngineCommand[];

  onVoteRequest(requestId: number, request: VoteRequest, nowMs: number): void;
  /** `reply` undefined: the call failed. */
  onVoteReply(
    electionId: number,
    from: RaftPeerId,
    reply: VoteReply | undefined,
    nowMs: number,
  ): void;
  onAppendRequest(requestId: number, request: AppendRequest, nowMs: number): void;

  onMetadataPersisted(sequence: number, nowMs: number): void;
  /** Everything up to `flushed` that was appended under `generation` is durable. */
  onLogFlushed(flushed: TermIndex, generation: number, nowMs: number): void;
  onLogFailed(message: string, nowMs: number): void;
  onApplied(index: number, nowMs: number): void;
  /** The state machine took or loaded a snapshot (spec: storage 7.3). */
  onSnapshotTaken(snapshot: TermIndex, nowMs: number): void;
  /** A leader's snapshot request; end it by `endInstall` (spec: consensus 5.3). */
  beginInstall(leaderId: RaftPeerId, leaderTerm: number, nowMs: number): InstallTicket;
  endInstall(ticket: InstallTicket, nowMs: number): void;
  /**
   * While true, requests with entries are answered INCONSISTENCY: the state machine is being
   * replaced.
   */
  setInstalling(installing: boolean): void;
  /**
   * Before a snapshot is put in place: where the log must be cut (under the generation given),
   * because it contradicts the snapshot; undefined if nowhere.
   */
  prepareInstall(
    snapshot: TermIndex,
    nowMs: number,
  ): { readonly truncateFrom: number; readonly generation: number } | undefined;
  /**
   * The state machine runs on a leader's snapshot; the log is to drop what it covers. What is
   * appended from now on has the generation that this returns.
   */
  onSnapshotInstalled(snapshot: TermIndex, nowMs: number): number;
  /**
   * The configuration bundled with an accepted snapshot request; true if it is another one (spec:
   * H-10).
   */
  adoptConfiguration(configuration: RaftConfiguration, nowMs: number): boolean;
  /** Leader: a follower answered a snapshot request. */
  onSnapshotReply(
    peerId: RaftPeerId,
    epoch: number,
    reply: SnapshotReplyReceived,
    nowMs: number,
  ): void;
  /** Leader: a follower has the snapshot at `index`. */
  onFollowerInstalled(peerId: RaftPeerId, epoch: number, index: number, nowMs: number): void;
  /** Entries below `startIndex` are gone from the log. */
  onLogPurged(startIndex: number): void;

  leaderCheck(readOnly: boolean): LeaderCheck;
  /** Reserves the next position for a state machine entry; undefined unless leader and ready. */
  propose(nowMs: number): TermIndex | undefined;
  /** After all proposals of a turn: wakes the appenders once. */
  proposed(nowMs: number): void;
  /** A request to confirm leadership for a read; answered by `readReady` or `readFailed`. */
  readIndex(readId: number, nowMs: number): void;
  stepDown(reason: StepDownReason, nowMs: number): void;

  /**
   * Changes the members; answered by `configurationDone` or `configurationFailed` (spec: consensus
   * 4).
   */
  setConfiguration(requestId: number, request: SetConfigurationRequest, nowMs: number): void;
  /**
   * Has `target` take over, or gives up the office when it is undefined; answered by `transferDone`
   * or `transferFailed` (spec: consensus 2.9). `timeoutMs` 0 is the time of an RPC.
   */
  transferLeadership(
    requestId: number,
    target: RaftPeerId | undefined,
    timeoutMs: number,
    nowMs: number,
  ): void;
  /** A leader asks this server to campaign. */
  onStartLeaderElection(requestId: number, invitation: ElectionInvitation, nowMs: number): void;
  /** `accepted` undefined: the call failed. */
  onStartLeaderElectionReply(
    transferId: number,
    accepted: boolean | undefined,
    nowMs: number,
  ): void;
  /** While paused, this server starts no election (spec: consensus 2.9). */
  setElectionsPaused(paused: boolean, nowMs: number): void;
  readonly electionsPaused: boolean;

  nextFor(peerId: RaftPeerId, nowMs: number): AppendOffer;
  /**
   * About to write entries from..from+count-1 (count 0: a heartbeat). Undefined: the offer is
   * stale.
   */
  commitSend(
    peerId: RaftPeerId,
    token: SendToken,
    count: number,
    nowMs: number,
  ): AppendHeader | undefined;
  onAppendReply(peerId: RaftPeerId, epoch: number, reply: AppendReplyReceived, nowMs: number): void;
  /**
   * The appender's stream ended. `failed` names the request when the peer told which one; `clean`
   * when the peer completed the stream without an error (spec: 3.8.2). Everything in flight is
   * forgotten.
   */
  onAppendStreamEnded(
    peerId: RaftPeerId,
    epoch: number,
    failed: { readonly callId: CallId; readonly isHeartbeat: boolean } | undefined,
    clean: boolean,
    nowMs: number,
  ): void;

  followers(nowMs: number): FollowerInfo[];
  /**
   * Milliseconds since the last message of the leader, and operations under way (spec: 2.1);
   * undefined without a timer.
   */
  followerTimer(
    nowMs: number,
  ): { readonly elapsedMs: number; readonly outstanding: number } | undefined;
  /** Term at an index of the log or the snapshot, undefined if unknown. */
  termAt(index: number): number | undefined;
  readonly roleSinceMs: number;
}
