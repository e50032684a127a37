import { InvalidArgumentError } from '../../common/errors.js';

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Splits `host:port` or `[IPv6]:port`. Throws InvalidArgumentError. */
export function parseTarget(text: string): Target {
  const match = /^(?:\[([0-9a-fA-F:.]+(?:%[\w.-]+)?)\]|([^:[\]/\s]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || !(port > 0 && port < 65_536)) {
    throw new InvalidArgumentError(`not an address of the form host:port: ${JSON.stringify(text)}`);
  }
  return { host, port };
}
