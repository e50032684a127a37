import type { Timer, Timers } from '../common/runtime.js';
import { RaftIOException, TimeoutIOException } from '../protocol/exceptions.js';
import type { InstallSnapshotReply, InstallSnapshotRequest } from '../protocol/server-messages.js';
import type { InstallStream, InstallStreamListener } from '../rpc/ratis/server/install-stream.js';

export interface SnapshotNotifierOptions {
  readonly request: InstallSnapshotRequest;
  readonly timeoutMs: number;
  readonly timers: Timers;
  open(listener: InstallStreamListener): InstallStream;
  /** Called once, unless it was stopped: the reply, or why there is none. */
  onEnd(reply: InstallSnapshotReply | undefined, error: Error | undefined): void;
}

/** Tells a follower once that it has to fetch a snapshot (spec: consensus 5.4). */
export class SnapshotNotifier implements InstallStreamListener {
  readonly #options: SnapshotNotifierOptions;
  readonly #stream: InstallStream;
  readonly #timer: Timer;
  #over = false;

  constructor(options: SnapshotNotifierOptions) {
    this.#options = options;
    this.#stream = options.open(this);
    this.#timer = options.timers.schedule(options.timeoutMs, () => {
      this.#end(undefined, new TimeoutIOException('a notification is not answered'));
    });
    this.#stream.send(options.request);
    this.#stream.halfClose();
  }

  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#timer.cancel();
    this.#stream.cancel();
  }

  onReply(reply: InstallSnapshotReply): void {
    if (reply.body?.kind === 'snapshotIndex') this.#end(reply, undefined);
    else this.#end(undefined, new RaftIOException('the reply is not one to a notification'));
  }

  onDrain(): void {
    // There is only one request.
  }

  onEnd(error: Error | undefined): void {
    this.#end(undefined, error ?? new RaftIOException('the follower hung up'));
  }

  #end(reply: InstallSnapshotReply | undefined, error: Error | undefined): void {
    if (this.#over) return;
    this.stop();
    this.#options.onEnd(reply, error);
  }
}
