import type { Random } from '../../common/runtime.js';
import { EntryKind } from '../../proto/wire/types.js';
import type { RaftConfiguration } from '../../protocol/configuration.js';
import type { RaftPeerId } from '../../protocol/ids.js';
import { createEngine } from '../engine.js';
import type { EngineCommand, EngineConfig, RaftEngine } from '../types.js';
import { type MetadataWrite, SimDisk, type SimEntry } from './disk.test-support.js';
import {
  type AppendMessage,
  type InvitationMessage,
  type Message,
  toRequest,
  type VoteMessage,
} from './messages.test-support.js';

/** What the driver of a test learns and decides. */
export interface NodeHost {
  readonly nowMs: number;
  send(message: Message): void;
  onCommand(node: SimNode, command: EngineCommand): void;
  onPersisted(node: SimNode, write: MetadataWrite): void;
}

interface Appender {
  readonly epoch: number;
  stream: number;
  nextMs: number;
}

export interface NodeOptions {
  readonly id: RaftPeerId;
  readonly initial: RaftConfiguration;
  readonly config: EngineConfig;
  readonly random: Random;
  readonly host: NodeHost;
  /** Entries per request at most. */
  readonly batchMax: number;
}

/**
 * Drives one engine by the duties of `types.ts`, over a simulated disk. When work is held, it waits
 * for `flush`, `persist` and `apply`.
 */
export class SimNode {
  readonly id: RaftPeerId;
  readonly disk = new SimDisk();
  engine: RaftEngine;
  incarnation = 1;
  holdFlush = false;
  holdMetadata = false;
  holdApply = false;
  up = true;
  closed = false;
  readonly appenders = new Map<RaftPeerId, Appender>();
  private readonly options: NodeOptions;
  private readonly requests = new Map<number, VoteMessage | AppendMessage | InvitationMessage>();
  private nextRequestId = 1;
  /** Of the newest truncation. */
  private generation = 0;

  constructor(options: NodeOptions) {
    this.id = options.id;
    this.options = options;
    this.engine = this.createEngine();
  }

  private createEngine(): RaftEngine {
    const { id, config, random, initial, host } = this.options;
    const state = this.disk.state(initial);
    return createEngine({ selfId: id, config, random, state, nowMs: host.nowMs });
  }

  /** Starts from what the disk holds. */
  start(): void {
    this.generation = 0;
    this.engine = this.createEngine();
    this.call((engine, now) => engine.start(now));
  }

  /** Loses memory and all writes that are not durable but the first `kept`. */
  crash(kept: number): void {
    this.disk.crash(kept);
    this.appenders.clear();
    this.requests.clear();
    this.incarnation++;
    this.up = false;
  }

  restart(): void {
    this.up = true;
    this.start();
  }

  /** One input, and everything that follows from it at once. */
  call(input: (engine: RaftEngine, nowMs: number) => void): void {
    input(this.engine, this.options.host.nowMs);
    this.carryOut();
    this.settle();
  }

  receive(message: Message): void {
    if (!this.up || this.closed) return;
    if (message.kind === 'vote' || message.kind === 'append' || message.kind === 'invite') {
      const requestId = this.nextRequestId++;
      this.requests.set(requestId, message);
      if (message.kind === 'vote') {
        this.call((engine, now) => engine.onVoteRequest(requestId, message.request, now));
      } else if (message.kind === 'append') {
        this.call((engine, now) => engine.onAppendRequest(requestId, message.request, now));
      } else {
        const { from: leaderId, leaderLastEntry } = message;
        this.call((engine, now) =>
          engine.onStartLeaderElection(requestId, { leaderId, leaderLastEntry }, now),
        );
      }
      return;
    }
    if (message.incarnation !== this.incarnation) return;
    if (message.kind === 'inviteReply') {
      const { transferId, accepted } = message;
      this.call((engine, now) => engine.onStartLeaderElectionReply(transferId, accepted, now));
      return;
    }
    if (message.kind === 'voteReply') {
      const { electionId, from, reply } = message;
      this.call((engine, now) => engine.onVoteReply(electionId, from, reply, now));
      return;
    }
    const appender = this.appenders.get(message.from);
    if (appender?.epoch !== message.epoch || appender.stream !== message.stream) return;
    const { callId, reply, isHeartbeat } = message;
    if (typeof reply === 'string') {
      this.endStream(message.from, { callId, isHeartbeat });
    } else {
      const received = { ...reply, callId };
      this.call((engine, now) => engine.onAppendReply(message.from, message.epoch, received, now));
    }
  }

