import { type Logger, NULL_LOGGER } from '../../common/logger.js';
import type { Runtime } from '../../common/runtime.js';
import type { ChannelOptions, RpcTransport, ServerOptions } from '../transport.js';
import { MemoryChannel } from './channel.js';
import { MemoryNetwork } from './network.js';
import { MemoryServer } from './server.js';

export interface MemoryTransportOptions {
  readonly runtime: Runtime;
  readonly logger?: Logger;
  /** Default: a network of its own. */
  readonly network?: MemoryNetwork;
}

/**
 * The transport contract inside one process, without sockets: for embedders and tests. Messages are
 * copied, because they belong to their receiver; TLS options are ignored.
 */
export class MemoryTransport implements RpcTransport {
  readonly network: MemoryNetwork;
  readonly #runtime: Runtime;
  readonly #logger: Logger;

  constructor(options: MemoryTransportOptions) {
    this.#runtime = options.runtime;
    this.#logger = options.logger ?? NULL_LOGGER;
    this.network = options.network ?? new MemoryNetwork();
  }

  createChannel(target: string, options: ChannelOptions): MemoryChannel {
    return new MemoryChannel(target, options, this.network, this.#runtime);
  }

  createServer(options: ServerOptions): MemoryServer {
    return new MemoryServer(options, this.network, this.#runtime, this.#logger);
  }
}
