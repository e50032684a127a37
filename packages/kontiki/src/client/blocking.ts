import { toError } from '../common/errors.js';
import { decodeClientReply } from '../proto/wire/index.js';
import { type RaftException, RaftIOException } from '../protocol/exceptions.js';
import type { RaftPeerId } from '../protocol/ids.js';
import type { RaftClientReply, RequestType } from '../protocol/requests.js';
import { replyFromWire } from '../rpc/ratis/client/reply.js';
import type { ClientCore } from './client-core.js';
import { RetryingCall } from './retrying-call.js';

/** One request of the blocking path: a stream of its own for each attempt (spec: client 5). */
export function sendBlocking(
  core: ClientCore,
  type: RequestType,
  content: Uint8Array | undefined,
  serverId: RaftPeerId | undefined,
  signal: AbortSignal | undefined,
): Promise<RaftClientReply> {
  const callId = core.callIds.next();
  const toLeader = serverId === undefined;
  const body = { callId, toLeader, type, content, repliedCallIds: core.takeReplied(toLeader) };
  const call = new RetryingCall<RaftClientReply>(core, {
    callId,
    serverId,
    toLeader,
    type,
    content,
    isBlocking: true,
    booksReply: true,
    describe: () => `${type.kind} request ${callId} of ${core.clientId}`,
    attempt: (target, outcome) => {
      const bytes = core.encoder.encode(body, target, undefined, false);
      const connection = core.connections.get(target);
      const exchange = connection.callOnce(bytes, core.timeoutOf(type), (error, reply) => {
        if (reply === undefined) outcome(error, undefined);
        else deliver(reply, (bytes) => replyFromWire(decodeClientReply(bytes), core), outcome);
      });
      return () => exchange.cancel();
    },
  });
  return call.start(signal);
}

/** Decodes a reply; one that cannot be read counts as a failure of the exchange. */
export function deliver<R>(
  bytes: Uint8Array,
  decode: (bytes: Uint8Array) => R,
  outcome: (error: RaftException | undefined, reply: R | undefined) => void,
): void {
  let reply: R;
  try {
    reply = decode(bytes);
  } catch (thrown) {
    const error = toError(thrown);
    outcome(new RaftIOException(`unusable reply: ${error.message}`, { cause: error }), undefined);
    return;
  }
  outcome(undefined, reply);
}
