/**
 * The hand codec of the hot messages: client requests and replies, AppendEntries, log entries.
 *
 * - Encoders write the canonical form, field by field in ascending order (spec: wire-grpc 2.2),
 *   into one buffer of the exact size. Results below 1 KiB are cut from a shared slab, so their
 *   `buffer` must not be transferred to another thread.
 * - Decoders never copy: byte fields are views on the frame, and whoever keeps one longer than the
 *   frame copies it. They allocate in proportion to the frame only.
 * - Unknown fields are skipped, except in log entries, which keep them. A scalar that occurs twice
 *   has its last value, a message that occurs twice is merged, of a oneof the last member stays.
 * - Entries have two forms (spec: storage 8). `stored` is what the log file holds; the wire form
 *   has the state machine data in the place of its size. An entry that arrives in another form than
 *   the canonical one is written anew.
 * - Decoders throw MalformedMessageError on truncated or hostile input, NumberOutOfRangeException
 *   on a term or index beyond 2^53, and nothing else. Call ids are exact over all 64 bits.
 */
export { decodeAppendEntriesReply, encodeAppendEntriesReply } from './append-entries-reply.js';
export {
  decodeAppendEntriesRequest,
  encodeAppendEntriesRequest,
  SEPARATE_PART_BYTES,
} from './append-entries-request.js';
export { decodeClientReply, encodeClientReply } from './client-reply.js';
export { decodeClientRequest, encodeClientRequest } from './client-request.js';
export { MalformedMessageError } from './errors.js';
export {
  commitIndexOf,
  configurationOf,
  createConfigurationEntry,
  createMetadataEntry,
  createStateMachineEntry,
  parseStoredEntry,
  parseWireEntry,
  type StateMachineEntryFields,
  sizeOfEntryInRequest,
  stateMachineBodyOf,
  withData,
  withoutData,
} from './log-entry.js';
export { decodePeer, encodePeer } from './peer.js';
export * from './types.js';
