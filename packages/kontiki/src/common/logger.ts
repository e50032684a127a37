/** Severity of a log line, lowest first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Where the library writes its log lines. Users hand in their own (pino, winston and console
 * adapters are one-liners). `fields` hold structured context; an `error` field holds an Error.
 */
export interface Logger {
  isEnabled(level: LogLevel): boolean;
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Drops everything. */
export const NULL_LOGGER: Logger = {
  isEnabled: () => false,
  log: () => undefined,
};

/** A logger that writes `prefix: ` before each message. */
export function withPrefix(logger: Logger, prefix: string): Logger {
  return {
    isEnabled: (level) => logger.isEnabled(level),
    log: (level, message, fields) => {
      if (logger.isEnabled(level)) logger.log(level, `${prefix}: ${message}`, fields);
    },
  };
}
