import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';

import { McpError, ToolError } from '../protocol/errors.js';
import { type ErrorRule, expectedError, failureKind } from './expected.js';
import type { Exchange } from '../protocol/exchange.js';
import type { RequestId } from '../protocol/model.js';

/** Where the framework writes what its operator should know. Pino's loggers fit. */
export interface Logger {
  /** What may be left out, such as why clients cancel. */
  debug?(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

/** Where an error came up, for `onError`. */
export interface ErrorOrigin {
  /** The client sees the same reference. */
  readonly reference: string;
  /** The MCP method; undefined for errors outside of any request. */
  readonly method?: string;
  readonly requestId?: RequestId;
}

// not JSON: errors have causes, and what is thrown may be anything
const oneLine = (details: object) => inspect(details, { breakLength: Infinity, depth: 6 }).replaceAll('\n', '\\n');

/** What a terminal would obey: an error may quote what a client sent. Line feeds and tabs stay. */
// oxlint-disable-next-line no-control-regex -- these are what is meant
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

const escaped = (control: string) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`;

/** For people at a terminal: the error below its message, with its stack. */
function readable({ error, ...details }: { readonly error?: unknown }): string {
  const known = Object.keys(details).length > 0 ? inspect(details, { breakLength: Infinity }) : '';
  const stack = error === undefined ? '' : `\n${inspect(error)}`;
  return (known + stack).replaceAll('\r\n', '\n').replaceAll(CONTROLS, escaped);
}

const write = (level: string, details: object, message: string) =>
  process.stderr.write(`${level} ${message} ${process.stderr.isTTY ? readable(details) : oneLine(details)}\n`);

/** Writes to stderr: one line per event, and on a terminal the stacks of errors below. */
export const STDERR_LOGGER: Logger = {
  warn: (details, message) => void write('warn', details, message),
  error: (details, message) => void write('error', details, message),
};

/** What becomes of errors that the client must not see. */
export class ErrorReporter {
  constructor(
    private readonly logger: Logger,
    private readonly onError: ((error: unknown, origin: ErrorOrigin) => void) | undefined,
    private readonly rules: readonly ErrorRule[],
  ) {}

  /** Gives an error to the author of the server, and makes up the reference under which a client can speak of it. */
  report(error: unknown, exchange?: Exchange): string {
    const reference = randomUUID().slice(0, 8);
    const origin = { reference, ...(exchange && { method: exchange.method, requestId: exchange.id }) };
    const where = exchange ? 'an error was masked from the client' : 'an error came up outside of any request';
    this.attempt(() => this.logger.error({ ...origin, error }, where), error);
    this.attempt(() => this.onError?.(error, origin), error);
    return reference;
  }

  debug(details: object, message: string): void {
    this.attempt(() => this.logger.debug?.(details, message), details);
  }

  warn(details: object, message: string): void {
    this.attempt(() => this.logger.warn(details, message), details);
  }

  /** What the author gave for errors may fail itself; neither error is lost, and no request goes unanswered. */
  private attempt(step: () => void, error: unknown): void {
    try {
      step();
    } catch (failure) {
      STDERR_LOGGER.error({ error, failure }, 'the logger or onError failed');
    }
  }

  /** What a client may see of an error: one that is made to be seen, one that was expected, else a reference. */
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

  /** The same, as an error of the protocol. */
  publicError(error: unknown, exchange: Exchange): McpError {
    const shown = this.shown(error, exchange);
    if (shown instanceof McpError) return shown;
    if (shown === error || shown.cause !== error) return new McpError('internal-error', shown.message);
    const { uri } = exchange.params;
    const kind = failureKind(error, uri !== undefined);
    return new McpError(kind, shown.message, kind === 'unknown-resource' ? { uri } : undefined);
  }
}
