import { EntryKind } from '../../proto/wire/types.js';
import { createConfiguration } from '../../protocol/configuration.js';
import { createEngine } from '../engine.js';
import type { EngineCommand, EngineConfig, EngineState, RaftEngine, VoteReply } from '../types.js';
import { FixedRandom, TEST_CONFIG } from './config.test-support.js';
import { peersOf } from './parse.test-support.js';

export const GRANTED: VoteReply = {
  granted: true,
  term: 0,
  shouldShutdown: false,
  lastEntry: { term: 0, index: -1 },
};

/** The state of a server that starts for the first time in a group of these voters. */
export function freshState(voters: string, priorities = new Map<string, number>()): EngineState {
  const cur = { voters: peersOf(voters, priorities), listeners: [] };
  return {
    term: 0,
    votedFor: undefined,
    startIndex: 0,
    lastIndex: -1,
    termRuns: [],
    snapshot: undefined,
    commitIndex: -1,
    lastMetadataCommitIndex: -1,
    configurations: [createConfiguration(cur, undefined, -1)],
    kindAt: () => EntryKind.NONE,
  };
}

/** One engine named n1, started at time 0, without anybody around it. */
export class SingleEngine {
  readonly engine: RaftEngine;
  nowMs = 0;

  constructor(state: EngineState, config: Partial<EngineConfig> = {}) {
    const options = { selfId: 'n1', state, random: new FixedRandom(), nowMs: 0 };
    this.engine = createEngine({ ...options, config: { ...TEST_CONFIG, ...config } });
    this.engine.start(0);
    this.commands();
  }

  commands(): EngineCommand[] {
    return this.engine.takeCommands();
  }

  /** The commands of one kind since the last look. */
  take<K extends EngineCommand['kind']>(kind: K): Extract<EngineCommand, { kind: K }>[] {
    return this.commands().filter(
      (command): command is Extract<EngineCommand, { kind: K }> => command.kind === kind,
    );
  }

  persistAll(): EngineCommand[] {
    const commands = this.commands();
    for (const command of commands) {
      if (command.kind === 'persistMetadata') {
        this.engine.onMetadataPersisted(command.sequence, this.nowMs);
      }
    }
    return [...commands, ...this.commands()];
  }

  /** Campaigns, and gets every vote: leader with a durable start-up entry. */
  lead(voters: readonly string[]): void {
    const { engine } = this;
    this.nowMs = engine.deadlineMs();
    engine.tick(this.nowMs);
    for (let phase = 0; phase < 2; phase++) {
      const asked = this.persistAll().filter((command) => command.kind === 'requestVote');
      const electionId = asked[0]?.electionId ?? 0;
      for (const voter of voters) engine.onVoteReply(electionId, voter, GRANTED, this.nowMs);
    }
    this.flush();
    this.commands();
  }

  flush(): void {
    const last = this.engine.lastEntry;
    if (last !== undefined) this.engine.onLogFlushed(last, 0, this.nowMs);
  }

  /** Sends what the peer needs, and has it answered with success. */
  replicate(peerId: string): void {
    const { engine, nowMs } = this;
    for (;;) {
      const offer = engine.nextFor(peerId, nowMs);
      if (offer.kind === 'idle' || offer.kind === 'snapshot') return;
      const isHeartbeat = offer.kind === 'heartbeat';
      const to = isHeartbeat ? -1 : offer.to;
      const count = isHeartbeat ? 0 : offer.to - offer.from + 1;
      const header = engine.commitSend(peerId, offer.token, count, nowMs);
      if (header === undefined) return;
      const reply = { result: 0, term: engine.currentTerm, nextIndex: to + 1, matchIndex: to };
      const ids = { callId: header.callId, followerCommit: header.leaderCommit, isHeartbeat };
      engine.onAppendReply(peerId, offer.token.epoch, { ...reply, ...ids }, nowMs);
    }
  }

  /** Applies what is committed. */
  apply(): void {
    this.engine.onApplied(this.engine.commitIndex, this.nowMs);
  }
}
