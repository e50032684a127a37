import { AssertionFailedError, messageOf, toError } from '../common/errors.js';
import type { EngineCommand, EntryHeader } from '../core/types.js';
import { createConfigurationEntry, createMetadataEntry } from '../proto/wire/index.js';
import { EntryKind, type LogEntry } from '../proto/wire/types.js';
import type { AppendRequests } from './append-requests.js';
import type { Appenders } from './appenders.js';
import type { DivisionParts } from './division-parts.js';
import type { Membership } from './membership.js';
import type { ReadRequests } from './read-requests.js';
import type { Updater } from './updater.js';
import type { Votes } from './votes.js';

/** What carries the commands out. */
export interface CommandTargets {
  readonly appends: AppendRequests;
  readonly appenders: Appenders;
  readonly votes: Votes;
  readonly membership: Membership;
  readonly reads: ReadRequests;
  readonly updater: Updater;
  /** Things of the division as a whole. */
  readonly events: CommandEvents;
}

/** Commands that concern the division as a whole. */
export interface CommandEvents {
  truncated(index: number): void;
  generationChanged(generation: number): void;
  roleChanged(command: EngineCommand & { kind: 'roleChanged' }): void;
  leaderChanged(leaderId: string | undefined): void;
  leaderReady(): void;
  becameRunning(): void;
  extendedNoLeader(): void;
  followerSlow(peerId: string): void;
  closeDivision(reason: string): void;
}

/** Carries the engine's commands out, in order (core/types.ts). */
export class CommandRunner {
  readonly #parts: DivisionParts;
  readonly #to: CommandTargets;

  constructor(parts: DivisionParts, targets: CommandTargets) {
    this.#parts = parts;
    this.#to = targets;
  }

  run(command: EngineCommand): void {
    switch (command.kind) {
      case 'persistMetadata':
        this.#persist(command);
        return;
      case 'appendEntries':
        this.#appendEntries(command);
        return;
      case 'appendOwn':
        this.#append([ownEntry(command.header)], command.generation);
        return;
      case 'replyAppend':
        this.#to.appends.reply(command.requestId, command.reply);
        return;
      case 'failAppend':
        this.#to.appends.fail(command.requestId, command.failure);
        return;
      case 'replyVote':
        this.#to.votes.reply(command.requestId, command.reply);
        return;
      case 'failVote':
        this.#to.votes.fail(command.requestId, command.malformed);
        return;
      case 'requestVote':
        this.#to.votes.ask(command.to, command.electionId, command.request);
        return;
      case 'electionEnded':
        this.#to.votes.ended(command.electionId);
        return;
      default:
        this.#runMore(command);
    }
  }

  #runMore(command: EngineCommand): void {
    const { appenders, events, reads, updater } = this.#to;
    switch (command.kind) {
      case 'commit':
        updater.setCommitIndex(command.commitIndex);
        this.#parts.commitInfos.update(this.#parts.selfId, command.commitIndex);
        return;
      case 'startAppender':
        appenders.start(command.peer, command.epoch);
        return;
      case 'stopAppender':
        appenders.stop(command.peerId, command.epoch);
        return;
      case 'wakeAppender':
        appenders.wake(command.peerId);
        return;
      case 'configurationInForce':
        this.#parts.commitInfos.setConfiguration(command.configuration);
        return;
      case 'readReady':
        reads.indices.ready(command.readId, command.readIndex);
        return;
      case 'readFailed':
        reads.indices.failed(command.readId, command.reason);
        return;
      case 'roleChanged':
        events.roleChanged(command);
        return;
      case 'leaderChanged':
        events.leaderChanged(command.leaderId);
        return;
      case 'leaderReady':
        events.leaderReady();
        return;
      case 'becameRunning':
        events.becameRunning();
        return;
      case 'extendedNoLeader':
        events.extendedNoLeader();
        return;
      case 'followerSlow':
        events.followerSlow(command.peerId);
        return;
      case 'closeDivision':
        events.closeDivision(command.reason);
        return;
      default:
        this.#runMembership(command);
    }
  }

  #runMembership(command: EngineCommand): void {
    const { membership } = this.#to;
    switch (command.kind) {
      case 'configurationDone':
      case 'transferDone':
        membership.done(command.requestId);
        return;
      case 'configurationFailed':
        membership.configurationFailed(command.requestId, command.failure);
        return;
      case 'transferFailed':
        membership.transferFailed(command.requestId, command.failure);
        return;
      case 'startLeaderElection':
        membership.invite(command);
        return;
      case 'replyStartLeaderElection':
        membership.answerInvitation(command.requestId, command.accepted);
        return;
      case 'failStartLeaderElection':
        membership.answerInvitation(command.requestId, undefined);
        return;
      default:
        throw new AssertionFailedError(`unknown command ${command.kind}`);
    }
  }

  #persist(command: EngineCommand & { kind: 'persistMetadata' }): void {
    const { storage, engine, submit, nowMs, fail } = this.#parts;
    const { term, votedFor, sequence } = command;
    storage.persistMetadata({ term, votedFor }).then(
      () => submit(() => engine.onMetadataPersisted(sequence, nowMs())),
      (error) => fail(toError(error)),
    );
  }

  #appendEntries(command: EngineCommand & { kind: 'appendEntries' }): void {
    const { requestId, skip, truncateFrom, generation } = command;
    const entries = this.#to.appends.entriesOf(requestId, skip);
    if (truncateFrom !== undefined) {
      this.#to.events.truncated(truncateFrom);
      this.#parts.log.truncate(truncateFrom, generation);
    }
    this.#append(entries, generation);
  }

  #append(entries: readonly LogEntry[], generation: number): void {
    this.#to.events.generationChanged(generation);
    if (entries.length === 0) return;
    let hasRoom: boolean;
    try {
      hasRoom = this.#parts.log.append(entries, generation);
    } catch (error) {
      const { engine, submit, nowMs, fail } = this.#parts;
      submit(() => engine.onLogFailed(messageOf(error), nowMs()));
      fail(toError(error));
      return;
    }
    if (!hasRoom) this.#to.appends.logFull();
  }
}

/** The start-up entry, or a metadata entry (spec: consensus 3.9, 3.10). */
function ownEntry(header: EntryHeader): LogEntry {
  const { term, index, kind, configuration, metadataCommitIndex } = header;
  if (kind === EntryKind.CONFIGURATION && configuration !== undefined) {
    return createConfigurationEntry(term, configuration);
  }
  if (kind === EntryKind.METADATA && metadataCommitIndex !== undefined) {
    return createMetadataEntry(term, index, metadataCommitIndex);
  }
  throw new AssertionFailedError(`the engine can't append an entry of kind ${kind}`);
}
