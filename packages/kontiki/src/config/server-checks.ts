import { ConfigurationError } from './errors.js';
import type { RaftProperties } from './raft-properties.js';
import type { KeyName } from './registry.js';

const MEBIBYTE = 1024 * 1024;
/** Bytes around an entry in the log: its length and its checksum. */
const RECORD_OVERHEAD_BYTES = 8;

function reject(
  properties: RaftProperties,
  keys: readonly [KeyName, KeyName],
  rule: string,
): never {
  const [first, second] = keys;
  const shown = (key: KeyName): string => `${key} = ${String(properties.get(key))}`;
  throw new ConfigurationError(first, `${shown(first)} and ${shown(second)}: ${rule}`);
}

function checkTimeouts(properties: RaftProperties): void {
  const pairs = [
    ['raft.server.rpc.timeout.max', 'raft.server.rpc.timeout.min'],
    ['raft.server.rpc.first-election.timeout.max', 'raft.server.rpc.first-election.timeout.min'],
  ] as const;
  for (const [max, min] of pairs) {
    if (properties.get(max) < properties.get(min)) {
      reject(properties, [max, min], 'the first must be at least the second');
    }
  }
}

function checkSizes(properties: RaftProperties): void {
  const entryLimitKey = 'raft.server.log.appender.buffer.byte-limit';
  const entryLimit = properties.get(entryLimitKey);
  const bufferKey = 'raft.server.log.write.buffer.size';
  if (properties.get(bufferKey) < entryLimit + RECORD_OVERHEAD_BYTES) {
    const rule = `the first must exceed the second by ${RECORD_OVERHEAD_BYTES} or more`;
    reject(properties, [bufferKey, entryLimitKey], rule);
  }
  const messageKey = 'raft.grpc.message.size.max';
  if (properties.get('raft.rpc.type') !== 'GRPC') return;
  if (properties.get(messageKey) < entryLimit + MEBIBYTE) {
    reject(properties, [messageKey, entryLimitKey], 'the first must exceed the second by 1MB');
  }
}

function checkFlush(properties: RaftProperties): void {
  const asyncKey = 'raft.server.log.async-flush.enabled';
  const unsafeKey = 'raft.server.log.unsafe-flush.enabled';
  if (properties.get(asyncKey) && properties.get(unsafeKey)) {
    reject(properties, [asyncKey, unsafeKey], 'both cannot be true');
  }
}

function checkWatch(properties: RaftProperties): void {
  const timeoutKey = 'raft.server.watch.timeout';
  const stepKey = 'raft.server.watch.timeout.denomination';
  // Whole nanoseconds, as fractions of milliseconds do not divide exactly.
  const nanos = (key: typeof timeoutKey | typeof stepKey): bigint =>
    BigInt(Math.round(properties.get(key) * 1e6));
  if (nanos(timeoutKey) % nanos(stepKey) !== 0n) {
    reject(properties, [timeoutKey, stepKey], 'the first must be a multiple of the second');
  }
}

function checkRatios(properties: RaftProperties): void {
  const leaseKey = 'raft.server.read.leader.lease.timeout.ratio';
  const lease = properties.get(leaseKey);
  if (lease <= 0) throw new ConfigurationError(leaseKey, `${leaseKey} = ${lease} is non-positive.`);
  const gapKey = 'raft.server.write.follower.gap.ratio.max';
  const gap = properties.get(gapKey);
  if (gap !== -1 && gap <= 0) {
    throw new ConfigurationError(gapKey, `${gapKey} = ${gap} is neither -1 nor in (0, 1]`);
  }
}

function checkPools(properties: RaftProperties): void {
  const pools = [
    'raft.server.threadpool.proxy',
    'raft.server.threadpool.server',
    'raft.server.threadpool.client',
    'raft.server.data-stream.async.request.thread.pool',
    'raft.grpc.server.async.request.thread.pool',
  ] as const;
  for (const pool of pools) {
    const cachedKey = `${pool}.cached` as const;
    const sizeKey = `${pool}.size` as const;
    if (!properties.get(cachedKey) && properties.get(sizeKey) <= 0) {
      reject(properties, [sizeKey, cachedKey], 'a pool that does not grow needs a size above 0');
    }
  }
}

/**
 * Checks what several keys of a server must satisfy together, before it starts (spec: config 7).
 * Throws ConfigurationError naming both keys, their values and the rule.
 */
export function checkServerProperties(properties: RaftProperties): void {
  properties.validate();
  checkTimeouts(properties);
  checkSizes(properties);
  checkFlush(properties);
  checkWatch(properties);
  checkRatios(properties);
  checkPools(properties);
}
