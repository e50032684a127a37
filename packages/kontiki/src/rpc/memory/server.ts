import { InvalidArgumentError } from '../../common/errors.js';
import type { Logger } from '../../common/logger.js';
import type { Runtime } from '../../common/runtime.js';
import {
  type RpcServer,
  type ServerOptions,
  type ServiceDefinition,
  StatusCode,
  type StreamHandler,
} from '../transport.js';
import { unaryListener } from '../unary.js';
import type { MemoryNetwork } from './network.js';
import { local, type MemoryStream } from './stream.js';
import { StreamSet } from './stream-set.js';

/** Takes the caller's deadline and makes the handler of one stream. */
type Method = (timeoutMs: number | undefined) => StreamHandler;

/** A server at an address of a MemoryNetwork. */
export class MemoryServer implements RpcServer {
  readonly #options: ServerOptions;
  readonly #network: MemoryNetwork;
  readonly #methods = new Map<string, Method>();
  readonly #logger: Logger;
  readonly #streams: StreamSet;
  #address: { readonly host: string; readonly port: number } | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: ServerOptions, network: MemoryNetwork, runtime: Runtime, logger: Logger) {
    this.#options = options;
    this.#network = network;
    this.#logger = logger;
    this.#streams = new StreamSet(runtime.timers);
  }

  get address(): { readonly host: string; readonly port: number } {
    if (this.#address === undefined) throw new InvalidArgumentError('the server does not listen');
    return this.#address;
  }

  addService(service: ServiceDefinition): void {
    for (const [path, handler] of Object.entries(service.streams ?? {})) {
      this.#add(path, () => handler);
    }
    for (const [path, handler] of Object.entries(service.unary ?? {})) {
      this.#add(path, (timeoutMs) => (stream) => unaryListener(stream, timeoutMs, handler));
    }
  }

  async listen(): Promise<void> {
    this.#address = this.#network.bind(this.#options.host, this.#options.port, this);
  }

  close(graceMs: number): Promise<void> {
    if (this.#address !== undefined) this.#network.unbind(this);
    this.#closing ??= new Promise((resolve) => {
      this.#streams.close(graceMs, 'server closed', resolve);
    });
    return this.#closing;
  }

  /** One incoming stream. */
  take(stream: MemoryStream, path: string, timeoutMs: number | undefined): void {
    this.#streams.add(stream);
    const method = this.#methods.get(path);
    stream.accept(
      this.#options.limits,
      (serverStream) => {
        if (method !== undefined) return method(timeoutMs)(serverStream);
        serverStream.end(local(StatusCode.UNIMPLEMENTED, `method not found: ${path}`));
        return { onMessage: () => undefined, onEnd: () => undefined };
      },
      (error) => this.#logger.log('error', `handler of ${path} failed`, { error }),
    );
  }

  #add(path: string, method: Method): void {
    if (!/^\/[^/\s]+\/[^/\s]+$/.test(path)) {
      throw new InvalidArgumentError(`not a method path: ${JSON.stringify(path)}`);
    }
    if (this.#methods.has(path)) throw new InvalidArgumentError(`method ${path} is served already`);
    this.#methods.set(path, method);
  }
}
