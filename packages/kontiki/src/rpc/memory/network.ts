import { formatAddress, ListenError } from '../listen-error.js';
import type { MemoryServer } from './server.js';

/** Ports that are given out for port 0 start here. */
const FIRST_FREE_PORT = 49_152;

/**
 * The addresses of the servers in one process. Transports that share a network reach one another.
 */
export class MemoryNetwork {
  readonly #servers = new Map<string, MemoryServer>();
  #nextPort = FIRST_FREE_PORT;
  #nextClient = 1;

  /** The server that listens at `host:port`. */
  find(target: string): MemoryServer | undefined {
    return this.#servers.get(target);
  }

  /**
   * Registers a server; port 0 picks a free one, no host means `localhost`. Throws ListenError when
   * the address is taken.
   */
  bind(host: string | undefined, port: number, server: MemoryServer) {
    const address = { host: host ?? 'localhost', port: port === 0 ? this.#freePort(host) : port };
    const key = formatAddress(address.host, address.port);
    if (this.#servers.has(key)) {
      const taken = Object.assign(new Error('address already in use'), { code: 'EADDRINUSE' });
      throw new ListenError(host, port, taken);
    }
    this.#servers.set(key, server);
    return address;
  }

  unbind(server: MemoryServer): void {
    for (const [key, known] of this.#servers) {
      if (known === server) this.#servers.delete(key);
    }
  }

  /** What servers see as the address of the next channel. */
  nextClientAddress(): string {
    return `memory:${this.#nextClient++}`;
  }

  #freePort(host: string | undefined): number {
    while (this.#servers.has(formatAddress(host ?? 'localhost', this.#nextPort))) this.#nextPort++;
    return this.#nextPort++;
  }
}
