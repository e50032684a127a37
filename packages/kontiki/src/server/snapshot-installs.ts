import { messageOf, toError } from '../common/errors.js';
import type { InstallTicket } from '../core/types.js';
import type { RaftConfiguration } from '../protocol/configuration.js';
import { ServerNotReadyException } from '../protocol/exceptions.js';
import { type InstallSnapshotRequest, InstallSnapshotResult } from '../protocol/server-messages.js';
import type { InstallSnapshotAnswer, Outcome } from '../rpc/ratis/server/handler.js';
import { ChunkReceiver } from './chunk-receiver.js';
import type { DivisionParts } from './division-parts.js';
import { NotifiedInstalls } from './notified-installs.js';
import { SnapshotReload, type SnapshotReloadHooks } from './snapshot-reload.js';

type Done = Outcome<InstallSnapshotAnswer>;

/** Whether the result counts as success on the wire (spec: consensus 5.4). */
const SUCCESSES: readonly number[] = [
  InstallSnapshotResult.SUCCESS,
  InstallSnapshotResult.ALREADY_INSTALLED,
  InstallSnapshotResult.SNAPSHOT_INSTALLED,
];

/** A leader's snapshot requests, one after the other (spec: consensus 5.3, 5.4). */
export class SnapshotInstalls {
  readonly #parts: DivisionParts;
  readonly #reload: SnapshotReload;
  readonly #chunks: ChunkReceiver;
  readonly #notified: NotifiedInstalls;
  readonly #open = new Set<Done>();
  #last: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(
    parts: DivisionParts,
    hooks: SnapshotReloadHooks & {
      /** Linearizable reads that wait here can't be served while the state is fetched. */
      failReads(): void;
    },
  ) {
    this.#parts = parts;
    this.#reload = new SnapshotReload(parts, hooks);
    this.#chunks = new ChunkReceiver(parts, this.#reload);
    this.#notified = new NotifiedInstalls(parts, this.#reload, () => hooks.failReads());
  }

  /** A snapshot is being fetched or put in place: none is taken meanwhile (spec: consensus 5.2). */
  get inProgress(): boolean {
    return this.#notified.inProgress || this.#reload.isActive;
  }

  submit(request: InstallSnapshotRequest, done: Done): void {
    this.#open.add(done);
    const settle = (error: Error | undefined, answer: InstallSnapshotAnswer | undefined): void => {
      if (this.#open.delete(done)) done(error, answer);
    };
    if (this.#closed) {
      settle(this.#notReady(), undefined);
      return;
    }
    this.#last = this.#last
      .then(() => this.#serve(request))
      .then(
        (answer) => settle(undefined, answer),
        (error) => settle(toError(error), undefined),
      );
  }

  /** The division closes: whoever waits is told; resolves when nothing is written any more. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const done of this.#open) done(this.#notReady(), undefined);
    this.#open.clear();
    await this.#last;
    await this.#chunks.abandon();
  }

  async #serve(request: InstallSnapshotRequest): Promise<InstallSnapshotAnswer> {
    const { engine, config } = this.#parts;
    if (this.#closed) throw this.#notReady();
    const { body } = request;
    const wanted = config.snapshot.install.chunksEnabled ? 'chunk' : 'notification';
    if (body === undefined || body.kind !== wanted) {
      const result = InstallSnapshotResult.CONF_MISMATCH;
      return answerOf(engine.currentTerm, result, { kind: 'snapshotIndex', snapshotIndex: 0 });
    }
    const ticket = await this.#begin(request);
    const indexBody = (index: number) =>
      body.kind === 'chunk'
        ? ({ kind: 'requestIndex', requestIndex: body.requestIndex } as const)
        : ({ kind: 'snapshotIndex', snapshotIndex: Math.max(0, index) } as const);
    if (!ticket.accepted) {
      return answerOf(ticket.term, InstallSnapshotResult.NOT_LEADER, indexBody(0));
    }
    try {
      const [result, index] =
        body.kind === 'chunk'
          ? [await this.#chunks.take(request.leaderTerm, body), 0]
          : await this.#notified.take(request, body.firstAvailable);
      await this.#adopt(request.lastConfiguration);
      return answerOf(ticket.term, result, indexBody(index));
    } finally {
      this.#parts.submit(() => engine.endInstall(ticket, this.#parts.nowMs()));
    }
  }

  #begin(request: InstallSnapshotRequest): Promise<InstallTicket> {
    const { engine, nowMs } = this.#parts;
    const { requestorId, leaderTerm } = request;
    return this.#reload.inTurn(() => engine.beginInstall(requestorId, leaderTerm, nowMs()));
  }

  /** Only what comes with an accepted request (spec: H-10); written before the answer leaves. */
  async #adopt(configuration: RaftConfiguration | undefined): Promise<void> {
    if (configuration === undefined) return;
    const { engine, nowMs, storage, stateMachine, logger } = this.#parts;
    const isNew = await this.#reload.inTurn(() =>
      engine.adoptConfiguration(configuration, nowMs()),
    );
    if (!isNew) return;
    await storage.persistConfiguration(configuration);
    try {
      const { index } = configuration;
      stateMachine.events?.notifyConfigurationChanged?.(0, index, configuration);
    } catch (error) {
      logger.log('error', `an event failed: ${messageOf(error)}`, { error });
    }
  }

  #notReady(): ServerNotReadyException {
    return new ServerNotReadyException(`${this.#parts.memberId} is closing`);
  }
}

function answerOf(
  term: number,
  result: InstallSnapshotResult,
  body: InstallSnapshotAnswer['body'],
): InstallSnapshotAnswer {
  return { success: SUCCESSES.includes(result), term, result, body };
}
