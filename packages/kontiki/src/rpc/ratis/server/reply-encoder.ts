import { clientReplyToWire, commitInfosToWire } from '../../../proto/convert/index.js';
import { encodeClientReply } from '../../../proto/wire/index.js';
import type { CommitInfoMessage } from '../../../proto/wire/types.js';
import type { CommitInfo, RaftClientReply } from '../../../protocol/requests.js';

/** Encodes client replies; the commit infos, which replies in a row share, once. */
export class ReplyEncoder {
  #last: readonly CommitInfo[] = [];
  #encoded: readonly CommitInfoMessage[] = [];

  encode(reply: RaftClientReply): Uint8Array {
    if (reply.commitInfos !== this.#last) {
      this.#last = reply.commitInfos;
      this.#encoded = commitInfosToWire(reply.commitInfos);
    }
    return encodeClientReply(clientReplyToWire(reply, this.#encoded));
  }
}
