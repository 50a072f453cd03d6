import { setTimeout as wait } from 'node:timers/promises';

import type { Client, Exchange } from '../protocol/exchange.js';
import type { NeedInput } from '../protocol/input.js';
import type { JsonObject, RequestId, Root } from '../protocol/model.js';
import type { Principal, TransportInfo } from '../protocol/wire.js';
import { type Jsonified, NotJson, toJsonText } from '../schema/json-form.js';
import type { Parsed, SchemaSource } from '../schema/shape.js';
import { ClientLog } from './client-log.js';
import { checkRequest } from './question-rules.js';
import {
  confirm,
  elicit,
  type ElicitOptions,
  type ElicitResult,
  elicitUrl,
  type ElicitUrlOptions,
  type ElicitUrlResult,
  type QuestionOptions,
  requireDeclared,
  requireUrl,
  roots,
  sample,
  type SampleOptions,
  type SampleResult,
} from './questions.js';

/** After so many questions that failed, a handler must let others run: it may be one that asks for ever. */
const MANY_FAILURES = 100;
const PAUSE_MS = 10;

/** Begins the keys of effects that are the framework's own; no handler names one like this. */
const PRIVATE = '\0';

/** What a handler knows and can do beside its input: the second parameter of every handler. */
export class Context {
  readonly #exchange: Exchange;
  #log: ClientLog | undefined;
  #progress = Number.NEGATIVE_INFINITY;
  #answers: Readonly<Record<string, JsonObject>> | undefined;
  #state: unknown;
  #collected = 0;
  #failures = 0;

  /** @param exchange the request under way */
  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** What the client answered to `needInput`, by key; undefined until it has. The answers are unchecked. */
  get answers(): Readonly<Record<string, JsonObject>> | undefined {
    return this.#answers;
  }

  /** The state that was given to `needInput`; undefined where none was. */
  get state(): unknown {
    return this.#state;
  }

