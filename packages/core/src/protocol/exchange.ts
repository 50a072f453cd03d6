import { isObject, type JsonObject } from '@decorum/schema/internal';

import { type Effect, Effects } from './effects.js';
import { McpError, QuestionError } from './errors.js';
import { notificationFrame } from './frame.js';
import { isRequestId, type JsonRpcMessage, type JsonRpcRequest } from './jsonrpc.js';
import { MAX_KEPT_CHARS } from './limits.js';
import { LOG_LEVELS, type LogLevel, type RequestId } from './model.js';
import { noted, type Observation } from './observed.js';
import type { Asker, Peer } from './peer.js';
import { ProgressTemplate } from './progress-template.js';
import type { Remembered } from './records.js';
import { type Cancellation, CANCELLATION_REASONS } from './reply.js';
import { REVISION_BY_ID } from './revisions/index.js';
import type { Question, Revision } from './revisions/revision.js';
import type { Need } from './scopes.js';
import type { Wire } from './wire.js';

/** The `_meta` key that declares the revision of a request outside a session. */
export const REVISION_KEY = 'io.modelcontextprotocol/protocolVersion';

/**
 * Whether a message belongs to a session. A message that declares its revision in `_meta` does not. Neither does a
 * message whose transport declares a revision without sessions: it is then rejected instead of misread.
 */
export function belongsToSession(message: JsonRpcMessage, declared: string | undefined): boolean {
  const meta = (message as Partial<JsonRpcRequest>).params?.['_meta'];
  if (isObject(meta) && REVISION_KEY in meta) return false;
  return REVISION_BY_ID.get(declared)?.sessions !== false;
}

const NO_PARAMS: JsonObject = Object.freeze({});

/** The handler of a request: returns the JSON of the result. */
type Handler = (exchange: Exchange) => string | Promise<string>;

/** An exchange for the methods of this file. For all others, its fields are read-only. */
type Own = { -readonly [Field in keyof Exchange]: Exchange[Field] };

/**
 * A request with its sender, from the message to the reply. Its handler runs once. If the handler returns a promise,
 * `begin` makes the reply pending. `cancel` and `fail` settle a pending reply early, and `finish` ends the exchange. Only
 * the methods of this class change its fields.
 */
export class Exchange implements Asker {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  readonly revision: Revision;
  /** The client's token for progress notifications. 0 and the empty string are valid tokens. */
  readonly progressToken: RequestId | undefined;
  /** Handles the request. Set once its method is found. */
  readonly handler!: Handler;
  /** The request's requirements for its caller; undefined if they were never determined. */
  readonly needs: readonly Need[] | undefined = undefined;
  /** Why the request was cancelled. */
  readonly cancelled: Cancellation | undefined = undefined;
  /** Whether the handler has asked the client. */
  readonly hasAsked: boolean = false;
  /** The observation for plugins; undefined without plugins. */
  readonly observation: Observation | undefined = undefined;
  /** What the handler wants to remember; undefined if it has asked for nothing. */
  readonly remembered: Remembered | undefined = undefined;
  /** Whether the request is over, even if its handler still runs. Notifications are then dropped. */
  private closed = false;
  /** The registered name of the member that runs; undefined before it does. */
  member: string | undefined = undefined;
  /** An error that the request fails with, whatever the handler returns. */
  fault: Error | undefined = undefined;
  /** Replies before the handler has ended. Set while the reply is pending. */
  private reply: ((early: Cancellation | Error) => void) | undefined = undefined;
  private endOpenEnded: (() => void) | undefined = undefined;
  private progressTemplate: ProgressTemplate | undefined;
  private lastProgress = Number.NEGATIVE_INFINITY;
  private controller: AbortController | undefined;
  private cancellations: Set<(reason: Error) => void> | undefined;
  private effects: Effects | undefined;

  /** @throws {McpError} `invalid-params` for a progress token that is neither a string nor an integer */
  constructor(
    request: JsonRpcRequest,
    readonly peer: Peer,
    readonly wire: Wire,
  ) {
    this.id = request.id;
    this.method = request.method;
    this.params = request.params ?? NO_PARAMS;
    this.revision = peer.revision;
    const meta = this.params['_meta'];
    this.progressToken = isObject(meta) ? (meta['progressToken'] as RequestId | undefined) : undefined;
    if (this.progressToken !== undefined && !isRequestId(this.progressToken)) {
      const problem = 'The progressToken is neither a string of up to 256 characters nor an integer.';
      throw new McpError('invalid-params', problem);
    }
  }

  /** The request's `_meta`. */
  get meta(): JsonObject | undefined {
    const meta = this.params['_meta'];
    return isObject(meta) ? meta : undefined;
  }

