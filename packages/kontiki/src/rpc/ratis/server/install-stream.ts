import { toError } from '../../../common/errors.js';
import {
  decodeInstallSnapshotReply,
  encodeInstallSnapshotRequest,
} from '../../../proto/convert/index.js';
import type {
  InstallSnapshotReply,
  InstallSnapshotRequest,
} from '../../../protocol/server-messages.js';
import {
  type ClientStream,
  type RpcChannel,
  StatusCode,
  type StreamListener,
} from '../../transport.js';
import { Paths } from './method-paths.js';
import { errorOfStatus } from './status.js';

/** What a snapshot stream tells its sender. Nothing after `onEnd`. */
export interface InstallStreamListener {
  onReply(reply: InstallSnapshotReply): void;
  /** There is room again after `send` returned false. */
  onDrain(): void;
  /** The stream is over; without an error: the follower completed it. */
  onEnd(error: Error | undefined): void;
}

/** The leader's side of one snapshot transfer, or of one notification (spec: wire-grpc 7.4). */
export class InstallStream implements StreamListener {
  readonly #listener: InstallStreamListener;
  readonly #stream: ClientStream;
  #ended = false;

  constructor(channel: RpcChannel, listener: InstallStreamListener) {
    this.#listener = listener;
    this.#stream = channel.openStream(Paths.installSnapshot, this);
  }

  /** False: the stream is full, wait for `onDrain`. */
  send(request: InstallSnapshotRequest): boolean {
    return this.#stream.send(encodeInstallSnapshotRequest(request));
  }

  /** No more requests. */
  halfClose(): void {
    this.#stream.halfClose();
  }

  /** Drops the stream; nothing more is told. */
  cancel(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#stream.cancel();
  }

  onMessage(message: Uint8Array): void {
    if (this.#ended) return;
    let reply: InstallSnapshotReply;
    try {
      reply = decodeInstallSnapshotReply(message);
    } catch (error) {
      this.cancel();
      this.#listener.onEnd(toError(error));
      return;
    }
    this.#listener.onReply(reply);
  }

  onDrain(): void {
    if (!this.#ended) this.#listener.onDrain();
  }

  onEnd(status: Parameters<typeof errorOfStatus>[0]): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#listener.onEnd(status.code === StatusCode.OK ? undefined : errorOfStatus(status));
  }
}