  endStream(
    peerId: RaftPeerId,
    failed?: { readonly callId: number; readonly isHeartbeat: boolean },
  ): void {
    const appender = this.appenders.get(peerId);
    if (appender === undefined) return;
    appender.stream++;
    appender.nextMs = this.options.host.nowMs;
    const { epoch } = appender;
    this.call((engine, now) => engine.onAppendStreamEnded(peerId, epoch, failed, false, now));
  }

  propose(payloads: readonly string[]): number[] {
    const indices: number[] = [];
    this.call((engine, now) => {
      for (const payload of payloads) {
        const position = engine.propose(now);
        if (position === undefined) break;
        const { term, index } = position;
        const kind = EntryKind.STATE_MACHINE;
        this.disk.append({ term, index, kind, payload }, this.generation);
        indices.push(index);
      }
      engine.proposed(now);
    });
    return indices;
  }

  flush(count = Number.POSITIVE_INFINITY): void {
    const done = this.disk.flush(count);
    if (done === undefined) return;
    this.call((engine, now) => engine.onLogFlushed(done.flushed, done.generation, now));
  }

  persist(): void {
    const write = this.disk.persistNext();
    if (write === undefined) return;
    this.options.host.onPersisted(this, write);
    this.call((engine, now) => engine.onMetadataPersisted(write.sequence, now));
  }

  /** The time of the next deadline. */
  deadlineMs(): number {
    if (!this.up || this.closed) return Number.POSITIVE_INFINITY;
    let next = this.engine.deadlineMs();
    for (const { nextMs } of this.appenders.values()) next = Math.min(next, nextMs);
    return next;
  }

  /** Carries out what is due. */
  wake(): void {
    const { nowMs } = this.options.host;
    if (!this.up || this.closed) return;
    if (this.engine.deadlineMs() <= nowMs) this.call((engine, now) => engine.tick(now));
    else this.settle();
  }

  private carryOut(): void {
    for (const command of this.engine.takeCommands()) {
      this.options.host.onCommand(this, command);
      this.perform(command);
    }
  }

  /** Does the work that nothing holds back, until there is none. */
  private settle(): void {
    const { disk } = this;
    if (!this.holdMetadata && disk.metadataWrites.length > 0) this.persist();
    else if (!this.holdFlush && disk.writes.length > 0) this.flush();
    else if (!this.holdApply && this.engine.appliedIndex < this.engine.commitIndex) this.apply();
    else this.pumpAll();
  }

  apply(): void {
    this.call((engine, now) => engine.onApplied(engine.commitIndex, now));
  }

