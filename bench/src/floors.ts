import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { measureFdatasync } from './storage.js';
import { measureTransport } from './transport.js';

/** What the machine can do at the time, without any Raft. */
export interface Floors {
  /** One stream between two processes, one way. */
  readonly transport: {
    readonly messageBytes: number;
    readonly messagesPerSecond: number;
    readonly megabytesPerSecond: number;
    /** Of both processes. */
    readonly cpuMicrosPerMessage: number;
  };
  /** 4 KiB written into preallocated space and synced, one after the other. */
  readonly fdatasync: { readonly p50Ms: number; readonly p99Ms: number };
  /** Writes of 1 MiB, each synced, to one new file. */
  readonly disk: { readonly megabytesPerSecond: number; readonly cpuSecondsPerGigabyte: number };
}

const DURATION_MS = 2_000;
const CHUNK_BYTES = 1 << 20;

async function measureDisk(directory: string): Promise<Floors['disk']> {
  const path = join(directory, 'disk-floor');
  const file = await open(path, 'w');
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES, 0x5a);
    const cpu = process.cpuUsage();
    const start = performance.now();
    let bytes = 0;
    for (; performance.now() - start < DURATION_MS; bytes += CHUNK_BYTES) {
      await file.write(chunk, 0, CHUNK_BYTES, bytes);
      await file.datasync();
    }
    const { user, system } = process.cpuUsage(cpu);
    return {
      megabytesPerSecond: bytes / 1_000 / (performance.now() - start),
      cpuSecondsPerGigabyte: ((user + system) * 1_000) / bytes,
    };
  } finally {
    await file.close();
    await rm(path);
  }
}

/** Measures for some seconds; nothing else should be under way. */
export async function measureFloors(options: {
  readonly directory: string;
  readonly messageBytes: number;
  readonly tls: boolean;
}): Promise<Floors> {
  const { directory, messageBytes, tls } = options;
  const [transport] = await measureTransport({
    messageSizes: [messageBytes],
    tls: [tls],
    durationMs: DURATION_MS,
  });
  if (transport === undefined) throw new Error('the transport was not measured');
  const { preallocated } = await measureFdatasync({ directory, durationMs: DURATION_MS });
  return {
    transport: {
      messageBytes,
      messagesPerSecond: transport.messagesPerSecond,
      megabytesPerSecond: transport.megabytesPerSecond,
      cpuMicrosPerMessage: (transport.cpuSeconds * 1e6) / transport.messages,
    },
    fdatasync: { p50Ms: preallocated.p50Ms, p99Ms: preallocated.p99Ms },
    disk: await measureDisk(directory),
  };
}
