import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';

import { McpError, ToolError } from '../protocol/errors.js';
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

const write = (level: string, details: object, message: string) =>
  process.stderr.write(`${level} ${message} ${oneLine(details)}\n`);

/** Writes one line per event to stderr. */
export const STDERR_LOGGER: Logger = {
  warn: (details, message) => void write('warn', details, message),
  error: (details, message) => void write('error', details, message),
};

/** What becomes of errors that the client must not see. */
export class Faults {
  constructor(
    private readonly logger: Logger,
    private readonly onError: ((error: unknown, origin: ErrorOrigin) => void) | undefined,
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

  /** The text a client may see of an error: that of a `ToolError`, else a reference. */
  publicMessage(error: unknown, exchange: Exchange): string {
    if (error instanceof ToolError) return error.message;
    return `Internal error (reference ${this.report(error, exchange)})`;
  }

  /** The error a client may see. */
  publicError(error: unknown, exchange: Exchange): McpError {
    return error instanceof McpError ? error : new McpError('internal-error', this.publicMessage(error, exchange));
  }
}
