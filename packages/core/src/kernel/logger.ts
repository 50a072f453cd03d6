import { types } from 'node:util';

/** Receives messages for the operator. pino's and winston's loggers work as they are. */
export interface Logger {
  /** Optional details, such as the reasons of cancellations. */
  debug?(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** A method of winston's loggers, which take the message first. */
type MessageFirst = (message: string, details: object) => unknown;

/** Whether a logger is one of winston's. Of the common loggers, only these have both methods. */
export function isWinston(logger: unknown): boolean {
  const { log, configure } = (logger ?? {}) as Readonly<Record<'log' | 'configure', unknown>>;
  return typeof log === 'function' && typeof configure === 'function';
}

/** Adapts a logger of winston. Other loggers are returned as they are. */
export function detailsFirst(logger: Logger): Logger {
  if (!isWinston(logger)) return logger;
  const winston = logger as unknown as Readonly<Record<keyof Logger, MessageFirst>>;
  const method = (level: keyof Logger) => (details: object, message: string) =>
    void winston[level](message, withErrorFields(details));
  return { debug: method('debug'), warn: method('warn'), error: method('error') };
}

/** The same details with `err` as plain data. */
export const withErrorFields = (details: object): object =>
  'err' in details ? { ...details, err: errorFields(details.err) } : details;

/** Causes that are nested deeper are left out. They may be circular. */
const MAX_CAUSES = 5;

/**
 * The members of an error that logs need, as plain data, with the names that pino uses: JSON has none of them. Members
 * that libraries add are left out, because they may hold credentials. Values that aren't errors are returned as they
 * are.
 */
export function errorFields(error: unknown, depth = 0): unknown {
  if (!types.isNativeError(error) && !(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const { code } = error as { readonly code?: unknown };
  return {
    type: name,
    message,
    stack,
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(cause !== undefined && depth < MAX_CAUSES && { cause: errorFields(cause, depth + 1) }),
  };
}
