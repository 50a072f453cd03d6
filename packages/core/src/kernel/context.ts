import { randomUUID } from 'node:crypto';

import { type Jsonified, type JsonObject, type Parsed, type SchemaSource } from '@decorum/schema/internal';

import type { Exchange } from '../protocol/exchange.js';
import type { NeedInput } from '../protocol/input.js';
import type { Root } from '../protocol/model.js';
import type { Question } from '../protocol/revisions/revision.js';
import { CONTEXT } from '../registry/inferred-input.js';
import { COLLECT, HAS_ASKED, ON_CANCEL, RUN, type RunFacts, type RunScope, WITHIN } from '../registry/caller.js';
import { ClientLog } from './client-log.js';
import type {
  ConfirmOptions,
  ElicitOptions,
  ElicitUrlOptions,
  QuestionOptions,
  SampleOptions,
} from './question-options.js';
import { collect } from './collect.js';
import { HandlerBudget } from './budgets/handler-budget.js';
import { ASK, EXCHANGE, SCOPE } from './context-keys.js';
import { Handled } from './handled.js';
import { type Memory, memoryOf, type RememberOptions } from './memory/memory.js';
import { narrowed, WHOLE } from './run-scope.js';
import { RequestFacts } from './request-facts.js';
import * as questions from './questions.js';
import type { ElicitResult, ElicitUrlResult, SampleResult } from './questions.js';
import { SessionVisibility } from './session-visibility.js';
import { onceAsJson, sleep } from './effect-steps.js';
import { requireScopes } from './required-scopes.js';

/**
 * The second parameter of every handler: facts about the request, and ways to talk to the client. `P` is the type of
 * `plan`.
 */
export class Context<P = unknown> extends RequestFacts {
  /** Used by Decorum to recognize the class. */
  static readonly [CONTEXT] = true;
  readonly #exchange: Exchange;
  readonly #scope: RunScope;
  #log: ClientLog | undefined;
  #given: { readonly answers?: Readonly<Record<string, JsonObject>>; readonly state?: unknown } = {};
  #collected = 0;
  #handling: Handled | undefined;
  #budget: HandlerBudget | undefined;

  /**
   * @param exchange the request being handled
   * @param scope the part of it that the context is limited to
   */
  constructor(exchange: Exchange, scope: RunScope = WHOLE) {
    super();
    this.#exchange = exchange;
    this.#scope = scope;
  }

  /** The client's answers to `needInput` by key, not validated; undefined before the client has answered. */
  get answers(): Readonly<Record<string, JsonObject>> | undefined {
    return this.#given.answers;
  }

  /** The state passed to `needInput`, if any. */
  get state(): unknown {
    return this.#given.state;
  }

  /**
   * The plan that the method of the tool's `preview` has made, after a JSON round trip. Act on it, and don't make it anew.
   * Undefined in all other handlers.
   */
  get plan(): P {
    return this.#scope.planned?.plan as P;
  }

  /** Sends the requests passed to `needInput` to the client. */
  async [COLLECT]({ requests, state }: NeedInput): Promise<void> {
    const { answers, first } = await this.#asked(collect(this.#exchange, { requests, state }, ++this.#collected));
    this.#budget = undefined;
    // the handler runs again, and writes again
    this.#exchange.remembered?.drop();
    // between rounds the state is JSON, which turns undefined into null
    this.#given = { answers: { ...this.answers, ...answers }, state: first ?? undefined };
  }

  /** A method: loggers that read getters would log the credentials of the caller. */
  override [EXCHANGE](): Exchange {
    return this.#exchange;
  }

  get [SCOPE](): RunScope {
    return this.#scope;
  }

  get [RUN](): RunFacts {
    const { ownEffects: effects, peer, meta, member, remembered } = this.#exchange;
    const { records, isAsking = false } = peer;
    const host = this.#exchange.isDetached ? this.#exchange.id : undefined;
    return { records, effects, id: effects.id(randomUUID), remembered, meta, member, host, isAsking };
  }

  get [HAS_ASKED](): boolean {
    // or in an earlier round
    return this.#exchange.hasAsked || this.#exchange.params['requestState'] !== undefined;
  }

