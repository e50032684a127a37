import { KontikiError, messageOf } from '../common/errors.js';

/** A server could not bind its address: in use, no permission, no such interface. */
export class ListenError extends KontikiError {
  readonly code = 'KONTIKI_LISTEN_FAILED';

  constructor(host: string | undefined, port: number, cause: unknown) {
    super(`cannot listen on ${formatAddress(host ?? '*', port)}: ${reasonOf(cause)}`, { cause });
  }
}

/** `host:port`, with brackets around an IPv6 address. */
export function formatAddress(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EACCES: 'permission denied',
  EADDRNOTAVAIL: 'no such local address',
  ENOTFOUND: 'host name not found',
};

function reasonOf(cause: unknown): string {
  const code = (cause as { code?: unknown } | undefined)?.code;
  const known = typeof code === 'string' ? REASONS[code] : undefined;
  return known === undefined ? messageOf(cause) : `${known} (${String(code)})`;
}
