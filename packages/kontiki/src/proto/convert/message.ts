import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { messageOf } from '../../common/errors.js';
import { MalformedMessageError } from '../wire/errors.js';

/** Parses a cold message with the generated code. Throws MalformedMessageError. */
export function parseMessage<T extends DescMessage>(schema: T, bytes: Uint8Array): MessageShape<T> {
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    throw new MalformedMessageError(`${schema.name}: ${messageOf(cause)}`, { cause });
  }
}

/** Serializes a cold message with the generated code. */
export function serialize<T extends DescMessage>(
  schema: T,
  fields: MessageInitShape<T>,
): Uint8Array {
  return toBinary(schema, create(schema, fields));
}
