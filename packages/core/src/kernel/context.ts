import { inspect } from 'node:util';

import type { Client, Exchange } from '../protocol/exchange.js';
import type { NeedInput } from '../protocol/input.js';
import type { JsonObject, LogLevel, RequestId, Root } from '../protocol/model.js';
import type { Principal, TransportInfo } from '../protocol/wire.js';
import type { Parsed, SchemaSource } from '../schema/shape.js';
import {
  confirm,
  elicit,
  type ElicitOptions,
  type ElicitResult,
  elicitUrl,
  type ElicitUrlOptions,
  type ElicitUrlResult,
  type QuestionOptions,
  requireCapability,
  roots,
  sample,
  type SampleOptions,
  type SampleResult,
} from './questions.js';

/**
 * Writes log messages to the client of one request: those at or above the level that the client asked for.
 * The specification has deprecated this in 2026-07-28; for the operator's eyes, log to stderr or to OpenTelemetry.
 */
export class ClientLog {
  readonly #exchange: Exchange;

  /** @param exchange the request whose client is written to */
  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /**
   * @param data text or anything that can be written as JSON; no secrets, the client sees it
   * @param logger names the part of the server that speaks
   */
  write(level: LogLevel, data: unknown, logger?: string): void {
    if (!this.#exchange.logs(level)) return;
    this.#exchange.notify('notifications/message', {
      level,
      ...(logger !== undefined && { logger }),
      data: loggable(data),
    });
  }

  debug(data: unknown, logger?: string): void {
    this.write('debug', data, logger);
  }

  info(data: unknown, logger?: string): void {
    this.write('info', data, logger);
  }

  notice(data: unknown, logger?: string): void {
    this.write('notice', data, logger);
  }

  warning(data: unknown, logger?: string): void {
    this.write('warning', data, logger);
  }

  error(data: unknown, logger?: string): void {
    this.write('error', data, logger);
  }

  critical(data: unknown, logger?: string): void {
    this.write('critical', data, logger);
  }

  alert(data: unknown, logger?: string): void {
    this.write('alert', data, logger);
  }

  emergency(data: unknown, logger?: string): void {
    this.write('emergency', data, logger);
  }
}

/** What JSON can say of a value: nothing of it fails the handler that logs it. */
function loggable(data: unknown): unknown {
  if (data instanceof Error) return `${data.name}: ${data.message}`;
  try {
    return JSON.stringify(data) === undefined ? String(data) : data;
  } catch {
    return inspect(data);
  }
}

const NEEDED = {
  'elicitation/create': { elicitation: {} },
  'sampling/createMessage': { sampling: {} },
  'roots/list': { roots: {} },
} as const;

/** A question that nobody waits for any more must not be an unhandled rejection: its round ends anyway. */
function kept<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** What a handler knows and can do beside its input: the second parameter of every handler. */
export class Context {
  readonly #exchange: Exchange;
  #log: ClientLog | undefined;
  #progress: number;
  #answers: Readonly<Record<string, JsonObject>> | undefined;
  #state: unknown;