  [WITHIN](scope: RunScope): Context<P> {
    const within = new Context<P>(this.#exchange, narrowed(this.#scope, scope));
    within.#given = this.#given;
    return within;
  }

  [ON_CANCEL](callback: () => void): () => void {
    if (this.#exchange.over) callback();
    return this.#exchange.onCancel(callback);
  }

  /** Asks the client a question whose params are complete. */
  [ASK](question: Question): Promise<JsonObject> {
    return this.#asked(questions.askDeclared(this.#exchange, question));
  }

  /** Log messages to the client. Deprecated by the specification in 2026-07-28: log to stderr, or use OpenTelemetry. */
  get log(): ClientLog {
    this.#log ??= new ClientLog(this.#exchange);
    return this.#log;
  }

  /**
   * Aborts when the request is cancelled, when its session or the server closes, and when its time is over. A disconnect
   * cancels the request too, except in an HTTP session, where the client can come back for the result.
   */
  get signal(): AbortSignal {
    return this.#scope.signal ?? this.#exchange.signal;
  }

  /** What `maxResultChars` leaves for the result, for handlers that return a page that fits. */
  get budget(): HandlerBudget {
    this.#budget ??= new HandlerBudget(this.#scope.maxResultChars);
    return this.#budget;
  }

  /**
   * Shows and hides members in this session by their tags. Without a session, its methods reject: let `access` decide
   * then.
   */
  get visibility(): SessionVisibility {
    return new SessionVisibility(this.#exchange);
  }

  /**
   * Requires scopes that depend on the arguments, in addition to those of the member. If the caller lacks them, the
   * request fails as if the member required them: over HTTP with status 403, unless something has already been sent.
   * @throws {McpError} `insufficient-scope`, or `unauthorized` for callers without a principal. Don't catch it
   * @throws {TypeError} for anything but scopes
   * @example ctx.requireScopes(`project:${id}:write`);
   */
  requireScopes(...scopes: readonly [string, ...string[]]): void {
    requireScopes(this.#exchange, scopes);
  }

  /**
   * Reports progress, if the client asked for it. Values that do not increase are dropped.
   * @param progress the progress so far, in any unit
   * @param total the total, in the same unit
   * @param message a message for the user
   */
  progress(progress: number, total?: number, message?: string): void {
    this.#exchange.progress(Number(progress), total, message);
  }

  /**
   * Asks the user to fill in a form for a DTO or schema. Never ask for passwords, keys or payment data.
   * @throws {McpError} `missing-capability` if the client has no elicitation
   * @throws {ToolError} if the answer does not match the schema
   * @throws {QuestionError} if the client does not answer
   */
  elicit<S extends SchemaSource>(source: S, options: ElicitOptions): Promise<ElicitResult<Parsed<S>>> {
    return this.#asked(questions.elicit(this.#exchange, source, options));
  }

  /**
   * Sends the user to a URL for something that must not go through the client, such as signing in to another service or
   * paying. Credentials and tokens for other services must never go through the MCP client: have the page store them on
   * the server. Don't use it to authorize the MCP client itself; the transport does that.
   * @returns `accept` if the user agreed to open the URL, which does not mean that they finished there
   * @throws {McpError} `missing-capability` if the client has no URL elicitation
   * @throws {TypeError} for an invalid URL
   */
  elicitUrl(options: ElicitUrlOptions): Promise<ElicitUrlResult> {
    return this.#asked(questions.elicitUrl(this.#exchange, options));
  }

  /**
   * Sends the user to a URL that the request depends on. In 2025-11-25, the request fails with a dedicated error, and
   * the client retries the request once the user has visited the URL. In other revisions, the client is asked as with
   * `elicitUrl`, and the promise resolves when the user agrees to open the URL. Check before and after the call whether
   * you have what you need. Handle credentials as described at `elicitUrl`.
   * @throws {McpError} `url-elicitation-required`, which you must not catch, and `missing-capability`
   * @throws {QuestionError} if the user does not agree
   */
  requireUrl(options: ElicitUrlOptions): Promise<void> {
    return this.#asked(questions.requireUrl(this.#exchange, options));
  }

  /**
   * Asks the user to confirm something important. An answer that the client sends without being asked does not count.
   * @param message what is about to happen
   * @throws {McpError} `missing-capability` if the client has no elicitation
   */
  confirm(message: string, options: ConfirmOptions = {}): Promise<boolean> {
    return this.#asked(questions.confirm(this.#exchange, message, options));
  }

  /**
   * Generates a message with the client's model. Deprecated by the specification in 2026-07-28.
   * @throws {McpError} `missing-capability` if the client has no sampling
   * @throws {QuestionError} if the client does not answer
   */
  sample(options: SampleOptions): Promise<SampleResult> {
    return this.#asked(questions.sample(this.#exchange, options));
  }

  /**
   * The directories and files that the client works in. This is guidance, not permission. Deprecated by the
   * specification in 2026-07-28.
   * @throws {McpError} `missing-capability` if the client has no roots
   * @throws {QuestionError} if the client does not answer
   */
  roots(options: QuestionOptions = {}): Promise<readonly Root[]> {
    return this.#asked(questions.roots(this.#exchange, options));
  }

  /**
   * Runs an effect once per request. In stateless revisions, a handler that asks the client runs again from the start
   * in each round. `once` skips effects that completed in an earlier round and returns their result. An effect that
   * fails is not recorded: calling `once` with its key again retries it.
   * @param key a key that is unique within the handler. If several effects share a key, only the first runs
   * @param effect the function to run. It gets a key of its own, the same in all runs, for services that take one
   * @returns the result after a JSON round trip, in the first round as well: a `Date` becomes a string
   * @throws {Error} if the result cannot be written as JSON
   */
  once<T>(key: string, effect: (idempotencyKey: string) => T | Promise<T>): Promise<Jsonified<T>> {
    return this.#handled(onceAsJson(this.#exchange, key, effect));
  }

  /**
   * Waits, unless the request is cancelled. A handler that runs again waits only for what is left.
   * @param key a key that is unique within the handler
   * @param ms milliseconds to wait
   */
  sleep(key: string, ms: number): Promise<void> {
    return this.#handled(sleep(this.#exchange, { key, ms, signal: this.signal }));
  }

  /**
   * What the handler remembers for its caller across calls: for the user, on all sessions and connections, or else for the
   * session. Over stdio, for whoever runs the server. What is written is stored when the call completes. A call that
   * fails or asks the client writes nothing.
   * @param name what to remember, up to 64 characters
   * @throws {ToolError} for a caller without a principal and a session, whom nothing tells from others
   * @throws {TypeError} for an invalid name or option
   * @example await ctx.memory<string[]>('cart').update((now = []) => [...now, 'tea']);
   */
  memory<T>(name: string, options: RememberOptions = {}): Memory<T> {
    return memoryOf({ exchange: this.#exchange, scope: this.#scope }, name, options);
  }

  #asked<T>(answer: Promise<T>): Promise<T> {
    this.#scope.asking?.(answer);
    return this.#handled(answer);
  }

  #handled<T>(promise: Promise<T>): Promise<T> {
    this.#handling ??= new Handled(this.#exchange);
    return this.#handling.promise(promise);
  }

  /** Whether the handler is repeating work of an earlier round. `log` and `progress` are no-ops meanwhile. */
  get replaying(): boolean {
    return this.#exchange.peer.replaying === true;
  }

  /**
   * Checks whether the client still responds, in revisions that have `ping`.
   * @throws {QuestionError} if it does not answer in time
   */
  async ping(options: Pick<QuestionOptions, 'timeoutMs'> = {}): Promise<void> {
    await this.#asked(questions.ping(this.#exchange, options));
  }

  /**
   * Closes the response stream for now, which frees the connection while the handler works. The client reconnects to
   * get the rest. A no-op if the transport or the revision does not support it.
   * @param options.retryMs milliseconds after which the client should reconnect
   */
  closeStream({ retryMs }: { readonly retryMs?: number } = {}): void {
    if (this.#exchange.revision.primesStreams) this.#exchange.wire.closeStream?.(retryMs);
  }
}
