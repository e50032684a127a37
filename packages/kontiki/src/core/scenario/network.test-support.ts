import { EntryKind } from '../../proto/wire/types.js';
import type { RaftConfiguration } from '../../protocol/configuration.js';
import { roleName } from '../../protocol/peer.js';
import type { EngineCommand } from '../types.js';
import { formatEntry, formatMessage, type Message } from './messages.test-support.js';
import type { NodeHost, SimNode } from './node.test-support.js';

function formatConfiguration(conf: RaftConfiguration): string {
  const header = { term: 0, index: conf.index, kind: EntryKind.CONFIGURATION, configuration: conf };
  return formatEntry(header).replace(':t0', '');
}

function formatFailure(failure: { readonly kind: string; readonly message?: string }): string {
  return failure.message === undefined ? failure.kind : `${failure.kind}, ${failure.message}`;
}

function formatCommand(command: EngineCommand): string | undefined {
  switch (command.kind) {
    case 'roleChanged': {
      const reason = command.stepDownReason === undefined ? '' : ` (${command.stepDownReason})`;
      return `is ${roleName(command.role)} t${command.term}${reason}`;
    }
    case 'commit':
      return `commits ${command.commitIndex}`;
    case 'appendEntries':
      return command.truncateFrom === undefined ? undefined : `truncates ${command.truncateFrom}`;
    case 'configurationInForce':
      return `configuration ${formatConfiguration(command.configuration)}`;
    case 'leaderReady':
      return `is ready at ${command.startIndex}`;
    case 'readReady':
      return `read ${command.readId} at ${command.readIndex}`;
    case 'readFailed':
      return `read ${command.readId} failed: ${command.reason}`;
    case 'configurationDone':
      return `change ${command.requestId} done`;
    case 'configurationFailed':
      return `change ${command.requestId} failed: ${formatFailure(command.failure)}`;
    case 'transferDone':
      return `transfer ${command.requestId} done`;
    case 'transferFailed':
      return `transfer ${command.requestId} failed: ${formatFailure(command.failure)}`;
    case 'closeDivision':
      return `closes: ${command.reason}`;
    case 'extendedNoLeader':
    case 'becameRunning':
      return command.kind;
    case 'followerSlow':
      return `finds ${command.peerId} slow`;
    case 'failAppend':
      return 'message' in command.failure ? `refuses: ${command.failure.message}` : undefined;
    default:
      return undefined;
  }
}

/** Messages under way between the nodes of a script, and the trace of what happens. */
export class ScriptNetwork implements NodeHost {
  nowMs = 0;
  showHeartbeats = false;
  readonly nodes = new Map<string, SimNode>();
  readonly isolated = new Set<string>();
  private pending: Message[] = [];
  private trace: string[] = [];

  print(line: string): void {
    this.trace.push(line);
  }

  takeTrace(): string[] {
    return this.trace.splice(0);
  }

  send(message: Message): void {
    const lost = this.isolated.has(message.from) || this.isolated.has(message.to);
    if (!lost) this.pending.push(message);
  }

  onPersisted(): void {}

  onCommand(node: SimNode, command: EngineCommand): void {
    const text = formatCommand(command);
    if (text !== undefined) this.print(`${node.id} ${text}`);
  }

  private isShown(message: Message): boolean {
    if (this.showHeartbeats || !('isHeartbeat' in message) || !message.isHeartbeat) return true;
    return (
      message.kind === 'appendReply' &&
      (typeof message.reply === 'string' || message.reply.result !== 0)
    );
  }

  /**
   * Delivers what is under way on a path like `n1->n2`, `n1->*`, or everything, and what follows
   * from it; at most `limit` messages.
   */
  deliver(path: string, limit: number): void {
    for (let delivered = 0; delivered < limit; delivered++) {
      const message = this.take(path);
      if (message === undefined) return;
      if (this.isShown(message)) this.print(formatMessage(message));
      this.nodes.get(message.to)?.receive(message);
    }
  }

  /** Loses what is under way: calls fail, streams break. */
  drop(path: string): void {
    const lost: Message[] = [];
    for (let m = this.take(path); m !== undefined; m = this.take(path)) lost.push(m);
    for (const message of lost) {
      this.print(`lost: ${formatMessage(message)}`);
      const { from, to } = message;
      if (message.kind === 'vote') {
        const { incarnation, electionId } = message;
        const call = { from: to, to: from, incarnation, electionId, reply: undefined };
        this.nodes.get(from)?.receive({ kind: 'voteReply', ...call });
      } else if (message.kind === 'append') {
        const { callId, isHeartbeat } = message;
        this.nodes.get(from)?.endStream(to, { callId, isHeartbeat });
      }
    }
  }

  private take(path: string): Message | undefined {
    const [from, to] = path.split('->');
    const matches = (m: Message): boolean =>
      path === 'all' || ((from === '*' || from === m.from) && (to === '*' || to === m.to));
    const at = this.pending.findIndex(matches);
    return at < 0 ? undefined : this.pending.splice(at, 1)[0];
  }

  /** Time passes up to the next deadline; false when there is none before the limit. */
  private advanceTo(limitMs: number): boolean {
    const next = Math.min(...[...this.nodes.values()].map((node) => node.deadlineMs()));
    if (next > limitMs) {
      this.nowMs = limitMs;
      return false;
    }
    this.nowMs = Math.max(this.nowMs, next);
    for (const node of this.nodes.values()) if (node.deadlineMs() <= this.nowMs) node.wake();
    return true;
  }

  /** Time passes; messages stay under way unless they are delivered at once. */
  advance(ms: number, delivers: boolean): void {
    const limitMs = this.nowMs + ms;
    do {
      if (delivers) this.deliver('all', Number.POSITIVE_INFINITY);
    } while (this.advanceTo(limitMs));
    if (delivers) this.deliver('all', Number.POSITIVE_INFINITY);
  }

  /** Nothing runs for a while: everything that was due comes late. */
  stall(ms: number): void {
    this.nowMs += ms;
  }

  printState(): void {
    for (const { id, engine, up } of this.nodes.values()) {
      const { role, currentTerm, votedFor, leaderId, commitIndex, flushIndex, lastIndex } = engine;
      const life = up ? engine.lifeCycle : 'down';
      const start = `${id} ${life} ${roleName(role)} t${currentTerm} vote=${votedFor ?? '-'}`;
      const log = `commit=${commitIndex} flush=${flushIndex} last=${lastIndex}`;
      this.print(`${start} leader=${leaderId ?? '-'} ${log}`);
      for (const f of engine.followers(this.nowMs)) {
        this.print(
          `  ${f.peerId} next=${f.nextIndex} match=${f.matchIndex} commit=${f.commitIndex}`,
        );
      }
    }
  }

  printLog(id: string): void {
    const node = this.nodes.get(id);
    this.print(`${id} [${node?.disk.log.map(formatEntry).join(' ')}]`);
  }
}
