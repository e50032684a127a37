import { clientReplyToWire, commitInfosToWire } from '../../../proto/convert/index.js';
import { encodeClientReply } from '../../../proto/wire/index.js';
import type { CommitInfoMessage } from '../../../proto/wire/types.js';
import type { CommitInfo, RaftClientReply } from '../../../protocol/requests.js';

/** Encodes client replies; the commit infos, which many replies share, once. */
export class ReplyEncoder {
  readonly #encoded = new WeakMap<readonly CommitInfo[], readonly CommitInfoMessage[]>();

  encode(reply: RaftClientReply): Uint8Array {
    let infos = this.#encoded.get(reply.commitInfos);
    if (infos === undefined) {
      infos = commitInfosToWire(reply.commitInfos);
      this.#encoded.set(reply.commitInfos, infos);
    }
    return encodeClientReply(clientReplyToWire(reply, infos));
  }
}