  private perform(command: EngineCommand): void {
    switch (command.kind) {
      case 'persistMetadata':
        this.disk.metadataWrites.push(command);
        break;
      case 'appendOwn':
        this.generation = command.generation;
        this.disk.append({ ...command.header, payload: 'own' }, command.generation);
        break;
      case 'appendEntries':
        this.appendReceived(command);
        break;
      case 'replyVote':
        this.replyVote(command.requestId, command.reply);
        break;
      case 'failVote':
        this.replyVote(command.requestId, undefined);
        break;
      case 'replyAppend':
        this.replyAppend(command.requestId, command.reply);
        break;
      case 'failAppend':
        this.replyAppend(command.requestId, command.failure.kind);
        break;
      case 'requestVote': {
        const { to, electionId, request } = command;
        const { id: from, incarnation } = this;
        this.options.host.send({ kind: 'vote', from, to, incarnation, electionId, request });
        break;
      }
      case 'startLeaderElection': {
        const { to, transferId, leaderLastEntry } = command;
        const ids = { from: this.id, to, incarnation: this.incarnation };
        this.options.host.send({ kind: 'invite', ...ids, transferId, leaderLastEntry });
        break;
      }
      case 'replyStartLeaderElection':
        this.replyInvitation(command.requestId, command.accepted);
        break;
      case 'failStartLeaderElection':
        this.replyInvitation(command.requestId, undefined);
        break;
      case 'startAppender':
        this.appenders.set(command.peerId, { epoch: command.epoch, stream: 0, nextMs: 0 });
        break;
      case 'stopAppender':
        this.appenders.delete(command.peerId);
        break;
      case 'wakeAppender': {
        const appender = this.appenders.get(command.peerId);
        if (appender !== undefined) appender.nextMs = 0;
        break;
      }
      case 'closeDivision':
        this.closed = true;
        break;
      default:
        break;
    }
  }

  private appendReceived(command: Extract<EngineCommand, { kind: 'appendEntries' }>): void {
    const message = this.requests.get(command.requestId);
    if (message?.kind !== 'append') throw new Error('entries of an unknown request');
    this.generation = command.generation;
    if (command.truncateFrom !== undefined) this.disk.truncate(command.truncateFrom);
    for (const entry of message.request.entries.slice(command.skip)) {
      this.disk.append(entry as SimEntry, command.generation);
    }
  }

  private replyInvitation(requestId: number, accepted: boolean | undefined): void {
    const message = this.requests.get(requestId);
    this.requests.delete(requestId);
    if (message?.kind !== 'invite') return;
    const { from: to, incarnation, transferId } = message;
    const ids = { from: this.id, to, incarnation };
    this.options.host.send({ kind: 'inviteReply', ...ids, transferId, accepted });
  }

  private replyVote(requestId: number, reply: Parameters<RaftEngine['onVoteReply']>[2]): void {
    const message = this.requests.get(requestId);
    this.requests.delete(requestId);
    if (message?.kind !== 'vote') return;
    const { from: to, incarnation, electionId } = message;
    const from = this.id;
    this.options.host.send({ kind: 'voteReply', from, to, incarnation, electionId, reply });
  }

  private replyAppend(requestId: number, reply: string | object): void {
    const message = this.requests.get(requestId);
    this.requests.delete(requestId);
    if (message?.kind !== 'append') return;
    const { from: to, request: _, ...rest } = message;
    const body = reply as Extract<Message, { kind: 'appendReply' }>['reply'];
    this.options.host.send({ ...rest, kind: 'appendReply', from: this.id, to, reply: body });
  }

  private pumpAll(): void {
    const { nowMs } = this.options.host;
    for (const [peerId, appender] of this.appenders) {
      if (appender.nextMs <= nowMs) this.pump(peerId, appender);
    }
  }

  private pump(peerId: RaftPeerId, appender: Appender): void {
    const { host, batchMax } = this.options;
    const { engine } = this;
    for (;;) {
      const offer = engine.nextFor(peerId, host.nowMs);
      if (offer.kind === 'idle') {
        appender.nextMs = offer.untilMs;
        return;
      }
      if (offer.kind === 'snapshot') throw new Error('no log was purged');
      const isHeartbeat = offer.kind === 'heartbeat';
      const count = isHeartbeat ? 0 : Math.min(batchMax, offer.to - offer.from + 1);
      const header = engine.commitSend(peerId, offer.token, count, host.nowMs);
      if (header === undefined) throw new Error('a fresh offer is stale');
      const entries = isHeartbeat ? [] : this.disk.log.slice(offer.from, offer.from + count);
      const request = toRequest(this.id, header, entries);
      const { id: from, incarnation } = this;
      const { epoch, stream } = appender;
      const { callId } = header;
      const base = { kind: 'append', from, to: peerId, incarnation, epoch, stream } as const;
      host.send({ ...base, isHeartbeat, callId, request });
    }
  }
}
