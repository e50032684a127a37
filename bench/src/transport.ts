/**
 * Measures the bare transport: one bidirectional stream, the server in a process of its own,
 * messages one way. Other benchmarks use it as the floor of what they can reach.
 *
 *   node bench/dist/transport.js
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { GrpcTransport, type TlsOptions } from 'kontiki';
import {
  createCertificateAuthority,
  OK_STATUS,
  type RpcChannel,
  type TransportLimits,
} from 'kontiki/testing';

export interface TransportMeasurement {
  readonly messageBytes: number;
  readonly tls: boolean;
  readonly messages: number;
  readonly seconds: number;
  readonly messagesPerSecond: number;
  readonly megabytesPerSecond: number;
  /** CPU seconds of both processes while measuring. */
  readonly cpuSeconds: number;
}

export interface TransportMeasurementOptions {
  /** Default: 128 and 1 MiB. */
  readonly messageSizes?: readonly number[];
  /** Default: without and with (mutual) TLS. */
  readonly tls?: readonly boolean[];
  /** How long each case is measured, after a warm-up of a quarter of it. Default 2,000 ms. */
  readonly durationMs?: number;
}

const LIMITS: TransportLimits = {
  maxInboundMessageBytes: 67_108_864,
  maxOutboundMessageBytes: 67_108_864,
  flowControlWindowBytes: 4_194_304,
  sendBufferBytes: 4_194_304,
  maxHeaderListBytes: 65_536,
  keepaliveTimeMs: 0,
  keepaliveTimeoutMs: 20_000,
  reconnectBackoffMinMs: 100,
  reconnectBackoffMaxMs: 5_000,
  connectTimeoutMs: 10_000,
};

const SINK = '/bench.Transport/sink';
const USAGE = '/bench.Transport/usage';

/** Runs every combination of the options, one after the other. */
export async function measureTransport(
  options: TransportMeasurementOptions = {},
): Promise<TransportMeasurement[]> {
  const results: TransportMeasurement[] = [];
  for (const tls of options.tls ?? [false, true]) {
    for (const messageBytes of options.messageSizes ?? [128, 1_048_576]) {
      results.push(await measureCase(messageBytes, tls, options.durationMs ?? 2_000));
    }
  }
  return results;
}

async function measureCase(
  messageBytes: number,
  tls: boolean,
  durationMs: number,
): Promise<TransportMeasurement> {
  const slot = tls ? makeTls() : undefined;
  const child = fork(fileURLToPath(import.meta.url), ['--serve'], { stdio: 'inherit' });
  const exited = once(child, 'exit');
  child.send({ tls: slot });
  const [port] = (await once(child, 'message')) as [number];
  const channel = new GrpcTransport().createChannel(`127.0.0.1:${port}`, {
    tls: slot,
    limits: LIMITS,
  });
  try {
    await pump(channel, messageBytes, durationMs / 4);
    const before = (await serverCpu(channel)) + ownCpu();
    const { messages, seconds } = await pump(channel, messageBytes, durationMs);
    const cpuSeconds = (await serverCpu(channel)) + ownCpu() - before;
    return {
      messageBytes,
      tls,
      messages,
      seconds,
      messagesPerSecond: messages / seconds,
      megabytesPerSecond: (messages * messageBytes) / seconds / 1e6,
      cpuSeconds,
    };
  } finally {
    await new Promise<void>((resolve) => channel.close(0, resolve));
    child.send('stop');
    await exited;
  }
}

/** Sends messages for `durationMs`, then waits until the server has counted them all. */
function pump(channel: RpcChannel, messageBytes: number, durationMs: number) {
  const message = new Uint8Array(messageBytes).fill(0x61);
  return new Promise<{ messages: number; seconds: number }>((resolve, reject) => {
    const start = performance.now();
    let messages = 0;
    let counted = 0;
    const burst = () => {
      for (;;) {
        if (performance.now() - start >= durationMs) {
          stream.halfClose();
          return;
        }
        // The clock is read once in a while only: it costs as much as a small message.
        for (let i = 0; i < 32; i++) {
          messages++;
          if (!stream.send(message)) return;
        }
      }
    };
    const stream = channel.openStream(SINK, {
      onMessage: (reply) => {
        counted = new DataView(reply.buffer, reply.byteOffset).getFloat64(0);
      },
      onDrain: burst,
      onEnd: (status) => {
        const seconds = (performance.now() - start) / 1_000;
        if (status.code === 0 && counted === messages) resolve({ messages, seconds });
        else reject(new Error(`${counted} of ${messages} arrived: ${status.message}`));
      },
    });
    burst();
  });
}

function serverCpu(channel: RpcChannel): Promise<number> {
  return new Promise((resolve, reject) => {
    channel.call(USAGE, new Uint8Array(0), {}, (status, reply) => {
      if (reply === undefined) reject(new Error(status.message));
      else resolve(new DataView(reply.buffer, reply.byteOffset).getFloat64(0));
    });
  });
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function float64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

function makeTls(): TlsOptions {
  const authority = createCertificateAuthority('kontiki bench');
  const issued = authority.issue({ commonName: 'bench', ipAddresses: ['127.0.0.1'] });
  return {
    trustCertificates: authority.certificatePem,
    certificateChain: issued.certificatePem,
    privateKey: issued.keyPem,
    mutual: true,
  };
}

/** The other process: counts what arrives. */
async function serve(): Promise<void> {
  const [{ tls }] = (await once(process, 'message')) as [{ tls?: TlsOptions }];
  const server = new GrpcTransport().createServer({
    host: '127.0.0.1',
    port: 0,
    tls,
    limits: LIMITS,
  });
  server.addService({
    unary: { [USAGE]: (call) => call.reply(float64(ownCpu())) },
    streams: {
      [SINK]: (stream) => {
        let count = 0;
        return {
          onMessage: () => {
            count++;
          },
          onHalfClose: () => {
            stream.send(float64(count));
            stream.end(OK_STATUS);
          },
          onEnd: () => undefined,
        };
      },
    },
  });
  await server.listen();
  // Also when the other process is gone without a word.
  process.once('disconnect', () => void server.close(0));
  process.on('message', (message) => {
    if (message === 'stop') process.disconnect();
  });
  process.send?.(server.address.port);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === '--serve') await serve();
  else {
    for (const result of await measureTransport()) {
      const { messageBytes, tls, messagesPerSecond, megabytesPerSecond, cpuSeconds } = result;
      console.log(
        `${messageBytes} B${tls ? ', mutual TLS' : ''}: ${Math.round(messagesPerSecond)} /s, ` +
          `${megabytesPerSecond.toFixed(0)} MB/s, ${cpuSeconds.toFixed(2)} CPU s`,
      );
    }
  }
}
