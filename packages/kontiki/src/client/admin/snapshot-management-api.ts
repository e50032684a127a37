import { InvalidArgumentError } from '../../common/errors.js';
import type { RaftPeerId } from '../../protocol/ids.js';
import type { RaftClientReply } from '../../protocol/requests.js';
import type { ClientCore } from '../client-core.js';
import type { CallOptions } from '../request-types.js';
import { sendAdmin } from './admin-call.js';

export interface SnapshotOptions extends CallOptions {
  /** Takes one although nearly nothing was applied since the last: a gap of 1. */
  readonly force?: boolean;
  /**
   * Entries that must have been applied since the last snapshot; 0 (the default) is the server's
   * setting.
   */
  readonly creationGap?: number;
}

/** Snapshots of one server, or of the leader (spec: client 3, 15). */
export class SnapshotManagementApi {
  readonly #core: ClientCore;
  readonly #serverId: RaftPeerId | undefined;

  constructor(core: ClientCore, serverId: RaftPeerId | undefined) {
    this.#core = core;
    this.#serverId = serverId;
  }

  /**
   * Has a snapshot taken; the reply's log index is the snapshot's, an older one when too little was
   * applied since. An attempt that the server does not finish within `timeoutMs` counts as failed.
   */
  async create(timeoutMs: number, options?: SnapshotOptions): Promise<RaftClientReply> {
    const creationGap = options?.force === true ? 1 : (options?.creationGap ?? 0);
    if (!Number.isSafeInteger(creationGap) || creationGap < 0) {
      throw new InvalidArgumentError(`creationGap ${creationGap} is negative or no whole number`);
    }
    return sendAdmin(this.#core, {
      operation: { kind: 'snapshotCreate', creationGap },
      serverId: this.#serverId,
      toLeader: this.#serverId === undefined,
      timeoutMs,
      signal: options?.signal,
    });
  }
}
