import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BaseStateMachine,
  IllegalArgumentException,
  type LogEntry,
  RaftIOException,
  type RaftStorage,
  type StateMachineDataApi,
  StateMachineException,
  type StateMachineServer,
  type TransactionContext,
} from 'kontiki';

const DATA = 'DATA:';

export function text(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes);
}

function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

/**
 * The state machine of the Java peer (`LabStateMachine.java`), message by message and snapshot by
 * snapshot.
 */
export class LabMachine extends BaseStateMachine {
  value = 0;
  readonly records: string[] = [];
  #dataDirectory = '';

  override async initialize(server: StateMachineServer, storage: RaftStorage): Promise<void> {
    this.#dataDirectory = join(storage.stateMachineDirectory, 'data');
    mkdirSync(this.#dataDirectory, { recursive: true });
    await super.initialize(server, storage);
  }

  override startTransaction(context: TransactionContext): void {
    const message = text(context.logData);
    if (message === 'THROW') throw new RaftIOException('thrown before the log');
    if (message === 'REJECT') {
      context.exception = new IllegalArgumentException('rejected before the log');
    }
    if (message.startsWith(DATA)) {
      const data = message.slice(DATA.length);
      context.logData = bytes(`${DATA}${data.length}`);
      context.stateMachineData = bytes(data);
    }
  }

  override applyTransaction(context: TransactionContext): Uint8Array | undefined {
    const message = text(context.logData);
    if (message === 'INCREMENT') return bytes(String(++this.value));
    if (message === 'FAIL') {
      throw new StateMachineException(
        this.server.id,
        'java.lang.IllegalStateException',
        'failed when applied',
      );
    }
    this.records.push(
      message.startsWith(DATA)
        ? DATA + readFileSync(this.#dataFile(context.logEntry?.index ?? -1), 'utf8')
        : message,
    );
    return bytes(String(this.records.length));
  }

  override query(message: Uint8Array): Promise<Uint8Array> | Uint8Array {
    const asked = text(message);
    if (asked === 'GET') return bytes(String(this.value));
    if (asked === 'NULL') return bytes('');
    if (asked === 'LIST') return bytes(this.records.join('\n'));
    throw new StateMachineException(
      this.server.id,
      'java.lang.IllegalArgumentException',
      `unknown query ${asked}`,
    );
  }

  override takeSnapshot(): Promise<number> {
    return this.saveSnapshot(bytes([this.value, ...this.records, ''].join('\n')));
  }

  override restore(content: Uint8Array): void {
    const [value, ...records] = text(content).split('\n');
    this.value = Number(value);
    this.records.splice(0, this.records.length, ...records.slice(0, -1));
  }

  override get dataApi(): StateMachineDataApi {
    return {
      write: async (entry: LogEntry) => {
        if (entry.data !== undefined) writeFileSync(this.#dataFile(entry.index), entry.data);
      },
      read: async (entry: LogEntry) => readFileSync(this.#dataFile(entry.index)),
      flush: async () => undefined,
      truncate: async () => undefined,
    };
  }

  #dataFile(index: number): string {
    return join(this.#dataDirectory, String(index));
  }
}
