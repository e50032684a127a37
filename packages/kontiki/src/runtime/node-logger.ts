import { LOG_LEVELS, type Logger, type LogLevel } from '../common/logger.js';

/** What the logger needs of a stream. */
export interface LogStream {
  write(text: string): unknown;
}

export interface ConsoleLoggerOptions {
  /** Lowest level that is written; default `info`. */
  readonly level?: LogLevel;
  /** Default: stderr of the process. */
  readonly stream?: LogStream;
}

function fieldText(value: unknown): string {
  if (value instanceof Error) {
    const own = value.stack ?? String(value);
    return value.cause instanceof Error ? `${own}\ncaused by ${fieldText(value.cause)}` : own;
  }
  if (typeof value === 'string') return /[\s="]/.test(value) ? JSON.stringify(value) : value;
  if (typeof value !== 'object' || value === null) return String(value);
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' ? inner.toString() : inner,
  );
}

/** A line break inside a message would look like another message. */
function onOneLine(text: string): string {
  return text.replace(/\r?\n\s*/g, ' | ');
}

/** Writes one line a message: ISO time, level, message, `key=value` fields. */
export function createConsoleLogger(options: ConsoleLoggerOptions = {}): Logger {
  const lowest = LOG_LEVELS.indexOf(options.level ?? 'info');
  const stream = options.stream ?? process.stderr;
  const isEnabled = (level: LogLevel) => LOG_LEVELS.indexOf(level) >= lowest;
  return {
    isEnabled,
    log(level, message, fields) {
      if (!isEnabled(level)) return;
      let line = `${new Date().toISOString()} ${level.toUpperCase().padEnd(5)} ${message}`;
      for (const [key, value] of Object.entries(fields ?? {}))
        line += ` ${key}=${fieldText(value)}`;
      stream.write(`${onOneLine(line)}\n`);
    },
  };
}
