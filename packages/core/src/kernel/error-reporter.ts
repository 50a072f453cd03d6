import { randomUUID } from 'node:crypto';

import { attempt } from '@decorum/schema/internal';

import { McpError, ToolError } from '../protocol/errors.js';
import type { FailureCause } from '../protocol/failure-cause.js';
import { type ErrorRule, expectedError, failureKind } from './expected.js';
import { causeOfError } from './error-cause.js';
import type { Exchange } from '../protocol/exchange.js';
import type { RequestId } from '../protocol/model.js';
import type { TransportInfo } from '../protocol/wire.js';
import { detailsFirst, type Logger } from './logger.js';
import { LONG_STDERR_LOGGER, STDERR_LOGGER } from './stderr-logger.js';

/** The origin of an error, for logs and `onError`. Only `reference` is set for errors outside of a request. */
export interface ErrorOrigin {
  /** A reference that the client sees too. */
  readonly reference: string;
  /** The MCP method. */
  readonly method?: string;
  readonly requestId?: RequestId;
  /** The registered name of the tool or prompt, or the registered URI or template. */
  readonly member?: string;
  /** The id of the session, if it has one. */
  readonly session?: string;
  /** The subject of the caller's principal, if the caller is known. */
  readonly subject?: string;
  readonly transport?: TransportInfo['kind'];
}

/** The parts of an `ErrorReporter`. */
export interface ReporterParts {
  /** Defaults to stderr. */
  readonly logger: Logger | undefined;
  readonly onError: ((error: unknown, origin: ErrorOrigin) => void) | undefined;
  readonly rules: readonly ErrorRule[];
  /** The registered name of the member that a request names. */
  memberOf(exchange: Exchange): string | undefined;
}

/** Reports errors that clients must not see, and decides what they see instead. */
export class ErrorReporter {
  private logger: Logger;

  constructor(private readonly parts: ReporterParts) {
    this.logger = parts.logger === undefined ? STDERR_LOGGER : detailsFirst(parts.logger);
  }

  /** Makes the default logger write errors with their stacks, as it does on a terminal. */
  showStacks(): void {
    if (this.logger === STDERR_LOGGER) this.logger = LONG_STDERR_LOGGER;
  }

  /**
   * Logs an error and returns a random reference, which the client receives instead of the error.
   * @param message log message, if it is known what failed
   */
  report(error: unknown, exchange?: Exchange, message?: string): string {
    const reference = randomUUID().slice(0, 8);
    const origin = { reference, ...(exchange && this.originOf(exchange)) };
    const where = exchange ? 'an error was masked from the client' : 'an error occurred outside of a request';
    this.attempt(() => this.logger.error({ ...origin, err: error }, message ?? where), error);
    this.attempt(() => this.parts.onError?.(error, origin), error);
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
    // an unhandled rejection would be reported too, in an endless loop
    attempt(step, (failure) => STDERR_LOGGER.error({ err: error, failure }, 'the logger or onError failed'));
  }

  /** The error that the client sees: unchanged if meant for clients, by its rule if expected, else a reference. */
  shown(error: unknown, exchange: Exchange): McpError | ToolError {
    const expected = this.expected(error, exchange);
    const reference = expected === undefined ? this.report(error, exchange) : undefined;
    const shown = expected ?? new ToolError(`Internal error (reference ${reference})`);
    // the server of a mounted member may have masked it, and given it a reference
    if (exchange.observation !== undefined && exchange.observation.shown?.error !== shown)
      exchange.observation.shown = { error: shown, reference };
    return shown;
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

  /** The error that the client sees; undefined for unexpected errors. */
  expected(error: unknown, exchange: Exchange): McpError | ToolError | undefined {
    if (error instanceof McpError || error instanceof ToolError) return error;
    try {
      const expected = expectedError(error, this.parts.rules);
      return typeof expected === 'string' ? new ToolError(expected, { cause: error }) : expected;
    } catch (failure) {
      this.report(failure, exchange);
      return undefined;
    }
  }

  /** Whether clients may see an error. */
  isExpected(error: unknown): boolean {
    return this.visible(error) !== undefined;
  }

  /** What clients see of an error of a handler, and why it was thrown; undefined if it is masked. */
  visible(error: unknown): { readonly shown: McpError | ToolError; readonly cause: FailureCause } | undefined {
    try {
      const found =
        error instanceof McpError || error instanceof ToolError ? error : expectedError(error, this.parts.rules);
      if (found === undefined) return undefined;
      const shown = typeof found === 'string' ? new ToolError(found, { cause: error }) : found;
      return { shown, cause: causeOfError(shown, true) };
    } catch {
      // reported where the client is answered
      return undefined;
    }
  }

  private originOf(exchange: Exchange): Omit<ErrorOrigin, 'reference'> {
    const { method, id, peer, wire } = exchange;
    const member = this.parts.memberOf(exchange);
    const subject = wire.principal?.subject;
    return {
      method,
      requestId: id,
      ...(member !== undefined && { member }),
      ...(peer.sessionId !== undefined && { session: peer.sessionId }),
      ...(subject !== undefined && { subject }),
      transport: wire.kind ?? wire.transport.kind,
    };
  }
}
