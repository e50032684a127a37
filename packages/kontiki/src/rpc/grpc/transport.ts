import { type Logger, NULL_LOGGER } from '../../common/logger.js';
import type { Runtime } from '../../common/runtime.js';
import { nodeRuntime } from '../../runtime/node-runtime.js';
import type { ChannelOptions, RpcTransport, ServerOptions } from '../transport.js';
import { GrpcChannel } from './channel.js';
import { GrpcServer } from './server.js';

export interface GrpcTransportOptions {
  readonly runtime?: Runtime;
  readonly logger?: Logger;
}

/** gRPC over HTTP/2 in the calling thread, with `node:http2` (design: section 4). */
export class GrpcTransport implements RpcTransport {
  readonly #runtime: Runtime;
  readonly #logger: Logger;

  constructor(options: GrpcTransportOptions = {}) {
    this.#runtime = options.runtime ?? nodeRuntime();
    this.#logger = options.logger ?? NULL_LOGGER;
  }

  /**
   * Throws InvalidArgumentError for a bad target, TlsConfigurationError for an unusable TLS slot.
   */
  createChannel(target: string, options: ChannelOptions): GrpcChannel {
    return new GrpcChannel(target, options, this.#runtime);
  }

  /** Throws TlsConfigurationError for an unusable TLS slot. */
  createServer(options: ServerOptions): GrpcServer {
    return new GrpcServer(options, this.#runtime, this.#logger);
  }
}
