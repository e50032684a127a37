import { createServer, type Server, type Socket } from 'node:net';

/** One HTTP/2 frame as it stands on the wire. */
export interface RawFrame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export const FRAME = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
} as const;

export const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

export function rawFrame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const frame = Buffer.alloc(9 + payload.length);
  frame.writeUIntBE(payload.length, 0, 3);
  frame[3] = type;
  frame[4] = flags;
  frame.writeUInt32BE(stream, 5);
  frame.set(payload, 9);
  return frame;
}

/** Cuts a byte stream into frames. */
export class RawFrameReader {
  #pending = Buffer.alloc(0);

  push(chunk: Buffer): RawFrame[] {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    const frames: RawFrame[] = [];
    for (;;) {
      const length = this.#pending.length < 9 ? 0 : this.#pending.readUIntBE(0, 3);
      if (this.#pending.length < 9 + length) return frames;
      frames.push({
        type: this.#pending[3] ?? 0,
        flags: this.#pending[4] ?? 0,
        stream: this.#pending.readUInt32BE(5),
        payload: this.#pending.subarray(9, 9 + length),
      });
      this.#pending = this.#pending.subarray(9 + length);
    }
  }
}

/** A server that speaks just enough HTTP/2 to greet, and records what the client sends. */
export class RawServer {
  readonly frames: RawFrame[] = [];
  readonly sockets: Socket[] = [];
  readonly #server: Server;
  #waiters: { readonly done: () => boolean; readonly resolve: () => void }[] = [];

  constructor(greet = true) {
    this.#server = createServer((socket) => this.#accept(socket, greet));
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as { port: number }).port;
  }

  until(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ done, resolve }));
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
  }

  #accept(socket: Socket, greet: boolean): void {
    this.sockets.push(socket);
    socket.on('error', () => undefined);
    const reader = new RawFrameReader();
    let toSkip = PREFACE.length;
    if (greet) socket.write(rawFrame(FRAME.SETTINGS, 0, 0, new Uint8Array(0)));
    socket.on('data', (chunk) => {
      const skipped = Math.min(toSkip, chunk.length);
      toSkip -= skipped;
      for (const frame of reader.push(chunk.subarray(skipped))) {
        this.frames.push(frame);
        if (greet && frame.type === FRAME.SETTINGS && frame.flags === 0) {
          socket.write(rawFrame(FRAME.SETTINGS, 1, 0, new Uint8Array(0)));
        }
      }
      this.#changed();
    });
    this.#changed();
  }

  #changed(): void {
    const ready = this.#waiters.filter((waiter) => waiter.done());
    this.#waiters = this.#waiters.filter((waiter) => !ready.includes(waiter));
    for (const waiter of ready) waiter.resolve();
  }
}
