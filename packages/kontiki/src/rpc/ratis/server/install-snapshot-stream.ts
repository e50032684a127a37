import { toError } from '../../../common/errors.js';
import {
  decodeInstallSnapshotRequest,
  encodeInstallSnapshotReply,
} from '../../../proto/convert/index.js';
import type { InstallSnapshotRequest } from '../../../protocol/server-messages.js';
import { OK_STATUS, type ServerStream, type StreamListener } from '../../transport.js';
import type { InstallSnapshotAnswer, RaftServerHandler } from './handler.js';
import { statusOfError } from './status.js';

/**
 * The follower's side of a snapshot transfer (spec: wire-grpc 7.5, 7.6): one request after the
 * other, and no more is read while one is being carried out.
 */
export class InstallSnapshotStream implements StreamListener {
  readonly #stream: ServerStream;
  readonly #handler: RaftServerHandler;
  readonly #waiting: Uint8Array[] = [];
  #busy = false;
  #halfClosed = false;
  #isOver = false;

  constructor(stream: ServerStream, handler: RaftServerHandler) {
    this.#stream = stream;
    this.#handler = handler;
  }

  onMessage(message: Uint8Array): void {
    if (this.#isOver) return;
    this.#waiting.push(message);
    if (!this.#busy) this.#next();
  }

  onHalfClose(): void {
    this.#halfClosed = true;
    if (!this.#busy) this.#next();
  }

  onEnd(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
  }

  #next(): void {
    if (this.#isOver) return;
    const message = this.#waiting.shift();
    if (message === undefined) {
      if (this.#halfClosed) this.#end(undefined);
      return;
    }
    let request: InstallSnapshotRequest;
    try {
      request = decodeInstallSnapshotRequest(message);
    } catch (error) {
      this.#end(toError(error));
      return;
    }
    this.#busy = true;
    this.#stream.pause();
    this.#handler.installSnapshot(request, (error, answer) => {
      this.#busy = false;
      if (this.#isOver) return;
      if (answer === undefined) {
        this.#end(error ?? new Error('no answer'));
        return;
      }
      this.#reply(request, answer);
      this.#stream.resume();
      this.#next();
    });
  }

  #reply(request: InstallSnapshotRequest, answer: InstallSnapshotAnswer): void {
    const { requestorId, replyId, groupId, callId } = request;
    const head = { requestorId, replyId, groupId, callId };
    this.#stream.send(encodeInstallSnapshotReply({ ...head, ...answer }));
  }

  #end(error: Error | undefined): void {
    this.onEnd();
    this.#stream.end(error === undefined ? OK_STATUS : statusOfError(error));
  }
}
