import { isObject, type JsonObject } from '@decorum/schema/internal';

import { Effects } from './effects.js';
import { QuestionError, McpError } from './errors.js';
import { notificationFrame } from './frame.js';
import { isRequestId, type JsonRpcMessage, type JsonRpcRequest, type JsonRpcResponse } from './jsonrpc.js';
import { MAX_KEPT_CHARS } from './limits.js';
import { type ClientCapabilities, type Implementation, LOG_LEVELS, type LogLevel } from './model.js';
import type { RequestId } from './model.js';
import type { Observation } from './observed.js';
import { ProgressTemplate } from './progress-template.js';
import type { Cancellation } from './reply.js';
import { REVISION_BY_ID } from './revisions/index.js';
import type { Question, Revision } from './revisions/revision.js';
import type { Need } from './scopes.js';
import type { MirroredArgument, Principal, Wire } from './wire.js';

/** Facts about the client that sent a request. */
export interface Client {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
}

/** A user's visit to a URL. It tells the page which question and which user the visit belongs to. */
export interface UrlElicitation {
  /** The id of the question, for `server.notify.elicitationCompleted`. */
  readonly id: string;
  /** The subject of the principal that started the request; undefined for anonymous callers. */
  readonly subject?: string | undefined;
  /** The issuer of that subject, if it has one. */
  readonly issuer?: string | undefined;
  /** The session in which the request started, if the transport has sessions. */
  readonly sessionId?: string | undefined;
}

/** Seals visits for use in URLs. */
export interface Tickets {
  issue(visit: UrlElicitation): string;
}

/** State that a session keeps for its client. Methods resolve once the change is saved. */
export interface Memory {
  /** The only principal that may use it; undefined while its session is anonymous. */
  readonly principal: Principal | undefined;
  setLogLevel(level: LogLevel): void | Promise<void>;
  /** @throws {McpError} `invalid-params` if the client has too many subscriptions */
  subscribe(uri: string): void | Promise<void>;
  unsubscribe(uri: string): void | Promise<void>;
}

/** The other side of a request: a session, a stand-in for one, or the envelope of a stateless request. */
export interface Peer {
  readonly revision: Revision;
  readonly client: Client;
  readonly sessionId?: string | undefined;
  /** The lowest log level that the client wants; undefined if it wants no messages. */
  readonly logLevel?: LogLevel | undefined;
  readonly tickets: Tickets;
  /** What the cursors of its lists are bound to; undefined for the principal. Another one once the caller has changed. */
  readonly cursorScope?: string | undefined;
  /** State that outlives the request, if there is any. */
  readonly memory?: Memory | undefined;
  /** Whether a lost connection cancels its requests. If not, the client may reconnect for the responses. */
  readonly endsWithConnection?: boolean;
  /** Whether the handler is repeating work of an earlier round. */
  readonly replaying?: boolean;
  /** Effects of earlier rounds; undefined if handlers run only once. */
  readonly effects?: Effects | undefined;
  /**
   * Reads the state and answers that the request carries from an earlier round; undefined if it carries none.
   * @throws {McpError} `invalid-state`, or `invalid-params` for malformed answers
   */
  readonly resume?: (() => void) | undefined;
  /** Negotiates a revision, if the era has `initialize`. */
  initialize?(params: JsonObject): Revision;
  /** Records that the client was sent to a URL, to notify it when the visit is complete. */
  expect?(elicitationId: string): void;
  /**
   * Asks the client and waits for its answer.
   * @throws {McpError} if the client responds with an error, does not answer in time, or the request is cancelled
   */
  ask(question: Question, exchange: Exchange): Promise<JsonObject>;
  /**
   * Marks the request's state as used, if states are single-use.
   * @throws {McpError} `invalid-state` if the state was used before
   */
  claim?(): Promise<void>;
  /** Checks mirrored headers against the arguments, if the revision has them. */
  checkArguments?(mirrored: readonly MirroredArgument[], args: JsonObject): void;
  /**
   * Ends the round if the client must answer first.
   * @returns the result that asks the client; undefined if nothing was asked
   */
  endRound?(exchange: Exchange): Promise<JsonObject> | undefined;
}

