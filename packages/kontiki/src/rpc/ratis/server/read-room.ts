import type { RaftClientRequest } from '../../../protocol/requests.js';

/**
 * Queries of one client stream that are under way, or answered and not sent. A query is small and
 * its reply may be large, so the bytes that come in do not bound those that go out.
 */
const READS_MAX = 128;

function isQuery({ type }: RaftClientRequest): boolean {
  return type.kind === 'read' || type.kind === 'staleRead';
}

/**
 * Says when a client stream has room for another query: a client that asks much and takes little
 * must not fill the memory (design: section 3). Writes have limits of their own.
 */
export class ReadRoom {
  /** The client does not take its replies as fast as they come. */
  isFull = false;
  #reads = 0;

  admits(request: RaftClientRequest): boolean {
    return !isQuery(request) || (!this.isFull && this.#reads < READS_MAX);
  }

  /** The request is carried out. */
  enter(request: RaftClientRequest): void {
    if (isQuery(request)) this.#reads++;
  }

  /** Its reply is sent. */
  leave(request: RaftClientRequest): void {
    if (isQuery(request)) this.#reads--;
  }
}
