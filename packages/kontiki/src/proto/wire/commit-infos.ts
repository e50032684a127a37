import { MalformedMessageError } from './errors.js';
import { joinSerialized } from './merge.js';
import type { Reader } from './reader.js';
import type { CommitInfoMessage } from './types.js';
import { lengthFieldSize, numberFieldSize, type Writer } from './writer.js';

const EMPTY = new Uint8Array(0);
/** More than any group has members: what is beyond is an attack on memory. */
const MAX_COMMIT_INFOS = 10_000;
/** Tag of field 15, where all messages have their commit infos. */
export const COMMIT_INFO_TAG = 0x7a;

/** The array shared by all messages without commit infos. */
export const NO_COMMIT_INFOS: readonly CommitInfoMessage[] = [];

function commitInfoSize(info: CommitInfoMessage): number {
  return lengthFieldSize(info.server.length) + numberFieldSize(info.commitIndex);
}

export function commitInfosSize(infos: readonly CommitInfoMessage[]): number {
  let size = 0;
  for (let i = 0; i < infos.length; i++) {
    size += lengthFieldSize(commitInfoSize(infos[i] as CommitInfoMessage));
  }
  return size;
}

export function writeCommitInfos(writer: Writer, infos: readonly CommitInfoMessage[]): void {
  for (let i = 0; i < infos.length; i++) {
    const info = infos[i] as CommitInfoMessage;
    writer.head(COMMIT_INFO_TAG, commitInfoSize(info));
    writer.lengthField(0x0a, info.server);
    writer.numberField(0x10, info.commitIndex);
  }
}

/** Reads one CommitInfoProto and adds it; returns the list to go on with. */
export function readCommitInfo(
  reader: Reader,
  list: readonly CommitInfoMessage[],
): CommitInfoMessage[] {
  const infos = list === NO_COMMIT_INFOS ? [] : (list as CommitInfoMessage[]);
  if (infos.length >= MAX_COMMIT_INFOS) throw new MalformedMessageError('too many commit infos');
  let server: Uint8Array | undefined;
  let commitIndex = 0;
  const outer = reader.enter();
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) server = joinSerialized(server, reader.view());
    else if (tag === 0x10) commitIndex = reader.safeInteger();
    else reader.skip(tag);
  }
  reader.leave(outer);
  infos.push({ server: server ?? EMPTY, commitIndex });
  return infos;
}
