import { commitInfosFromWire, replyExceptionFromWire } from '../../../proto/convert/index.js';
import type { ClientReplyMessage } from '../../../proto/wire/types.js';
import {
  IllegalStateException,
  NotReplicatedException,
  type RaftException,
} from '../../../protocol/exceptions.js';
import {
  type CallId,
  ClientId,
  memberIdText,
  RaftGroupId,
  type RaftPeerId,
} from '../../../protocol/ids.js';
import type { CommitInfo, RaftClientReply } from '../../../protocol/requests.js';

/** Ids of this client, to spare building them anew for each reply. */
export interface ReplyOwner {
  readonly clientId: ClientId;
  readonly groupId: RaftGroupId;
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** A reply as it came; commit infos are decoded when somebody asks for them. */
class WireReply implements RaftClientReply {
  readonly clientId: ClientId;
  readonly serverId: RaftPeerId;
  readonly groupId: RaftGroupId;
  readonly callId: CallId;
  readonly success: boolean;
  readonly message: Uint8Array | undefined;
  readonly exception: RaftException | undefined;
  readonly logIndex: number;
  readonly #wire: ClientReplyMessage;
  #commitInfos: readonly CommitInfo[] | undefined;

  constructor(wire: ClientReplyMessage, clientId: ClientId, groupId: RaftGroupId) {
    this.clientId = clientId;
    this.serverId = wire.replyId;
    this.groupId = groupId;
    this.callId = wire.callId;
    this.success = wire.success;
    this.message = wire.content;
    this.logIndex = Number(wire.logIndex);
    this.#wire = wire;
    this.exception =
      wire.exceptionCase === 0 || wire.exception === undefined
        ? undefined
        : replyExceptionFromWire(
            wire.exceptionCase,
            wire.exception,
            memberIdText(wire.replyId, groupId),
          );
    if (this.success && this.exception !== undefined) {
      throw new IllegalStateException(`reply of success with a ${this.exception.name}`);
    }
    if (this.exception instanceof NotReplicatedException) {
      this.exception.commitInfos = this.commitInfos;
    }
  }

  get commitInfos(): readonly CommitInfo[] {
    const commitInfos = this.#commitInfos ?? commitInfosFromWire(this.#wire.commitInfos);
    this.#commitInfos = commitInfos;
    return commitInfos;
  }
}

/**
 * A wire reply as a protocol object. Throws MalformedMessageError on an exception that cannot be
 * read, IllegalStateException on success together with an exception. */
export function replyFromWire(wire: ClientReplyMessage, owner: ReplyOwner): RaftClientReply {
  const clientId = sameBytes(wire.requestorId, owner.clientId.bytes)
    ? owner.clientId
    : ClientId.of(wire.requestorId);
  const groupId = sameBytes(wire.raftGroupId, owner.groupId.bytes)
    ? owner.groupId
    : RaftGroupId.of(wire.raftGroupId);
  return new WireReply(wire, clientId, groupId);
}
