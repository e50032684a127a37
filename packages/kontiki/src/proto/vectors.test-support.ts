import { readFileSync } from 'node:fs';
import type { DescMessage } from '@bufbuild/protobuf';
import * as admin from './gen/ratis/common/admin_pb.js';
import * as client from './gen/ratis/common/client_pb.js';
import * as server from './gen/ratis/common/server_pb.js';

/** A recorded or computed message: its protobuf bytes and its JSON form. */
export interface Vector {
  readonly name: string;
  /** Message name, such as `RaftClientRequestProto`. */
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly json: unknown;
}

const DATA = new URL('../../test-data/', import.meta.url);

export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}

export function readTestData(path: string): Uint8Array {
  return Uint8Array.from(readFileSync(new URL(path, DATA)));
}

/** All messages of `vectors/grpc-messages.tsv`, or those of one type. */
export function loadVectors(type?: string): Vector[] {
  const text = readFileSync(new URL('vectors/grpc-messages.tsv', DATA), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [name = '', messageType = '', hex = '', json = ''] = line.split('\t');
      return { name, type: messageType, bytes: fromHex(hex), json: JSON.parse(json) as unknown };
    })
    .filter((vector) => type === undefined || vector.type === type);
}

/** The generated description of a message that a method takes or gives. */
export function schemaOf(type: string): DescMessage {
  const all: Readonly<Record<string, unknown>> = { ...admin, ...client, ...server };
  const schema = all[`${type}Schema`];
  if (schema === undefined) throw new Error(`no schema of ${type}`);
  return schema as DescMessage;
}
