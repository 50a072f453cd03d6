import { Effects } from './effects.js';
import { ClientError, McpError } from './errors.js';
import { notificationFrame } from './frame.js';
import { isObject, isRequestId, type JsonRpcMessage, type JsonRpcRequest, type JsonRpcResponse } from './jsonrpc.js';
import { type ClientCapabilities, type Implementation, type JsonObject, LOG_LEVELS, type LogLevel } from './model.js';
import type { RequestId } from './model.js';
import { ProgressTemplate } from './progress-template.js';
import type { Cancellation } from './reply.js';
import { revisionOf } from './revisions/index.js';
import type { Question, Revision } from './revisions/revision.js';
import type { MirroredArgument, Wire } from './wire.js';

/** What is known of the client that sent a request. */
export interface Client {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
}

/** A user's visit to a URL: what a page must know to say what it completes, and for whom. */
export interface Visit {
  /** The id of the question, as of `server.notify.elicitationCompleted`. */
  readonly id: string;
  /** The subject of the principal who began; undefined where nobody was known. */
  readonly subject?: string | undefined;
  /** The session it began in, where the transport has sessions. */
  readonly sessionId?: string | undefined;
}

/** Seals visits, so that a URL can carry them. */
export interface Tickets {
  issue(visit: Visit): string;
}

/** What a session remembers for its client. What changes it resolves when the change is kept. */
export interface Memory {
  setLogLevel(level: LogLevel): void | Promise<void>;
  /** @throws {McpError} `invalid-params` where the client follows too many resources */
  subscribe(uri: string): void | Promise<void>;
  unsubscribe(uri: string): void | Promise<void>;
}

/** The other side of a request: a session, what stands in for one, or what the request says of itself. */
export interface Peer {
  readonly revision: Revision;
  readonly client: Client;
  readonly sessionId?: string | undefined;
  /** The least severe level the client wants to see; undefined when it wants none. */
  readonly logLevel?: LogLevel | undefined;
  readonly tickets: Tickets;
  /** What outlives the request; undefined where nothing does. */
  readonly memory?: Memory | undefined;
  /** The client has given its requests up when its connection is gone; otherwise it may come back for its answers. */
  readonly endsWithConnection?: boolean;
  /** The handler is running again through what it has done in an earlier round. */
  readonly replaying?: boolean;
  /** What was done once in earlier rounds; undefined where the handler runs once. */
  readonly effects?: Effects | undefined;
  /**
   * Reads what the request brings from an earlier round; undefined where it brings nothing.
   * @throws {McpError} `invalid-state`, or `invalid-params` for answers that are none
   */
  readonly resume?: (() => void) | undefined;
  /** Begins the conversation, where it has a beginning: agrees on a revision. */
  initialize?(params: JsonObject): Revision;
  /** Remembers that the client was sent to a URL, where it can be told that the visit is completed. */
  expect?(elicitationId: string): void;
  /**
   * Asks the client and waits for its answer.
   * @throws {McpError} when the client answers with an error, does not answer in time, or the request is cancelled
   */
  ask(question: Question, exchange: Exchange): Promise<JsonObject>;
  /**
   * Uses up what the request brings from an earlier round, where that is good for one use.
   * @throws {McpError} `invalid-state` when it was used before
   */
  claim?(): Promise<void>;
  /** Checks the mirrored arguments, where the revision has them. */
  checkArguments?(mirrored: readonly MirroredArgument[], args: JsonObject): void;
  /**
   * Ends the round where the client must answer before there can be a result.
   * @returns what takes the place of the result; undefined where nothing was asked
   */
  endRound?(exchange: Exchange): Promise<JsonObject> | undefined;
}

/** A peer that is one for several messages, or stands in for one: what `initialize` begins. */
export interface Conversation extends Peer {
  /** The client has sent `initialize`. */
  readonly initialized: boolean;
  /** Takes a response of the client. Responses to nothing are dropped. */
  settle(response: JsonRpcResponse): void;
  /** Takes a notification of the client, beside those that cancel; resolves when what it changes is kept. */
  take(method: string): void | Promise<void>;
}

/** The key of `_meta` under which a request names its revision, where it belongs to no session. */
export const REVISION_KEY = 'io.modelcontextprotocol/protocolVersion';

/**
 * Whether a message belongs to a session. The body decides: a message that names its revision in `_meta` belongs to none.
 * Where it names no revision, one without sessions that the transport declares still claims it, so that it is refused
 * rather than misunderstood.
 */
