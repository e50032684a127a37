import { NumberOutOfRangeException } from '../../protocol/exceptions.js';
import type { CallId } from '../../protocol/ids.js';
import type { TermIndex } from '../../protocol/term-index.js';
import type { TermIndexProto } from '../gen/ratis/common/peers_pb.js';

/** A 64-bit field as it is kept: signed, a number while it is exact. */
export function toCallId(value: bigint): CallId {
  const signed = BigInt.asIntN(64, value);
  const number = Number(signed);
  return Number.isSafeInteger(number) ? number : signed;
}

/** A term, an index, a size or a time. Throws NumberOutOfRangeException beyond 2^53. */
export function toInteger(value: CallId): number {
  const number = typeof value === 'bigint' ? toCallId(value) : value;
  if (typeof number === 'number') return number;
  throw new NumberOutOfRangeException(`term or index out of range: ${value}`);
}

/** A number as an unsigned 64-bit field; -1 becomes 2^64-1. */
export function toUint64(value: CallId): bigint {
  return BigInt.asUintN(64, BigInt(value));
}

export function toTermIndex(proto: TermIndexProto): TermIndex {
  return { term: toInteger(proto.term), index: toInteger(proto.index) };
}

export function optionalTermIndex(proto: TermIndexProto | undefined): TermIndex | undefined {
  return proto === undefined ? undefined : toTermIndex(proto);
}

/** Fields of a TermIndexProto. */
export function termIndexFields(value: TermIndex): { term: bigint; index: bigint } {
  return { term: toUint64(value.term), index: toUint64(value.index) };
}
