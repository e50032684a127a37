import { createConfiguration } from '../../protocol/configuration.js';
import type { SetConfigurationMode } from '../../protocol/requests.js';
import type { EngineConfig } from '../types.js';
import { FixedRandom, TEST_CONFIG } from './config.test-support.js';
import { ScriptNetwork } from './network.test-support.js';
import { SimNode } from './node.test-support.js';
import {
  parseEntries,
  parseLine,
  parsePosition,
  peersOf,
  type ScriptLine,
} from './parse.test-support.js';

const HOLDS = { flush: 'holdFlush', metadata: 'holdMetadata', apply: 'holdApply' } as const;

/** Interprets the commands of a scenario file. Each command is a method of `commands`. */
export class Script {
  private readonly network = new ScriptNetwork();
  private readonly randoms = new Map<string, FixedRandom>();
  private readonly priorities = new Map<string, number>();
  private config: EngineConfig = TEST_CONFIG;
  private batchMax = 100;

  /** Carries out one line and returns its trace. */
  execute(text: string): string[] {
    const line = parseLine(text);
    const command = this.commands[line.name];
    if (command === undefined) throw new Error(`unknown command: ${text}`);
    command(line);
    return this.network.takeTrace();
  }

  private readonly commands: Record<string, (line: ScriptLine) => void> = {
    config: ({ pairs }) => this.configure(pairs),
    priorities: ({ pairs }) => {
      for (const [id, value] of pairs) this.priorities.set(id, Number(value));
    },
    'add-nodes': ({ words, pairs }) => this.addNodes(words, pairs),
    /** `timeouts n1=150`: every election time-out that n1 draws. */
    timeouts: ({ pairs }) => {
      for (const [id, ms] of pairs) this.random(id).point = (Number(ms) - 150) / 151;
    },
    'set-log': ({ words, pairs }) => {
      const { disk } = this.node(words[0]);
      for (const entry of parseEntries(pairs.get('entries') ?? '', 0, this.priorities)) {
        disk.append(entry, 0);
      }
      disk.flush(disk.writes.length);
      disk.term = Number(pairs.get('term') ?? disk.log.at(-1)?.term ?? 0);
      disk.votedFor = pairs.get('vote');
    },
    start: ({ words }) => {
      const ids = words.length === 0 ? [...this.network.nodes.keys()] : words;
      for (const id of ids) this.node(id).start();
    },
    crash: ({ words, pairs }) => this.node(words[0]).crash(Number(pairs.get('kept') ?? 0)),
    restart: ({ words }) => this.node(words[0]).restart(),
    run: ({ words }) => this.network.advance(Number(words[0]), true),
    advance: ({ words }) => this.network.advance(Number(words[0]), false),
    stall: ({ words }) => this.network.stall(Number(words[0])),
    wake: ({ words }) => this.node(words[0]).wake(),
    deliver: ({ words }) => {
      this.network.deliver(words[0] ?? 'all', Number(words[1] ?? Number.POSITIVE_INFINITY));
    },
    drop: ({ words }) => this.network.drop(words[0] ?? 'all'),
    /** `break n1->n2`: the streams of n1's appender to n2 end with an error. */
    break: ({ words }) => {
      const [from, to = ''] = (words[0] ?? '').split('->');
      this.node(from).endStream(to);
    },
    isolate: ({ words }) => {
      for (const id of words) this.network.isolated.add(id);
    },
    heal: () => this.network.isolated.clear(),
    propose: ({ words: [id, ...payloads] }) => {
      const indices = this.node(id).propose(payloads);
      this.network.print(indices.length === 0 ? 'not accepted' : `at ${indices.join(' ')}`);
    },
    read: ({ words }) => {
      this.node(words[0]).call((engine, now) => engine.readIndex(Number(words[1]), now));
    },
    /** `set-conf n1 7 voters=n1,n2 listeners=n3 mode=ADD current=n1 current-listeners=`. */
    'set-conf': ({ words, pairs }) => {
      const list = (key: string) => peersOf(pairs.get(key) ?? '', this.priorities);
      const request = {
        mode: (pairs.get('mode') ?? 'SET_UNCONDITIONALLY') as SetConfigurationMode,
        peers: list('voters'),
        listeners: list('listeners'),
        currentPeers: list('current'),
        currentListeners: list('current-listeners'),
      };
      const id = Number(words[1]);
      this.node(words[0]).call((engine, now) => engine.setConfiguration(id, request, now));
    },
    /** `transfer n1 7 n2 timeout=500`; without n2 the leader steps down. */
    transfer: ({ words, pairs }) => {
      const timeoutMs = Number(pairs.get('timeout') ?? 0);
      const id = Number(words[1]);
      this.node(words[0]).call((engine, now) =>
        engine.transferLeadership(id, words[2], timeoutMs, now),
      );
    },
    elections: ({ words }) => {
      const paused = words[1] === 'off';
      this.node(words[0]).call((engine, now) => engine.setElectionsPaused(paused, now));
    },
    'step-down': ({ words }) => {
      this.node(words[0]).call((engine, now) => engine.stepDown('FORCE', now));
    },
    hold: ({ words }) => this.hold(words, true),
    release: ({ words }) => this.hold(words, false),
    vote: ({ words, pairs }) => this.vote(words, pairs),
    append: ({ words, pairs }) => this.append(words, pairs),
    heartbeats: ({ words }) => {
      this.network.showHeartbeats = words[0] === 'on';
    },
    state: () => this.network.printState(),
    log: ({ words }) => {
      for (const id of words) this.network.printLog(id);
    },
  };