export function belongsToSession(message: JsonRpcMessage, declared: string | undefined, session?: Peer): boolean {
  const meta = 'params' in message ? message.params?.['_meta'] : undefined;
  if (isObject(meta) && REVISION_KEY in meta) return false;
  return declared === undefined || declared === session?.revision.id || revisionOf(declared)?.sessions !== false;
}

const NO_PARAMS: JsonObject = Object.freeze({});

/** One request in flight: what it wants, who sent it, and how to reach its sender. */
export class Exchange {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  readonly revision: Revision;
  /** The client's token for progress notifications; 0 and the empty string are tokens too. */
  readonly progressToken: RequestId | undefined;
  /** Where the book of what is in flight keeps it. */
  slot = 0;
  /** Why it was given up. */
  cancelled: Cancellation | undefined = undefined;
  /** Why it fails, whatever its handler does. */
  fault: Error | undefined = undefined;
  /** Ends what would go on for as long as the client wants. */
  finish: (() => void) | undefined = undefined;
  /** Answers before the handler has ended: undefined where nothing waits for it. */
  settle: ((early: Cancellation | Error) => void) | undefined = undefined;
  /** The handler is done: later notifications of it are dropped. */
  closed = false;
  private progressTemplate: ProgressTemplate | undefined;
  private controller: AbortController | undefined;
  private cancellations: Set<(reason: Error) => void> | undefined;
  private effects: Effects | undefined;

  /** @throws {McpError} `invalid-params` for a token that is neither a string nor an integer */
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

  /** Aborts when the client cancels, and when the server stops waiting. Made on first use: most handlers never look. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.cancelled !== undefined) this.controller.abort(new DOMException(REASONS[this.cancelled], 'AbortError'));
    return this.controller.signal;
  }

  /** Nothing that the handler still does reaches the client. */
  get over(): boolean {
    return this.closed || this.cancelled !== undefined;
  }

  /** Asks the client, through its peer. */
  async ask(question: Question): Promise<JsonObject> {
    if (this.closed) throw new ClientError('The request is over: the client cannot be asked for it any more.');
    return await this.peer.ask(question, this);
  }

  /** Does something once, however often the handler runs for this request. */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    this.effects ??= this.peer.effects ?? new Effects();
    return this.effects.once(key, effect);
  }

  /** Gives the request up: nothing more is sent for it. */
  cancel(why: Cancellation, reason = REASONS[why]): void {
    if (this.over) return;
    this.cancelled = why;
    const error = new DOMException(reason, 'AbortError');
    this.controller?.abort(error);
    try {
      for (const callback of this.cancellations ?? []) callback(error);
    } finally {
      // whatever the transport makes of what is sent to it
      this.settle?.(why);
    }
  }

  /** Fails the request, whatever its handler does from now on. */
  fail(error: Error): void {
    this.fault ??= error;
    this.settle?.(error);
  }

  /**
   * Calls back when the request is given up. Listeners of `signal` are the handler's: Node warns of more than ten.
   * @returns a function that takes the callback back
   */
  onCancel(callback: (reason: Error) => void): () => void {
    this.cancellations ??= new Set();
    this.cancellations.add(callback);
    return () => this.cancellations?.delete(callback);
  }

  /** The round is over, and what the handler left running is not waited for. */
  endRound(): void {
    this.closed = true;
    this.controller ??= new AbortController();
    this.controller.abort(new DOMException('The client must answer first.', 'AbortError'));
  }

  /** Sends a notification that belongs to this request, as long as it is in flight and was not sent before. */
  notify(method: string, params: JsonObject): void {
    if (this.over || this.peer.replaying) return;
    this.wire.send(notificationFrame(method, params));
  }

  /** Sends progress, if the client has given a token for it. Written by hand: handlers may send it thousands of times. */
  progress(progress: number, total: number | undefined, message: string | undefined): void {
    if (this.progressToken === undefined || this.over || this.peer.replaying) return;
    const template = (this.progressTemplate ??= new ProgressTemplate(this.progressToken));
    const shown = this.revision.progressMessages ? message : undefined;
    this.wire.send({ kind: 'progress', text: template.write(progress, total, shown) });
  }

  /** Whether the client wants to see log messages of this level. */
  logs(level: LogLevel): boolean {
    const threshold = this.peer.logLevel;
    return threshold !== undefined && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(threshold);
  }
}

const REASONS: Readonly<Record<Cancellation, string>> = {
  client: 'The request was cancelled.',
  gone: 'The client went away.',
  session: 'The session has ended.',
  closing: 'The server is closing.',
};
