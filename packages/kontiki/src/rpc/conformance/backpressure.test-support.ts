import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RpcStream, StatusCode } from '../transport.js';
import {
  bytes,
  capture,
  OK,
  open,
  type RecordingListener,
  type TransportHarness,
  withServer,
} from './harness.test-support.js';

const MESSAGE_BYTES = 10_000;
/**
 * Window of stream and connection, the send buffer's mark, and what sockets of the loopback hold.
 */
const ROOM_BYTES = 16_000_000;

export function describeBackpressure(harness: TransportHarness): void {
  describe('back-pressure', () => {
    it('reaches the client when the server stops reading, and lets go again', async () => {
      const { path, service, listener: atServer, stream: serverSide } = capture();
      await withServer(harness, service, async ({ channel }) => {
        const { stream, listener } = open(channel, path);
        stream.send(bytes('first'));
        const server = await serverSide;
        await atServer.until(() => atServer.messages.length === 1);
        await stopAndGo(stream, listener, server, atServer);
        stream.cancel();
        await listener.ended();
      });
    });

    it('reaches the server when the client stops reading, and lets go again', async () => {
      const { path, service, listener: atServer, stream: serverSide } = capture();
      await withServer(harness, service, async ({ channel }) => {
        const { stream, listener } = open(channel, path);
        stream.send(bytes('first'));
        const server = await serverSide;
        server.send(bytes('first'));
        await listener.until(() => listener.messages.length === 1);
        await stopAndGo(server, atServer, stream, listener);
        server.end(OK);
        assert.equal((await listener.ended()).code, StatusCode.OK);
      });
    });

    it('stops between two messages that arrived together', async () => {
      const { path, service, listener: atServer, stream: serverSide } = capture();
      await withServer(harness, service, async ({ channel }) => {
        const { stream, listener } = open(channel, path);
        const pausing = serverSide.then((server) => {
          atServer.onEvent = () => server.pause();
          return server;
        });
        stream.pause();
        const server = await pausing;
        for (let i = 0; i < 10; i++) stream.send(bytes(`${i}`));
        for (let wanted = 1; wanted <= 10; wanted++) {
          await atServer.until(() => atServer.messages.length === wanted);
          await sleep(1);
          assert.equal(atServer.messages.length, wanted);
          server.resume();
        }
        stream.cancel();
        await listener.ended();
      });
    });

    it('holds the end back while the reader is paused', async () => {
      const { path, service, stream: serverSide } = capture();
      await withServer(harness, service, async ({ channel }) => {
        const { stream, listener } = open(channel, path);
        stream.pause();
        stream.halfClose();
        const server = await serverSide;
        server.send(bytes('x'));
        server.end(OK);
        await sleep(30);
        assert.equal(listener.messages.length + listener.statuses.length, 0);
        stream.resume();
        assert.equal(listener.messages.length, 0, 'nothing from inside resume');
        await listener.ended();
        assert.equal(listener.messages.length, 1);
      });
    });
  });
}

/** Fills `sender` while `reader` is paused, then lets everything through. */
async function stopAndGo(
  sender: RpcStream,
  atSender: RecordingListener,
  reader: RpcStream,
  atReader: RecordingListener,
): Promise<void> {
  reader.pause();
  const before = atReader.messages.length;
  let sent = 0;
  // What the windows and sockets hold drains at first; then it stops for good.
  for (let rounds = 0; rounds < 20; rounds++) {
    while (sender.send(new Uint8Array(MESSAGE_BYTES))) {
      sent++;
      assert.ok(sent * MESSAGE_BYTES < ROOM_BYTES, 'send never said stop');
    }
    sent++;
    await sleep(5);
  }
  const drains = atSender.drains;
  await sleep(50);
  assert.equal(atSender.drains, drains, 'no drain while the reader is paused');
  assert.ok(sender.bufferedBytes > 100_000);
  assert.equal(atReader.messages.length, before);
  reader.resume();
  await atSender.until(() => atSender.drains > drains);
  await atReader.until(() => atReader.messages.length === before + sent);
  await atSender.until(() => sender.bufferedBytes <= 100_000);
}
