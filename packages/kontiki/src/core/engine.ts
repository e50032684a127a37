import { assert } from '../common/errors.js';
import type { Random } from '../common/runtime.js';
import type { RaftConfiguration } from '../protocol/configuration.js';
import type { RaftPeerId } from '../protocol/ids.js';
import { RaftPeerRole } from '../protocol/peer.js';
import type { TermIndex } from '../protocol/term-index.js';
import { updateCommit } from './commit.js';
import { onElectionDeadline, onElectionMetadata, onVoteReply } from './election.js';
import { onAppendRequest, onDurable } from './follow.js';
import * as install from './install.js';
import { onStartLeaderElection, pauseElections } from './invitation.js';
import { appendMetadata, leaderDeadlineMs, onLeaderTick } from './lead.js';
import { closeEngine, failLog, startEngine } from './life-cycle.js';
import { setConfiguration } from './membership.js';
import { readIndex } from './read-index.js';
import { commitSend, nextFor } from './replicate.js';
import { onAppendReply, onAppendStreamEnded } from './replies.js';
import { createRoleChanges } from './roles.js';
import { checkStaging } from './staging.js';
import { CoreState } from './state.js';
import {
  considerYield,
  expireTransfer,
  onStartLeaderElectionReply,
  transferLeadership,
  tryTransfer,
} from './transfer.js';
import type {
  AppendHeader,
  AppendOffer,
  AppendReplyReceived,
  AppendRequest,
  ElectionInvitation,
  EngineCommand,
  EngineConfig,
  EngineState,
  FollowerInfo,
  InstallTicket,
  LeaderCheck,
  RaftEngine,
  SendToken,
  SetConfigurationRequest,
  SnapshotReplyReceived,
  StepDownReason,
  VoteReply,
  VoteRequest,
  WatchLevels,
} from './types.js';
import { followerInfos, watchLevelsOf } from './views.js';
import { onVoteRequest } from './vote.js';

export interface EngineOptions {
  readonly selfId: RaftPeerId;
  readonly config: EngineConfig;
  readonly state: EngineState;
  readonly random: Random;
  readonly nowMs: number;
}

/** The engine of one division, from its persistent state. It does nothing before `start`. */
export function createEngine(options: EngineOptions): RaftEngine {
  return new Engine(options);
}

/** Hands each input to the concern it belongs to. All rules are in the files of the concerns. */
class Engine implements RaftEngine {
  private readonly s: CoreState;

  constructor(options: EngineOptions) {
    this.s = new CoreState(options, createRoleChanges);
  }

  get selfId(): RaftPeerId {
    return this.s.selfId;
  }
  get role(): RaftPeerRole {
    return this.s.role;
  }
  get roleSinceMs(): number {
    return this.s.roleSinceMs;
  }
  get currentTerm(): number {
    return this.s.term;
  }
  get votedFor(): RaftPeerId | undefined {
    return this.s.votedFor;
  }
  get leaderId(): RaftPeerId | undefined {
    return this.s.leaderId;
  }
  get commitIndex(): number {
    return this.s.commitIndex;
  }
  get appliedIndex(): number {
    return this.s.appliedIndex;
  }
  get lastIndex(): number {
    return this.s.log.lastIndex;
  }
  get flushIndex(): number {
    return this.s.flushIndex;
  }
  get configuration(): RaftConfiguration {
    return this.s.configurations.current;
  }
  get lifeCycle(): 'starting' | 'running' | 'closed' {
    return this.s.lifeCycle;
  }
  get lastEntry(): TermIndex | undefined {
    return this.s.log.lastEntry;
  }
  get watchLevels(): WatchLevels | undefined {
    return watchLevelsOf(this.s);
  }

  start(nowMs: number): void {
    this.at(nowMs);
    startEngine(this.s);
  }

  close(nowMs: number): void {
    this.at(nowMs);
    closeEngine(this.s);
  }

