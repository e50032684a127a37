import type { AlreadyClosedException } from '../protocol/exceptions.js';
import type { RaftPeerId } from '../protocol/ids.js';
import { DUMMY_CONTENT, type RaftClientReply, type RequestType } from '../protocol/requests.js';
import type { ClientCore } from './client-core.js';
import { Deque } from './deque.js';
import { OrderedCall } from './ordered-call.js';
import { DUMMY_WATCH } from './request-types.js';
import { SlidingWindow } from './sliding-window.js';

interface Waiting {
  readonly call: OrderedCall;
  readonly window: SlidingWindow;
}

/**
 * The ordered path: permits, and one sliding window for the leader and for each named server (spec:
 * client 9). Requests beyond the permits wait here in the order of the calls.
 *
 * An abort rejects the promise at once. A request that has its number already stays in its window,
 * so that order is kept: it may still be carried out. One that waits for a permit is never sent.
 */
export class OrderedAsync {
  readonly #core: ClientCore;
  readonly #windows = new Map<RaftPeerId | undefined, SlidingWindow>();
  readonly #waiting = new Deque<Waiting>();
  #permits: number;
  #dummySent: boolean;
  #granting = false;

  constructor(core: ClientCore) {
    this.#core = core;
    this.#permits = core.settings.maxOutstandingRequests;
    this.#dummySent = !core.settings.sendDummyRequest;
    core.addOutstanding(this);
  }

  /**
   * Sends one request in order. Rejects with the reply's exception, or with what ended the
   * attempts.
   */
  send(
    type: RequestType,
    content: Uint8Array | undefined,
    serverId: RaftPeerId | undefined,
    signal: AbortSignal | undefined,
  ): Promise<RaftClientReply> {
    const call = new OrderedCall(type, content, serverId === undefined, false);
    const refusal = this.#core.refusalOf(content);
    if (refusal !== undefined) {
      call.reject(refusal);
      return call.promise;
    }
    if (signal !== undefined) {
      call.listenTo(signal, undefined);
      if (call.isSettled) return call.promise;
    }
    const window = this.#windowOf(serverId);
    if (!this.#dummySent) this.#sendDummy(serverId, window);
    this.#enter(call, window);
    return call.promise;
  }

  onClientClosed(error: AlreadyClosedException): void {
    for (const { call } of this.#waiting.takeFrom(0)) call.reject(error);
    for (const window of this.#windows.values()) window.close(error);
  }

  #sendDummy(serverId: RaftPeerId | undefined, window: SlidingWindow): void {
    this.#dummySent = true;
    const dummy = new OrderedCall(DUMMY_WATCH, DUMMY_CONTENT, serverId === undefined, true);
    dummy.promise.catch((error: Error) => {
      this.#core.logger.log('debug', 'the first request of the client failed', { error });
    });
    this.#enter(dummy, window);
  }

  #windowOf(serverId: RaftPeerId | undefined): SlidingWindow {
    let window = this.#windows.get(serverId);
    if (window === undefined) {
      window = new SlidingWindow(this.#core, serverId, () => this.#release());
      this.#windows.set(serverId, window);
    }
    return window;
  }

  #enter(call: OrderedCall, window: SlidingWindow): void {
    if (this.#permits === 0 || this.#waiting.length > 0) {
      this.#waiting.push({ call, window });
      return;
    }
    this.#permits--;
    this.#submit(call, window);
  }

  #submit(call: OrderedCall, window: SlidingWindow): void {
    call.callId = this.#core.callIds.next();
    call.repliedCallIds = this.#core.takeReplied(call.toLeader);
    window.submit(call);
  }

  /**
   * Gives the permit back and hands it on. A loop, not a recursion: a dead window gives its permits
   * back at once.
   */
  #release(): void {
    this.#permits++;
    if (this.#granting) return;
    this.#granting = true;
    while (this.#permits > 0) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      if (next.call.isSettled) continue; // aborted
      this.#permits--;
      this.#submit(next.call, next.window);
    }
    this.#granting = false;
  }
}
