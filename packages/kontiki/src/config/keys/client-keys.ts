import { defineKeys } from '../key-definition.js';
import { duration, int, size } from '../number-keys.js';
import { bool } from '../text-keys.js';

/** Keys that clients read. */
export const CLIENT_KEYS = defineKeys('client', {
  'raft.client.rpc.request.timeout': duration(
    '3s',
    'How long one attempt of a client or admin request waits for its reply.',
  ),
  'raft.client.rpc.watch.request.timeout': duration(
    '10s',
    'How long one attempt of a watch request waits for its reply.',
  ),
  'raft.client.async.outstanding-requests.max': int(
    '100',
    'Ordered requests without a reply that one client may have; further ones wait.',
    { min: 2 },
  ),
  'raft.client.async.experimental.send-dummy-request': bool(
    'true',
    'Opens the connection early with a dummy watch at the first use of the ordered API.',
  ),
  'raft.client.data-stream.outstanding-requests.max': int(
    '100',
    'Data stream packets without a reply that one data stream client may have.',
    { min: 2 },
  ),
  'raft.client.data-stream.flush.request.count.min': int(
    '0',
    'Buffered packets go out once this many wait; 0 sends each at once.',
    { min: 0 },
  ),
  'raft.client.data-stream.flush.request.bytes.min': size(
    '1MB',
    'Buffered packets go out once this many data bytes wait.',
  ),
  'raft.client.data-stream.request.timeout': duration(
    '10s',
    'How long a data stream packet waits for its reply, twice as long for the last one.',
  ),
  'raft.client.message-stream.submessage-size': size(
    '1MB',
    'Size of the pieces into which a message stream cuts a large message.',
    { setterMin: 1024 },
  ),
});