  /**
   * Aborts when the client cancels the request, and when the server stops waiting for the handler. Created on first
   * use: most handlers never read it.
   */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.cancelled !== undefined)
      this.controller.abort(new DOMException(CANCELLATION_REASONS[this.cancelled], 'AbortError'));
    return this.controller.signal;
  }

  /** Whether the handler runs apart from its request: no transport owns it. */
  get isDetached(): boolean {
    return false;
  }

  /** Whether messages from the handler no longer reach the client. */
  get over(): boolean {
    return this.closed || this.cancelled !== undefined;
  }

  /** Sets the handler, once the request's method is found. */
  route(handler: Handler): void {
    (this as Own).handler = handler;
  }

  /** Records the requirements for the caller. */
  require(needs: readonly Need[]): void {
    (this as Own).needs = needs;
  }

  /** Records the observation for plugins. */
  observe(observation: Observation): void {
    (this as Own).observation = observation;
  }

  /**
   * Makes the reply pending.
   * @param reply called if the request is cancelled or fails before `finish`; at once if that has happened already
   */
  begin(reply: (early: Cancellation | Error) => void): void {
    this.reply = reply;
    // the request may have been cancelled before its handler returned a promise
    const early = this.cancelled ?? this.fault;
    if (early !== undefined) this.settle(early);
    if (this.peer.endsWithConnection) this.wire.onDisconnect?.(() => this.cancel('gone'));
  }

  /** Ends a wait that began before the handler ran. The request isn't over. */
  resume(): void {
    this.reply = undefined;
  }

  /**
   * Ends the request: its handler has ended.
   * @returns whether the reply is still pending. If not, the request was settled early
   */
  finish(): boolean {
    const isPending = this.reply !== undefined;
    this.reply = undefined;
    this.closed = true;
    return isPending;
  }

  /** What the handler remembers. Created on first use. */
  remember<R extends Remembered>(create: () => R): R {
    return ((this as Own).remembered ??= create()) as R;
  }

  /** Sets the function that ends an open-ended request such as a subscription. */
  keepOpen(end: () => void): void {
    this.endOpenEnded = end;
  }

  /** Ends the request if it is open-ended. */
  end(): void {
    this.endOpenEnded?.();
  }

  /** Replies early, if the reply is pending. */
  private settle(early: Cancellation | Error): void {
    const { reply } = this;
    if (reply === undefined) return;
    this.finish();
    reply(early);
  }

  /**
   * Releases params that nothing reads later, because the handler may wait for the client for minutes.
   * @throws {McpError} `invalid-params` if the `_meta` is too long
   */
  release(): void {
    const { name, uri, cursor, _meta } = this.params;
    if (_meta !== undefined && JSON.stringify(_meta).length > MAX_KEPT_CHARS) {
      const problem = `The "_meta" of a request that asks the client can have at most ${MAX_KEPT_CHARS} characters.`;
      throw new McpError('invalid-params', problem);
    }
    // logs name the member, and methods of extensions may have longer names
    const isShort = typeof name === 'string' && name.length <= MAX_KEPT_CHARS;
    (this as Own).params = { uri, cursor, _meta, ...(isShort && { name }) };
  }

  /** Asks the client, through its peer. */
  async ask(question: Question): Promise<JsonObject> {
    if (this.closed) throw new QuestionError('The request has ended, so the client can no longer be asked.');
    (this as Own).hasAsked = true;
    const { observation } = this;
    if (observation === undefined) return await this.peer.ask(question, this);
    return await noted(observation, question, () => this.peer.ask(question, this));
  }

  /** Runs an effect once per request, even if the handler runs several times. */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    return this.ownEffects.once(key, effect);
  }

  /** The effects of the request. */
  get ownEffects(): Effects {
    return (this.effects ??= (this.peer.effects ?? new Effects()).adopt(this.wire.effects));
  }

  /** Results of the effects of handlers so far. */
  get finishedEffects(): readonly Effect[] {
    return this.effects?.own() ?? [];
  }

  /** Cancels the request. Its handler can send nothing more. */
  cancel(why: Cancellation, reason = CANCELLATION_REASONS[why]): void {
    if (this.over) return;
    (this as Own).cancelled = why;
    const error = new DOMException(reason, 'AbortError');
    this.controller?.abort(error);
    try {
      for (const callback of this.cancellations ?? []) callback(error);
    } finally {
      // settle even if a callback throws, such as one that sends to a closed transport
      this.settle(why);
    }
  }

  /** Fails the request, whatever its handler does from now on. */
  fail(error: Error): void {
    this.fault ??= error;
    this.settle(error);
  }

  /**
   * Registers a callback for cancellation. The framework does not listen to `signal`, because Node warns about more
   * than ten listeners, and those are left to the handler.
   * @returns a function that unregisters the callback
   */
  onCancel(callback: (reason: Error) => void): () => void {
    const callbacks = (this.cancellations ??= new Set());
    callbacks.add(callback);
    return () => void callbacks.delete(callback);
  }

  /** Ends the round, and aborts whatever the handler left running. */
  endRound(): void {
    this.closed = true;
    this.controller ??= new AbortController();
    this.controller.abort(new DOMException('The client must answer first.', 'AbortError'));
  }

  /** Sends a notification for this request. Drops it if the request has ended, or if an earlier round has sent it. */
  notify(method: string, params: JsonObject): void {
    if (this.over || this.peer.replaying) return;
    this.wire.send(notificationFrame(method, params));
  }

  /** Whether progress increases, over all runs of the handler. */
  protected increases(progress: number): boolean {
    if (!(progress > this.lastProgress) || progress === Infinity) return false;
    this.lastProgress = progress;
    return true;
  }

  /** Sends progress if the client asked for it, and if it increases. Uses a template, because handlers may send thousands of these. */
  progress(progress: number, total: number | undefined, message: string | undefined): void {
    if (this.progressToken === undefined || this.over || !this.increases(progress) || this.peer.replaying) return;
    const template = (this.progressTemplate ??= new ProgressTemplate(this.progressToken));
    const shown = this.revision.progressMessages ? message : undefined;
    this.wire.send({ kind: 'progress', text: template.write(progress, total, shown) });
  }

  /** Whether the client wants log messages of this level. */
  logs(level: LogLevel): boolean {
    const threshold = this.peer.logLevel;
    return threshold !== undefined && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(threshold);
  }
}
