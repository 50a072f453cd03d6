import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';

import { McpError, ToolError } from '../protocol/errors.js';
import { type ErrorRule, expectedError, failureKind } from './expected.js';
import type { Exchange } from '../protocol/exchange.js';
import { isPromise } from '../protocol/maybe-promise.js';
import type { RequestId } from '../protocol/model.js';

/** Receives messages for the operator. Compatible with Pino's loggers. */
export interface Logger {
  /** Optional details, such as the reasons of cancellations. */
  debug?(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** The origin of an error, for `onError`. */
export interface ErrorOrigin {
  /** A reference that the client sees too. */
  readonly reference: string;
  /** The MCP method; undefined for errors outside of a request. */
  readonly method?: string;
  readonly requestId?: RequestId;
}

// not JSON: errors have causes, and any value may be thrown
const inOneLine = (details: object) => inspect(details, { breakLength: Infinity, depth: 6 });

/** Cap on the characters of a log entry. An error may quote a client's entire message. */
const MAX_ENTRY_CHARS = 16_384;

/**
 * Characters that a terminal or viewer would act on, except line feeds and tabs: controls, line separators, and
 * characters that change the text direction (Unicode Bidirectional Algorithm).
 */
// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const ACTIVE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (active: string) => {
  const code = active.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
};

/** Escapes a text, and truncates it before and after: escaping may make it six times as long. */
function entryOf(text: string): string {
  const shown = text.slice(0, MAX_ENTRY_CHARS).replaceAll(ACTIVE, escaped);
  return Math.max(text.length, shown.length) > MAX_ENTRY_CHARS ? `${shown.slice(0, MAX_ENTRY_CHARS)}…` : shown;
}

/** Formats details for a terminal: the error below its message, with its stack. */
function readable({ error, ...details }: { readonly error?: unknown }): string {
  const known = Object.keys(details).length > 0 ? inspect(details, { breakLength: Infinity }) : '';
  const stack = error === undefined ? '' : `\n${inspect(error)}`;
  return (known + stack).replaceAll('\r\n', '\n');
}

function write(level: string, details: object, message: string): void {
  const { stderr } = process;
  const text = `${level} ${message} ${stderr.isTTY ? readable(details) : inOneLine(details)}`;
  stderr.write(`${entryOf(stderr.isTTY ? text : text.replaceAll('\n', '\\n'))}\n`);
}

/** Logs to stderr, one line per event; on a terminal, with the stack traces of errors. */
export const STDERR_LOGGER: Logger = {
  warn: (details, message) => write('warn', details, message),
  error: (details, message) => write('error', details, message),
};

/** Reports errors that clients must not see, and decides what they see instead. */
export class ErrorReporter {
  constructor(
    private readonly logger: Logger,
    private readonly onError: ((error: unknown, origin: ErrorOrigin) => void) | undefined,
    private readonly rules: readonly ErrorRule[],
  ) {}

  /**
   * Logs an error and returns a random reference, which the client receives instead of the error.
   * @param message log message, if it is known what failed
   */
  report(error: unknown, exchange?: Exchange, message?: string): string {
    const reference = randomUUID().slice(0, 8);
    const origin = { reference, ...(exchange && { method: exchange.method, requestId: exchange.id }) };
    const where = exchange ? 'an error was masked from the client' : 'an error occurred outside of a request';
    this.attempt(() => this.logger.error({ ...origin, error }, message ?? where), error);
    this.attempt(() => this.onError?.(error, origin), error);
    return reference;
  }

  debug(details: object, message: string): void {
    this.attempt(() => this.logger.debug?.(details, message), details);
  }

  warn(details: object, message: string): void {
    this.attempt(() => this.logger.warn(details, message), details);
  }

  /** Runs the user's logger or `onError`. If it fails, both errors are logged, and the request is still answered. */
  private attempt(step: () => unknown, error: unknown): void {
    const failed = (failure: unknown) => STDERR_LOGGER.error({ error, failure }, 'the logger or onError failed');
    try {
      const late = step();
      // an unhandled rejection would be reported too, in an endless loop
      if (isPromise(late)) late.then(undefined, failed);
    } catch (failure) {
      failed(failure);
    }
  }

  /** The error that the client sees: unchanged if meant for clients, by its rule if expected, else a reference. */
  shown(error: unknown, exchange: Exchange): McpError | ToolError {
    if (error instanceof McpError || error instanceof ToolError) return error;
    try {
      const expected = expectedError(error, this.rules);
      if (expected !== undefined)
        return typeof expected === 'string' ? new ToolError(expected, { cause: error }) : expected;
    } catch (failure) {
      this.report(failure, exchange);
    }
    return new ToolError(`Internal error (reference ${this.report(error, exchange)})`);
  }

  /** The error that the client sees, as a protocol error. */
  publicError(error: unknown, exchange: Exchange): McpError {
    const shown = this.shown(error, exchange);
    if (shown instanceof McpError) return shown;
    if (shown === error || shown.cause !== error) return new McpError('internal-error', shown.message);
    const { uri } = exchange.params;
    const kind = failureKind(error, uri !== undefined);
    return new McpError(kind, shown.message, kind === 'unknown-resource' ? { uri } : undefined);
  }
}