  /** For the framework: asks what `needInput` wants to know. */
  async collect({ requests, state }: NeedInput): Promise<void> {
    // all or nothing: a client that cannot answer one of them is not asked the others
    for (const request of Object.values(requests)) {
      checkRequest(request);
      requireDeclared(this.#exchange, request);
    }
    // what the state was when it was first given, whatever the handler makes of it when it runs again
    const first = await this.#exchange.once(`${PRIVATE}needInput ${++this.#collected}`, () =>
      toKept(state, 'The state of needInput'),
    );
    const asked = Object.entries(requests).map(
      async ([key, { method, params = {} }]) => [key, await this.#exchange.ask({ key, method, params })] as const,
    );
    this.#answers = { ...this.#answers, ...Object.fromEntries(await Promise.all(asked)) };
    // JSON, which the state becomes between rounds, has null only
    this.#state = first ?? undefined;
  }

  /**
   * For the framework: uses up the state that the request brings, where each is for one use.
   * @throws {McpError} `invalid-state` when it was used before
   */
  async claim(): Promise<void> {
    await this.#exchange.peer.claim?.();
    this.#exchange.signal.throwIfAborted();
  }

  /** Log messages to the client. The specification has deprecated them in 2026-07-28: log to stderr, or by OpenTelemetry. */
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
    const value = Number(progress);
    if (!(value > this.#progress) || value === Infinity) return;
    this.#progress = value;
    this.#exchange.progress(value, total, message);
  }

  /**
   * Asks the user, by a form, for data that fits a DTO or schema. Never ask for passwords, keys or payment data.
   * @throws {McpError} `missing-capability` when the client has no elicitation
   * @throws {ToolError} when the answer does not fit, {ClientError} when there is none
   */
  elicit<S extends SchemaSource>(source: S, options: ElicitOptions): Promise<ElicitResult<Parsed<S>>> {
    return this.#kept(elicit(this.#exchange, source, options));
  }

  /**
   * Asks the user to do something at a URL, for what must not pass through the client: signing in to somebody else's
   * service, paying. Credentials and tokens of others never go through the MCP client; the page keeps them on the server.
   * It is not for authorizing the MCP client itself: that is the transport's matter.
   * @returns `accept` where the user agreed to go, which does not say that anything is done there
   * @throws {McpError} `missing-capability` when the client has no elicitation by URL
   * @throws {TypeError} for an invalid URL
   */
  elicitUrl(options: ElicitUrlOptions): Promise<ElicitUrlResult> {
    return this.#kept(elicitUrl(this.#exchange, options));
  }

  /**
   * Sends the user to a URL without which the request cannot go on. Where the revision has an error for it (2025-11-25),
   * the request fails with it, and the client sends the request again when the user has been there; elsewhere the
   * client is asked as by `elicitUrl`, and this resolves when the user has agreed to go. So ask for what you need
   * before, and again after it. What `elicitUrl` says of credentials holds here too.
   * @throws {McpError} `url-elicitation-required`, to be let through, and `missing-capability`
   * @throws {ClientError} when the user does not agree
   */
  requireUrl(options: ElicitUrlOptions): Promise<void> {
    return this.#kept(requireUrl(this.#exchange, options));
  }

  /**
   * Asks the user for a yes to something that matters. An answer that the client brings unasked does not count.
   * @param message what is about to happen
   * @throws {McpError} `missing-capability` when the client has no elicitation
   */
  confirm(message: string, options: QuestionOptions = {}): Promise<boolean> {
    return this.#kept(confirm(this.#exchange, message, options));
  }

  /**
   * Lets the client's model answer. The specification has deprecated this in 2026-07-28.
   * @throws {McpError} `missing-capability` when the client has no sampling, and {ClientError} when it does not answer
   */
  sample(options: SampleOptions): Promise<SampleResult> {
    return this.#kept(sample(this.#exchange, options));
  }

  /**
   * The directories and files the client works in: guidance, not a permission. The specification has deprecated this in
   * 2026-07-28.
   * @throws {McpError} `missing-capability` when the client has no roots, and {ClientError} when it does not answer
   */
  roots(options: QuestionOptions = {}): Promise<readonly Root[]> {
    return this.#kept(roots(this.#exchange, options));
  }

  /**
   * Does something once for a request. In stateless revisions a handler that asks the client runs again from its
   * beginning in each round; what `once` has done in an earlier round is not done again, and gives the same result.
   * An effect that fails is not remembered, and tried again when `once` is called again with its key.
   * @param key names the effect within the handler: of several with one key, the first is run
   * @param effect what to do
   * @returns what JSON makes of its result, in the first round as in later ones: a `Date` is text
   * @throws {Error} when the result has no JSON
   */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<Jsonified<T>> {
    return this.#kept(
      this.#exchange.once(
        key,
        async () => toKept(await effect(), `The result of ctx.once('${key}', …)`) as Jsonified<T>,
      ),
    );
  }

  /** A question that nobody waits for any more must not be an unhandled rejection: its round ends anyway. */
  #kept<T>(question: Promise<T>): Promise<T> {
    const asked = question.catch((error: unknown) => this.#failed(error));
    asked.catch(() => {});
    return asked;
  }

  /** Nothing else would ever run beside a handler that catches what these throw, and tries again at once. */
  async #failed(error: unknown): Promise<never> {
    this.#failures += 1;
    if (this.#failures % MANY_FAILURES === 0) {
      if (this.#exchange.over) await new Promise<never>(() => {});
      await wait(PAUSE_MS);
    }
    throw error;
  }

  /** The handler runs again through what it has done in an earlier round; log and progress are silent. */
  get replaying(): boolean {
    return this.#exchange.peer.replaying === true;
  }

  /**
   * Asks whether the client is still there, in the revisions that have `ping`.
   * @throws {ClientError} when it does not answer in time
   */
  async ping(options: Pick<QuestionOptions, 'timeoutMs'> = {}): Promise<void> {
    await this.#kept(this.#exchange.ask({ method: 'ping', params: {}, ...options }));
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

/** A value as it is after it has travelled with the client. */
function toKept(value: unknown, what: string): unknown {
  if (value === undefined) return undefined;
  try {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new NotJson(`must not be ${value}.`);
    return JSON.parse(toJsonText(value)) as unknown;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new Error(`${what} cannot be kept: it ${error.message}`, { cause: error });
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