  tick(nowMs: number): void {
    const s = this.at(nowMs);
    if (s.lifeCycle === 'closed') return;
    if (s.timer !== undefined && nowMs >= s.timer.deadlineMs) {
      const timeoutMs = s.drawTimeoutMs();
      if (s.timer.expire(nowMs, s.config.sleepDeviationThresholdMs, timeoutMs)) {
        if (s.electionsPaused) s.timer.rearm(nowMs, timeoutMs);
        else s.roles.becomeCandidate(false);
      }
    } else if (s.election !== undefined && nowMs >= s.election.deadlineMs) {
      onElectionDeadline(s);
    }
    expireTransfer(s);
    if (!onLeaderTick(s)) return;
    checkStaging(s);
    tryTransfer(s);
    considerYield(s);
  }

  deadlineMs(): number {
    const { timer, election, leader, transfer } = this.s;
    if (this.s.lifeCycle === 'closed') return Number.POSITIVE_INFINITY;
    const transferMs = transfer?.deadlineMs ?? Infinity;
    if (leader !== undefined) return Math.min(leaderDeadlineMs(leader), transferMs);
    return Math.min(timer?.deadlineMs ?? Infinity, election?.deadlineMs ?? Infinity, transferMs);
  }

  takeCommands(): EngineCommand[] {
    return this.s.takeCommands();
  }

  onVoteRequest(requestId: number, request: VoteRequest, nowMs: number): void {
    onVoteRequest(this.at(nowMs), requestId, request);
  }

  onVoteReply(
    electionId: number,
    from: RaftPeerId,
    reply: VoteReply | undefined,
    nowMs: number,
  ): void {
    onVoteReply(this.at(nowMs), electionId, from, reply);
  }

  onAppendRequest(requestId: number, request: AppendRequest, nowMs: number): void {
    onAppendRequest(this.at(nowMs), requestId, request);
  }

  onMetadataPersisted(sequence: number, nowMs: number): void {
    const s = this.at(nowMs);
    s.metadataPersisted(sequence);
    onElectionMetadata(s);
    onDurable(s);
  }

  onLogFlushed(flushed: TermIndex, generation: number, nowMs: number): void {
    const s = this.at(nowMs);
    if (generation !== s.generation || flushed.index <= s.flushIndex) return;
    assert(s.log.contains(flushed), `flushed entry ${flushed.index} is not in the log`);
    s.flushIndex = flushed.index;
    s.followCommit();
    onDurable(s);
    updateCommit(s);
  }

  onLogFailed(message: string, nowMs: number): void {
    failLog(this.at(nowMs), message);
  }

  onApplied(index: number, nowMs: number): void {
    const s = this.at(nowMs);
    if (index <= s.appliedIndex) return;
    assert(index <= s.commitIndex, `applied ${index} is above the commit index ${s.commitIndex}`);
    s.appliedIndex = index;
    const { leader } = s;
    if (leader === undefined || leader.ready || index < leader.startIndex) return;
    leader.ready = true;
    s.emit({ kind: 'leaderReady', startIndex: leader.startIndex });
  }

  onSnapshotTaken(snapshot: TermIndex, nowMs: number): void {
    const s = this.at(nowMs);
    if (s.log.setSnapshot(snapshot)) s.flushIndex = snapshot.index;
    s.commitIndex = Math.max(s.commitIndex, snapshot.index);
    s.appliedIndex = Math.max(s.appliedIndex, snapshot.index);
  }

  beginInstall(leaderId: RaftPeerId, leaderTerm: number, nowMs: number): InstallTicket {
    return install.beginInstall(this.at(nowMs), leaderId, leaderTerm);
  }

  endInstall(ticket: InstallTicket, nowMs: number): void {
    install.endInstall(this.at(nowMs), ticket);
  }

  setInstalling(installing: boolean): void {
    this.s.installing = installing;
  }

  prepareInstall(snapshot: TermIndex, nowMs: number): ReturnType<RaftEngine['prepareInstall']> {
    const s = this.at(nowMs);
    const truncateFrom = install.prepareInstall(s, snapshot);
    return truncateFrom === undefined ? undefined : { truncateFrom, generation: s.generation };
  }

  onSnapshotInstalled(snapshot: TermIndex, nowMs: number): number {
    const s = this.at(nowMs);
    install.snapshotInstalled(s, snapshot);
    return s.generation;
  }

  adoptConfiguration(configuration: RaftConfiguration, nowMs: number): boolean {
    return install.adoptConfiguration(this.at(nowMs), configuration);
  }

