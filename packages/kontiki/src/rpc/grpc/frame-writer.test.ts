import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { nodeRuntime } from '../../runtime/node-runtime.js';
import { FrameWriter } from './frame-writer.js';

/** A sink whose writes finish when the test says so. */
class ManualSink extends Writable {
  readonly writes: number[] = [];
  readonly chunks: Buffer[] = [];
  readonly pending: (() => void)[] = [];

  constructor() {
    super({ highWaterMark: 1 });
  }

  override _write(chunk: Buffer, _encoding: string, callback: () => void): void {
    this.writes.push(chunk.length);
    this.chunks.push(chunk);
    this.pending.push(callback);
  }

  override _writev(chunks: { chunk: Buffer }[], callback: () => void): void {
    this.writes.push(chunks.reduce((sum, { chunk }) => sum + chunk.length, 0));
    this.chunks.push(...chunks.map(({ chunk }) => chunk));
    this.pending.push(callback);
  }

  async finishAll(): Promise<void> {
    for (let i = 0; i < 50; i++) {
      this.pending.shift()?.();
      await nextTurn();
    }
  }
}

function makeWriter(sendBufferBytes = 1_000_000) {
  const events: string[] = [];
  const writer = new FrameWriter({
    timers: nodeRuntime().timers,
    sendBufferBytes,
    onDrain: () => events.push('drain'),
  });
  return { writer, events, sink: new ManualSink() };
}

describe('frame writer', () => {
  it('joins the small messages of a turn into one write', async () => {
    const { writer, sink } = makeWriter();
    writer.attach(sink);
    for (let i = 0; i < 100; i++) writer.send(new Uint8Array(10));
    assert.deepEqual(sink.writes, [], 'not from inside send');
    await nextTurn();
    assert.deepEqual(sink.writes, [1_500]);
  });

  it('writes large messages each in one piece', async () => {
    const { writer, sink } = makeWriter();
    writer.attach(sink);
    for (const size of [10, 100_000, 200_000, 10, 10]) writer.send(new Uint8Array(size));
    await nextTurn();
    await sink.finishAll();
    assert.deepEqual(sink.writes, [15, 100_005, 200_005, 30]);
  });

  it('does not copy large messages', async () => {
    const { writer, sink } = makeWriter();
    writer.attach(sink);
    const parts = [new Uint8Array(10), new Uint8Array(100_000), new Uint8Array(3)];
    writer.send(parts);
    await nextTurn();
    await sink.finishAll();
    assert.deepEqual(sink.writes, [100_018]);
    const [head, ...written] = sink.chunks;
    assert.deepEqual([...(head ?? [])], [0, 0, 0x01, 0x86, 0xad]);
    assert.deepEqual(
      written.map(({ buffer }) => buffer),
      parts.map(({ buffer }) => buffer),
    );
    assert.equal(writer.bufferedBytes, 0);
  });

  it('holds messages until there is a sink, and announces the first write', async () => {
    const { writer, events, sink } = makeWriter();
    writer.send(new Uint8Array(1));
    await nextTurn();
    assert.equal(writer.bufferedBytes, 6);
    writer.attach(sink, () => events.push('headers'));
    await nextTurn();
    writer.send(new Uint8Array(1));
    await nextTurn();
    assert.deepEqual(events, ['headers']);
    await sink.finishAll();
    assert.deepEqual(sink.writes, [6, 6]);
    assert.equal(writer.bufferedBytes, 0);
  });

  it('tells when it is full and when there is room again, once', async () => {
    const { writer, events, sink } = makeWriter(100);
    writer.attach(sink);
    assert.equal(writer.send(new Uint8Array(95)), true);
    assert.equal(writer.send(new Uint8Array(95)), false);
    assert.equal(writer.send(new Uint8Array(95)), false);
    await nextTurn();
    assert.deepEqual(events, []);
    await sink.finishAll();
    assert.deepEqual(events, ['drain']);
    assert.equal(writer.bufferedBytes, 0);
  });

  it('finishes after the queued messages, with the last bytes in hand', async () => {
    const { writer, sink } = makeWriter();
    writer.attach(sink);
    const finished: unknown[] = [];
    writer.send(new Uint8Array(5));
    writer.end((_sink, last) => finished.push(last?.length));
    assert.equal(writer.send(new Uint8Array(5)), true, 'ignored after the end');
    await nextTurn();
    assert.deepEqual(finished, [10]);
    assert.deepEqual(sink.writes, []);
  });

  it('drops everything when it is stopped', async () => {
    const { writer, events, sink } = makeWriter(1);
    writer.attach(sink);
    writer.send(new Uint8Array(5));
    writer.stop();
    await nextTurn();
    assert.equal(writer.bufferedBytes, 0);
    assert.deepEqual(sink.writes, []);
    assert.deepEqual(events, []);
  });
});
