import { type DescMessage, fromBinary } from '@bufbuild/protobuf';
import {
  flatAppendReply,
  flatAppendRequest,
  flatClientReply,
  flatClientRequest,
} from './flatten.test-support.js';
import {
  RaftClientReplyProtoSchema,
  RaftClientRequestProtoSchema,
} from './gen/ratis/common/client_pb.js';
import {
  AppendEntriesReplyProtoSchema,
  AppendEntriesRequestProtoSchema,
} from './gen/ratis/common/server_pb.js';
import {
  decodeAppendEntriesReply,
  decodeAppendEntriesRequest,
  decodeClientReply,
  decodeClientRequest,
  encodeAppendEntriesReply,
  encodeAppendEntriesRequest,
  encodeClientReply,
  encodeClientRequest,
} from './wire/index.js';

/** Both codecs of one hot message. */
export interface HotMessage {
  readonly type: string;
  readonly schema: DescMessage;
  /** By the hand codec. */
  readonly decode: (bytes: Uint8Array) => unknown;
  /** Decodes and encodes by the hand codec. */
  readonly recode: (bytes: Uint8Array) => Uint8Array;
  /** By the generated codec, in the hand codec's form. */
  readonly flatten: (bytes: Uint8Array) => unknown;
}

export function joinParts(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

function recodeAppend(bytes: Uint8Array): Uint8Array {
  const message = decodeAppendEntriesRequest(bytes);
  return joinParts(encodeAppendEntriesRequest(message, message.entries));
}

export const HOT_MESSAGES: readonly HotMessage[] = [
  {
    type: 'RaftClientRequestProto',
    schema: RaftClientRequestProtoSchema,
    decode: decodeClientRequest,
    recode: (bytes) => encodeClientRequest(decodeClientRequest(bytes)),
    flatten: (bytes) => flatClientRequest(fromBinary(RaftClientRequestProtoSchema, bytes)),
  },
  {
    type: 'RaftClientReplyProto',
    schema: RaftClientReplyProtoSchema,
    decode: decodeClientReply,
    recode: (bytes) => encodeClientReply(decodeClientReply(bytes)),
    flatten: (bytes) => flatClientReply(fromBinary(RaftClientReplyProtoSchema, bytes)),
  },
  {
    type: 'AppendEntriesRequestProto',
    schema: AppendEntriesRequestProtoSchema,
    decode: decodeAppendEntriesRequest,
    recode: recodeAppend,
    flatten: (bytes) => flatAppendRequest(fromBinary(AppendEntriesRequestProtoSchema, bytes)),
  },
  {
    type: 'AppendEntriesReplyProto',
    schema: AppendEntriesReplyProtoSchema,
    decode: decodeAppendEntriesReply,
    recode: (bytes) => encodeAppendEntriesReply(decodeAppendEntriesReply(bytes)),
    flatten: (bytes) => flatAppendReply(fromBinary(AppendEntriesReplyProtoSchema, bytes)),
  },
];
