import { inspect } from 'node:util';

import type { Logger } from '@decorum/core';
import { entryOf, errorFields, isWinston, withErrorFields } from '@decorum/core/internal';
import { ConsoleLogger, Logger as NestLogger, type LoggerService } from '@nestjs/common';

/** The context of all entries. */
const CONTEXT = 'McpServer';

type Level = 'debug' | 'warn' | 'error';

/** Reads which logger the application uses. Nest shows it only to subclasses. */
class ApplicationLogger extends NestLogger {
  /** Undefined if the application's log is turned off. */
  static get current(): LoggerService | undefined {
    return ApplicationLogger.staticInstanceRef;
  }
}

/** The parts of a logger that tell how it writes objects. */
interface Inside {
  readonly options?: { readonly json?: boolean };
  readonly logger?: unknown;
}

/** The arguments of Nest's loggers: the message first, and for errors the stack. */
function entryFor(logger: LoggerService, { err, ...details }: { readonly err?: unknown }, message: string): unknown[] {
  const { options, logger: inner } = logger as Inside;
  const whole = { message, ...details, ...(err !== undefined && { err }) };
  const isConsole = logger instanceof ConsoleLogger;
  if (!isConsole) return [isWinston(inner) ? withErrorFields(whole) : whole];
  if (options?.json === true) return [withErrorFields(whole)];
  const stack = err === undefined ? undefined : stackOf(err);
  const rest = { ...details, ...(err !== undefined && stack === undefined && { err }) };
  const known = Object.keys(rest).length > 0 ? ` ${inspect(rest, { breakLength: Infinity })}` : '';
  return [entryOf(message + known), ...(stack === undefined ? [] : [entryOf(stack)])];
}

/** The stack of an error, with those of its causes. */
function stackOf(error: unknown): string | undefined {
  const { stack, cause } = (errorFields(error) ?? {}) as { readonly stack?: string; readonly cause?: unknown };
  if (stack === undefined || cause === undefined) return stack;
  return `${stack}\n[cause] ${stackOf(cause) ?? inspect(cause)}`;
}

/**
 * The logger of a server in a Nest application.
 * @param given the `logger` option, which may be one of Nest's. By default, entries go to the application's logger, so
 *   that `app.useLogger` and `bufferLogs` apply to them
 */
export function serverLogger(given: Logger | undefined): Logger {
  const service = given as (Logger & Partial<LoggerService>) | undefined;
  // the loggers of Nest have `log`; those of pino don't, and core knows those of winston
  if (given !== undefined && (typeof service?.log !== 'function' || isWinston(given))) return given;
  const named = new NestLogger(CONTEXT);
  const method = (level: Level) => (details: object, message: string) => {
    const target = service instanceof NestLogger || service === undefined ? ApplicationLogger.current : service;
    if (target === undefined) return;
    const entry = entryFor(target as LoggerService, details, message);
    const logger = service ?? named;
    (logger as unknown as Record<Level, ((...args: unknown[]) => void) | undefined>)[level]?.(...entry);
  };
  return { debug: method('debug'), warn: method('warn'), error: method('error') };
}