  /** @param exchange the request under way */
  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#progress = Number.NEGATIVE_INFINITY;
  }

  /** What the client answered to `needInput`, by key; undefined until it has. The answers are unchecked. */
  get answers(): Readonly<Record<string, JsonObject>> | undefined {
    return this.#answers;
  }

  /** The state that was given to `needInput`. */
  get state(): unknown {
    return this.#state;
  }

  /** For the framework: asks what `needInput` wants to know. */
  async collect({ requests, state }: NeedInput): Promise<void> {
    const asked = Object.entries(requests).map(async ([key, { method, params = {} }]) => {
      requireCapability(this.#exchange, NEEDED[method]);
      return [key, await this.#exchange.ask({ key, method, params })] as const;
    });
    this.#answers = { ...this.#answers, ...Object.fromEntries(await Promise.all(asked)) };
    this.#state = state;
  }

  /** Log messages to the client. */
  get log(): ClientLog {
    this.#log ??= new ClientLog(this.#exchange);
    return this.#log;
  }

  /** Aborts when the client cancels the request, is gone (where that means cancelling), or the server closes. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }

  /** Who called, as far as the client says. Not to be trusted for security. */
  get client(): Client {
    return this.#exchange.peer.client;
  }

  /** The revision of the request, such as `2025-11-25`. */
  get revision(): string {
    return this.#exchange.revision.id;
  }

  get requestId(): RequestId {
    return this.#exchange.id;
  }

  /** The session, where the transport has sessions. */
  get sessionId(): string | undefined {
    return this.#exchange.peer.sessionId;
  }

  /** Who called, as authorization established. */
  get principal(): Principal | undefined {
    return this.#exchange.wire.principal;
  }

  /** The `_meta` of the request. */
  get meta(): JsonObject | undefined {
    return this.#exchange.meta;
  }

  /** How the request came; on HTTP with its headers. */
  get transport(): TransportInfo {
    return this.#exchange.wire.transport;
  }

  /**
   * Reports progress, if the client wants to hear of it. Values that do not grow are dropped.
   * @param progress how far, in any unit
   * @param total how far it goes, in the same unit
   * @param message for people
   */
  progress(progress: number, total?: number, message?: string): void {
    const { progressToken } = this.#exchange;
    if (progressToken === undefined || !(progress > this.#progress) || progress === Infinity) return;
    this.#progress = progress;
    this.#exchange.notify('notifications/progress', {
      progressToken,
      progress,
      ...(Number.isFinite(total) && { total }),
      ...(message !== undefined && { message }),
    });
  }

  /**
   * Asks the user, by a form, for data that fits a DTO or schema. Never ask for passwords, keys or payment data.
   * @throws {McpError} `missing-capability` when the client has no elicitation
   * @throws {ToolError} when the answer does not fit, {ClientError} when there is none
   */
  elicit<S extends SchemaSource>(source: S, options: ElicitOptions): Promise<ElicitResult<Parsed<S>>> {
    return kept(elicit(this.#exchange, source, options));
  }

  /**
   * Asks the user to do something at a URL, for what must not pass through the client: signing in, paying.
   * @throws {McpError} `missing-capability` when the client has no elicitation by URL
   * @throws {TypeError} for an invalid URL
   */
  elicitUrl(options: ElicitUrlOptions): Promise<ElicitUrlResult> {
    return kept(elicitUrl(this.#exchange, options));
  }

  /**
   * Asks the user for a yes to something that matters. An answer that the client brings unasked does not count.
   * @param message what is about to happen
   * @throws {McpError} `missing-capability` when the client has no elicitation
   */
  confirm(message: string, options: QuestionOptions = {}): Promise<boolean> {
    return kept(confirm(this.#exchange, message, options));
  }

  /**
   * Lets the client's model answer. The specification has deprecated this in 2026-07-28.
   * @throws {McpError} `missing-capability` when the client has no sampling, and {ClientError} when it does not answer
   */
  sample(options: SampleOptions): Promise<SampleResult> {
    return kept(sample(this.#exchange, options));
  }

  /**
   * The directories and files the client works in: guidance, not a permission. The specification has deprecated this in
   * 2026-07-28.
   * @throws {McpError} `missing-capability` when the client has no roots, and {ClientError} when it does not answer
   */
  roots(options: QuestionOptions = {}): Promise<readonly Root[]> {
    return kept(roots(this.#exchange, options));
  }

  /**
   * Does something once for a request. In stateless revisions a handler that asks the client runs again from its
   * beginning in each round; what `once` has done in an earlier round is not done again, and gives the same result.
   * @param key names the effect within the handler
   * @param effect what to do; its result must be JSON
   */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    return this.#exchange.peer.once(key, effect);
  }

  /** The handler runs again through what it has done in an earlier round; log and progress are silent. */
  get replaying(): boolean {
    return this.#exchange.peer.replaying;
  }

  /**
   * Asks whether the client is still there, in the revisions that have `ping`.
   * @throws {ClientError} when it does not answer in time
   */
  async ping(options: Pick<QuestionOptions, 'timeoutMs'> = {}): Promise<void> {
    await this.#exchange.ask({ method: 'ping', params: {}, ...options });
  }

  /**
   * Ends the response stream for now, so that no connection is held while the handler works on; the client comes back
   * for the rest. Does nothing where the transport or the revision has no such thing.
   * @param options.retryMs milliseconds after which the client should come back
   */
  closeStream({ retryMs }: { readonly retryMs?: number } = {}): void {
    if (this.#exchange.revision.primesStreams) this.#exchange.wire.closeStream?.(retryMs);
  }
}

/** The context of a completion. */
export class CompletionContext extends Context {
  /**
   * @param exchange the request under way
   * @param args the arguments that are filled in already
   */
  constructor(
    exchange: Exchange,
    readonly args: Readonly<Record<string, string>>,
  ) {
    super(exchange);
  }
}