  onSnapshotReply(
    peerId: RaftPeerId,
    epoch: number,
    reply: SnapshotReplyReceived,
    nowMs: number,
  ): void {
    install.onSnapshotReply(this.at(nowMs), peerId, epoch, reply);
  }

  onFollowerInstalled(peerId: RaftPeerId, epoch: number, index: number, nowMs: number): void {
    install.onFollowerInstalled(this.at(nowMs), peerId, epoch, index);
  }

  onLogPurged(startIndex: number): void {
    assert(startIndex <= this.s.log.snapshotIndex + 1, 'the log was purged beyond its snapshot');
    this.s.log.purge(startIndex);
  }

  leaderCheck(readOnly: boolean): LeaderCheck {
    return this.s.leaderCheck(readOnly);
  }

  propose(nowMs: number): TermIndex | undefined {
    const s = this.at(nowMs);
    if (s.leader?.ready !== true) return undefined;
    const index = s.log.nextIndex;
    s.log.append(s.term, index);
    return { term: s.term, index };
  }

  proposed(nowMs: number): void {
    const s = this.at(nowMs);
    if (s.leader === undefined) return;
    if (s.leader.metadataDueMs !== Number.POSITIVE_INFINITY) appendMetadata(s);
    s.wakeAll();
  }

  readIndex(readId: number, nowMs: number): void {
    readIndex(this.at(nowMs), readId);
  }

  stepDown(reason: StepDownReason, nowMs: number): void {
    const s = this.at(nowMs);
    if (s.role === RaftPeerRole.LEADER) s.roles.stepToFollower(s.term, { reason });
  }

  setConfiguration(requestId: number, request: SetConfigurationRequest, nowMs: number): void {
    setConfiguration(this.at(nowMs), requestId, request);
  }

  transferLeadership(
    requestId: number,
    target: RaftPeerId | undefined,
    timeoutMs: number,
    nowMs: number,
  ): void {
    transferLeadership(this.at(nowMs), requestId, target, timeoutMs);
  }

  onStartLeaderElection(requestId: number, invitation: ElectionInvitation, nowMs: number): void {
    onStartLeaderElection(this.at(nowMs), requestId, invitation);
  }

  onStartLeaderElectionReply(
    transferId: number,
    accepted: boolean | undefined,
    nowMs: number,
  ): void {
    onStartLeaderElectionReply(this.at(nowMs), transferId, accepted);
  }

  setElectionsPaused(paused: boolean, nowMs: number): void {
    pauseElections(this.at(nowMs), paused);
  }

  get electionsPaused(): boolean {
    return this.s.electionsPaused;
  }

  nextFor(peerId: RaftPeerId, nowMs: number): AppendOffer {
    return nextFor(this.at(nowMs), peerId);
  }

  commitSend(
    peerId: RaftPeerId,
    token: SendToken,
    count: number,
    nowMs: number,
  ): AppendHeader | undefined {
    return commitSend(this.at(nowMs), peerId, token, count);
  }

  onAppendReply(
    peerId: RaftPeerId,
    epoch: number,
    reply: AppendReplyReceived,
    nowMs: number,
  ): void {
    onAppendReply(this.at(nowMs), peerId, epoch, reply);
  }

  onAppendStreamEnded(
    peerId: RaftPeerId,
    epoch: number,
    _failed: Parameters<RaftEngine['onAppendStreamEnded']>[2],
    clean: boolean,
    nowMs: number,
  ): void {
    onAppendStreamEnded(this.at(nowMs), peerId, epoch, clean);
  }

  followers(nowMs: number): FollowerInfo[] {
    return followerInfos(this.s, nowMs);
  }

  followerTimer(nowMs: number): ReturnType<RaftEngine['followerTimer']> {
    const { timer } = this.s;
    if (timer === undefined) return undefined;
    return { elapsedMs: Math.max(0, nowMs - timer.lastRpcMs), outstanding: timer.outstanding };
  }

  termAt(index: number): number | undefined {
    return this.s.log.termAt(index);
  }

  private at(nowMs: number): CoreState {
    if (nowMs > this.s.nowMs) this.s.nowMs = nowMs;
    return this.s;
  }
}