/** The peer of several messages, or a stand-in for one. It starts with `initialize`. */
export interface Conversation extends Peer {
  /** Whether the client has sent `initialize`. */
  readonly initialized: boolean;
  /** Settles the question that a response belongs to. Other responses are dropped. */
  settle(response: JsonRpcResponse): void;
  /** Handles a notification other than a cancellation. Resolves once its change is saved. */
  take(method: string): void | Promise<void>;
}

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

/** A request in flight, with its sender. */
export class Exchange {
  readonly id: RequestId;
  readonly method: string;
  params: JsonObject;
  readonly revision: Revision;
  /** The client's token for progress notifications. 0 and the empty string are valid tokens. */
  readonly progressToken: RequestId | undefined;
  /** Handles the request. Set once its method is found. */
  handler!: (exchange: Exchange) => string | Promise<string>;
  /** The request's requirements for its caller; undefined if they were never determined. */
  needs: readonly Need[] | undefined = undefined;
  /** Index in `InFlight`. Set once the request is in flight. */
  slot!: number;
  /** Why the request was cancelled. */
  cancelled: Cancellation | undefined = undefined;
  /** An error that the request fails with, whatever the handler returns. */
  fault: Error | undefined = undefined;
  /** Ends an open-ended request such as a subscription. */
  finish: (() => void) | undefined = undefined;
  /** Replies before the handler has ended. Set while the reply is pending. */
  settle: ((early: Cancellation | Error) => void) | undefined = undefined;
  /** Whether the request is over, even if its handler still runs. Notifications are then dropped. */
  closed = false;
  /** The observation for plugins; undefined without plugins. */
  observation: Observation | undefined = undefined;
  private progressTemplate: ProgressTemplate | undefined;
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
      throw new McpError(
        'invalid-params',
        'The progressToken is neither a string of up to 256 characters nor an integer.',
      );
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
    if (this.cancelled !== undefined) this.controller.abort(new DOMException(REASONS[this.cancelled], 'AbortError'));
    return this.controller.signal;
  }

  /** Whether messages from the handler no longer reach the client. */
  get over(): boolean {
    return this.closed || this.cancelled !== undefined;
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
    this.params = { uri, cursor, _meta, ...(isShort && { name }) };
  }

  /** Asks the client, through its peer. */
  async ask(question: Question): Promise<JsonObject> {
    if (this.closed) throw new QuestionError('The request has ended, so the client can no longer be asked.');
    return await this.peer.ask(question, this);
  }

  /** Runs an effect once per request, even if the handler runs several times. */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    this.effects ??= this.peer.effects ?? new Effects();
    return this.effects.once(key, effect);
  }

  /** Cancels the request. Its handler can send nothing more. */
  cancel(why: Cancellation, reason = REASONS[why]): void {
    if (this.over) return;
    this.cancelled = why;
    const error = new DOMException(reason, 'AbortError');
    this.controller?.abort(error);
    try {
      for (const callback of this.cancellations ?? []) callback(error);
    } finally {
      // settle even if a callback throws, such as one that sends to a closed transport
      this.settle?.(why);
    }
  }

  /** Fails the request, whatever its handler does from now on. */
  fail(error: Error): void {
    this.fault ??= error;
    this.settle?.(error);
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

  /** Sends progress if the client asked for it. Uses a template, because handlers may send thousands of these. */
  progress(progress: number, total: number | undefined, message: string | undefined): void {
    if (this.progressToken === undefined || this.over || this.peer.replaying) return;
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

const REASONS: Readonly<Record<Cancellation, string>> = {
  client: 'The request was cancelled.',
  gone: 'The client disconnected.',
  session: 'The session has ended.',
  closing: 'The server is closing.',
};
