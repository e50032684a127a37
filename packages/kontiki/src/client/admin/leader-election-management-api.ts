import type { RaftPeerId } from '../../protocol/ids.js';
import type { AdminOperation, RaftClientReply } from '../../protocol/requests.js';
import type { ClientCore } from '../client-core.js';
import type { CallOptions } from '../request-types.js';
import { sendAdmin } from './admin-call.js';

/** Whether one server may start elections (spec: client 3, 15). */
export class LeaderElectionManagementApi {
  readonly #core: ClientCore;
  readonly #serverId: RaftPeerId;

  constructor(core: ClientCore, serverId: RaftPeerId) {
    this.#core = core;
    this.#serverId = serverId;
  }

  /** The server starts no elections until it is resumed. */
  pause(options?: CallOptions): Promise<RaftClientReply> {
    return this.#send({ kind: 'electionPause' }, options);
  }

  resume(options?: CallOptions): Promise<RaftClientReply> {
    return this.#send({ kind: 'electionResume' }, options);
  }

  #send(operation: AdminOperation, options: CallOptions | undefined): Promise<RaftClientReply> {
    return sendAdmin(this.#core, {
      operation,
      serverId: this.#serverId,
      toLeader: false,
      signal: options?.signal,
    });
  }
}