  private node(id: string | undefined): SimNode {
    const node = this.network.nodes.get(id ?? '');
    if (node === undefined) throw new Error(`no node ${id}`);
    return node;
  }

  private random(id: string): FixedRandom {
    const known = this.randoms.get(id) ?? new FixedRandom();
    this.randoms.set(id, known);
    return known;
  }

  private configure(pairs: ReadonlyMap<string, string>): void {
    for (const [key, value] of pairs) {
      if (key === 'batchMax') this.batchMax = Number(value);
      else this.config = { ...this.config, [key]: JSON.parse(value) as unknown };
    }
  }

  /** `add-nodes n1 n2 n3 listeners=n4 others=n5`: `others` run without being members. */
  private addNodes(voters: readonly string[], pairs: ReadonlyMap<string, string>): void {
    const listeners = peersOf(pairs.get('listeners') ?? '', this.priorities);
    const members = { voters: peersOf(voters.join(','), this.priorities), listeners };
    const initial = createConfiguration(members, undefined, -1);
    const none = createConfiguration({ voters: [], listeners: [] }, undefined, -1);
    const others = peersOf(pairs.get('others') ?? '', this.priorities);
    const { config, batchMax, network: host } = this;
    for (const { id } of [...members.voters, ...listeners, ...others]) {
      const isMember = !others.some((peer) => peer.id === id);
      const options = { id, config, batchMax, host, random: this.random(id) };
      host.nodes.set(id, new SimNode({ ...options, initial: isMember ? initial : none }));
    }
  }

  private hold([id, what]: readonly string[], held: boolean): void {
    const node = this.node(id);
    node[HOLDS[what as keyof typeof HOLDS]] = held;
    if (!held) node.call(() => undefined);
  }

  /** A request for a vote, written by hand. */
  private vote([to = '', phase]: readonly string[], pairs: ReadonlyMap<string, string>): void {
    const from = pairs.get('from') ?? '';
    const request = {
      candidateId: from,
      candidateTerm: Number(pairs.get('term')),
      candidateLastEntry: parsePosition(pairs.get('last')),
      preVote: phase === 'pre',
    };
    this.node(to).receive({ kind: 'vote', from, to, incarnation: 0, electionId: 0, request });
    this.deliverReplies(to, from);
  }

  /** A leader's request, written by hand. */
  private append([to = '', phase]: readonly string[], pairs: ReadonlyMap<string, string>): void {
    const from = pairs.get('from') ?? '';
    const previous = parsePosition(pairs.get('prev'));
    const first = Number(pairs.get('first') ?? (previous?.index ?? -1) + 1);
    const entries = parseEntries(pairs.get('entries') ?? '', first, this.priorities);
    const request = {
      leaderId: from,
      leaderTerm: Number(pairs.get('term')),
      previous,
      entries,
      leaderCommit: Number(pairs.get('commit') ?? -1),
      initializing: phase === 'initializing',
    };
    const stream = { epoch: 0, stream: 0, isHeartbeat: entries.length === 0 };
    const ids = { incarnation: 0, callId: Number(pairs.get('call') ?? 0) };
    this.node(to).receive({ kind: 'append', from, to, ...ids, ...stream, request });
    this.deliverReplies(to, from);
  }

  /** Replies to what was written by hand are always shown. */
  private deliverReplies(from: string, to: string): void {
    const { network } = this;
    const shown = network.showHeartbeats;
    network.showHeartbeats = true;
    network.deliver(`${from}->${to}`, Number.POSITIVE_INFINITY);
    network.showHeartbeats = shown;
  }
}

/**
 * Runs a scenario: lines that begin with `>` are commands, `#` comments; all others are the trace,
 * which is written anew.
 */
export function runScript(text: string): string {
  const script = new Script();
  const out: string[] = [];
  for (const line of text.split('\n')) {
    if (line.startsWith('>')) out.push(line, ...script.execute(line.slice(1)));
    else if (line === '' || line.startsWith('#')) out.push(line);
  }
  return `${out.join('\n').trimEnd()}\n`;
}
