import type { RpcServer, RpcTransport, ServiceDefinition, TlsOptions } from '../rpc/transport.js';
import type { ServerConfig } from './server-config.js';

/**
 * TLS by purpose; an unset one falls back to `default`, and that to plain text (spec: wire-grpc
 * 9.2).
 */
export interface TlsSlots {
  readonly default?: TlsOptions;
  readonly server?: TlsOptions;
  readonly client?: TlsOptions;
  readonly admin?: TlsOptions;
}

/** The three services of a server. */
export interface Services {
  readonly server: ServiceDefinition;
  readonly client: ServiceDefinition;
  readonly admin: ServiceDefinition;
}

export interface BoundAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * The listeners of a server: the main one, and own ones for clients and administration where these
 * have ports of their own (spec: wire-grpc 3.2).
 */
export class Listeners {
  readonly #main: RpcServer;
  readonly #client: RpcServer;
  readonly #admin: RpcServer;

  constructor(transport: RpcTransport, config: ServerConfig, tls: TlsSlots, services: Services) {
    const { listeners } = config;
    const limits = config.transport;
    const create = (address: { host: string | undefined; port: number }, slot?: TlsOptions) =>
      transport.createServer({ ...address, tls: slot ?? tls.default, limits });
    const hasOwn = (port: number) => port > 0 && port !== listeners.server.port;
    this.#main = create(listeners.server, tls.server);
    this.#client = hasOwn(listeners.client.port)
      ? create(listeners.client, tls.client)
      : this.#main;
    this.#admin = hasOwn(listeners.admin.port) ? create(listeners.admin, tls.admin) : this.#main;
    this.#main.addService(services.server);
    this.#client.addService(services.client);
    this.#admin.addService(services.admin);
  }

  get serverAddress(): BoundAddress {
    return this.#main.address;
  }

  get clientAddress(): BoundAddress {
    return this.#client.address;
  }

  get adminAddress(): BoundAddress {
    return this.#admin.address;
  }

  /** Rejects when one can't be bound; none listens then. */
  async listen(): Promise<void> {
    try {
      for (const server of this.#all()) await server.listen();
    } catch (error) {
      await this.close(0);
      throw error;
    }
  }

  async close(graceMs: number): Promise<void> {
    await Promise.all(this.#all().map((server) => server.close(graceMs)));
  }

  #all(): RpcServer[] {
    return [...new Set([this.#main, this.#client, this.#admin])];
  }
}
