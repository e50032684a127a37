import type { RaftClient } from '../../client/index.js';
import type { RaftPeerId } from '../../protocol/ids.js';
import { decodeCounterValue, GET, INCREMENT } from './messages.js';

/**
 * How an increment is sent: one by one, each with a stream of its own, or all on the ordered
 * stream.
 */
export type IncrementMode = 'IO' | 'ASYNC';

/** Adds one, in order with the client's other asynchronous writes; the new value. */
export async function increment(client: RaftClient): Promise<number> {
  const reply = await client.async().send(INCREMENT);
  return decodeCounterValue(reply.message);
}

/** Adds `count`; the value after the last one. Both modes carry them out one after another. */
export async function incrementMany(
  client: RaftClient,
  count: number,
  mode: IncrementMode,
): Promise<number> {
  let value = 0;
  if (mode === 'IO') {
    for (let i = 0; i < count; i++) {
      value = decodeCounterValue((await client.io().send(INCREMENT)).message);
    }
    return value;
  }
  const outstanding: Promise<number>[] = [];
  for (let i = 0; i < count; i++) outstanding.push(increment(client));
  for (const one of await Promise.all(outstanding)) value = one;
  return value;
}

/** The value, by a linearizable read: at the leader, or at one server. */
export async function getCounter(client: RaftClient, serverId?: RaftPeerId): Promise<number> {
  const options = serverId === undefined ? {} : { serverId };
  return decodeCounterValue((await client.io().sendReadOnly(GET, options)).message);
}
