import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type RpcStatus, type ServerCall, StatusCode } from '../transport.js';
import {
  bytes,
  call,
  ECHO,
  type TransportHarness,
  text,
  withServer,
} from './harness.test-support.js';

const UNARY = '/test.Echo/unary';

export function describeCalls(harness: TransportHarness): void {
  describe('unary calls', () => {
    it('carry a request there and a reply back', async () => {
      await withServer(harness, ECHO, async ({ channel }) => {
        const { status, reply } = await call(channel, UNARY, bytes('hello'));
        assert.equal(status.code, StatusCode.OK);
        assert.equal(text(reply), 'hello');
      });
    });

    it('join the parts of a message', async () => {
      await withServer(harness, ECHO, async ({ channel }) => {
        const parts = [bytes('a'), bytes(''), bytes('bc'), new Uint8Array(100_000).fill(100)];
        const { reply } = await call(channel, UNARY, parts);
        assert.equal(text(reply), `abc${'d'.repeat(100_000)}`);
      });
    });

    it('carry an empty message', async () => {
      await withServer(harness, ECHO, async ({ channel }) => {
        const { status, reply } = await call(channel, UNARY, new Uint8Array(0));
        assert.equal(status.code, StatusCode.OK);
        assert.equal(reply?.length, 0);
      });
    });

    it('bring back a failure with message, text and bytes', async () => {
      const failure: RpcStatus = {
        code: StatusCode.INTERNAL,
        message: '100 % süß\n終わり',
        metadata: { 'exception-type': 'java.io.IOException', 'some-bin': Uint8Array.of(0, 255, 1) },
      };
      const service = { unary: { [UNARY]: (request: ServerCall) => request.fail(failure) } };
      await withServer(harness, service, async ({ channel }) => {
        const { status, reply } = await call(channel, UNARY, bytes('x'));
        assert.equal(reply, undefined);
        assert.equal(status.code, failure.code);
        assert.equal(status.message, failure.message);
        assert.deepEqual({ ...status.metadata }, failure.metadata);
      });
    });

    it('to an unknown method are UNIMPLEMENTED', async () => {
      await withServer(harness, ECHO, async ({ channel }) => {
        const { status } = await call(channel, '/test.Echo/none', bytes('x'));
        assert.equal(status.code, StatusCode.UNIMPLEMENTED);
      });
    });

    it('to an address where nobody listens are UNAVAILABLE, with a cause', async () => {
      await withServer(harness, ECHO, async ({ server, channel }) => {
        await server.close(0);
        const { status } = await call(channel, UNARY, bytes('x'));
        assert.equal(status.code, StatusCode.UNAVAILABLE);
        assert.ok(status.cause instanceof Error);
        assert.ok(status.message.startsWith(channel.target), status.message);
      });
    });

    it('tell the handler the deadline, and both ends when it passed', async () => {
      let seen: number | undefined;
      let told: () => void = () => undefined;
      const cancelled = new Promise<void>((resolve) => {
        told = resolve;
      });
      const service = {
        unary: {
          [UNARY]: (request: ServerCall) => {
            seen = request.timeoutMs;
            request.onCancel(told);
          },
        },
      };
      await withServer(harness, service, async ({ channel }) => {
        const { status } = await call(channel, UNARY, bytes('x'), { timeoutMs: 150 });
        assert.equal(status.code, StatusCode.DEADLINE_EXCEEDED);
        await cancelled;
        assert.ok(seen !== undefined && seen > 0 && seen <= 150, `timeout seen: ${seen}`);
      });
    });

    it('can be cancelled; both ends hear of it once', async () => {
      let cancels = 0;
      let arrived: () => void = () => undefined;
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      let told: () => void = () => undefined;
      const cancelled = new Promise<void>((resolve) => {
        told = resolve;
      });
      const handler = (request: ServerCall) => {
        request.onCancel(() => {
          cancels++;
          told();
        });
        arrived();
      };
      await withServer(harness, { unary: { [UNARY]: handler } }, async ({ channel }) => {
        const statuses: RpcStatus[] = [];
        const pending = channel.call(UNARY, bytes('x'), {}, (status) => statuses.push(status));
        await arrival;
        pending.cancel();
        assert.equal(statuses.length, 0, 'no callback from inside cancel');
        pending.cancel();
        await cancelled;
        assert.deepEqual(
          statuses.map((status) => status.code),
          [StatusCode.CANCELLED],
        );
        assert.equal(cancels, 1);
      });
    });

    it('end with UNKNOWN when the handler throws', async () => {
      const handler = () => {
        throw new Error('broken');
      };
      await withServer(harness, { unary: { [UNARY]: handler } }, async ({ channel }) => {
        const { status } = await call(channel, UNARY, bytes('x'));
        assert.equal(status.code, StatusCode.UNKNOWN);
        assert.equal(status.message, 'Application error processing RPC');
      });
    });

    it('fail when the peer sends several requests, or none', async () => {
      await withServer(harness, ECHO, async ({ channel }) => {
        for (const count of [0, 2]) {
          const code = await new Promise((resolve) => {
            const listener = {
              onMessage: () => undefined,
              onEnd: (status: RpcStatus) => resolve(status.code),
            };
            const stream = channel.openStream(UNARY, listener);
            for (let i = 0; i < count; i++) stream.send(bytes('x'));
            stream.halfClose();
          });
          assert.equal(code, StatusCode.INTERNAL);
        }
      });
    });

    for (const [what, serverLimit, size, place] of [
      ['the request is larger than the server takes', 10_000, 20_000, 'unary'],
      ['the request is larger than the client sends', 10_000_000, 2_100_000, 'unary'],
    ] as const) {
      it(`are RESOURCE_EXHAUSTED when ${what}`, async () => {
        const limits = { maxInboundMessageBytes: serverLimit };
        await withServer(
          harness,
          ECHO,
          async ({ channel }) => {
            const { status } = await call(channel, `/test.Echo/${place}`, new Uint8Array(size));
            assert.equal(status.code, StatusCode.RESOURCE_EXHAUSTED);
            assert.match(status.message, new RegExp(`${size}`));
            const next = await call(channel, UNARY, bytes('still works'));
            assert.equal(next.status.code, StatusCode.OK);
          },
          limits,
        );
      });
    }

    it('are RESOURCE_EXHAUSTED when the reply is larger than the client takes', async () => {
      await withServer(harness, ECHO, async ({ openChannel }) => {
        const channel = openChannel({ maxInboundMessageBytes: 1_000 });
        const { status } = await call(channel, UNARY, new Uint8Array(1_001));
        assert.equal(status.code, StatusCode.RESOURCE_EXHAUSTED);
      });
    });

    it('are RESOURCE_EXHAUSTED when the reply is larger than the server sends', async () => {
      const handler = (request: ServerCall) => request.reply(new Uint8Array(501));
      await withServer(
        harness,
        { unary: { [UNARY]: handler } },
        async ({ channel }) => {
          const { status } = await call(channel, UNARY, bytes('x'));
          assert.equal(status.code, StatusCode.RESOURCE_EXHAUSTED);
        },
        { maxOutboundMessageBytes: 500 },
      );
    });
  });
}
