import { Effects } from './effects.js';
import { ClientError, McpError } from './errors.js';
import { isObject, isRequestId, type JsonRpcMessage, type JsonRpcRequest } from './jsonrpc.js';
import { type ClientCapabilities, type Implementation, type JsonObject, LOG_LEVELS, type LogLevel } from './model.js';
import type { RequestId } from './model.js';
import { revisionOf } from './revisions/index.js';
import type { Question, Revision } from './revisions/revision.js';
import type { Wire } from './wire.js';

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

/** The other side of a request, as its era knows it: a session, or what the request says of itself. */
export interface Peer {
  readonly revision: Revision;
  readonly client: Client;
  readonly sessionId: string | undefined;
  /** The least severe level the client wants to see; undefined when it wants none. */
  readonly logLevel: LogLevel | undefined;
  /** There are questions that the client must answer before the request can have a result. */
  readonly asking: boolean;
  /** The handler is running again through what it has done in an earlier round. */
  readonly replaying: boolean;
  /**
   * Reads what the request brings from an earlier round; undefined where it brings nothing.
   * @throws {McpError} `invalid-state`, or `invalid-params` for answers that are none
   */
  readonly resume?: (() => void) | undefined;
  /** Rejects when the handler is not to be waited for any more. */
  readonly failure?: Promise<never> | undefined;
  /** What was done once in earlier rounds; undefined where the handler runs once. */
  readonly effects?: Effects | undefined;
  readonly tickets: Tickets;
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
  /** Waits for what is to be remembered in the next round, as long as the client is there. */
  finishRound?(exchange: Exchange): Promise<void>;
  /** What takes the place of the result, where the client must answer first. */
  interim(): JsonObject | undefined;
}

/** The key of `_meta` under which a request names its revision, where it belongs to no session. */
export const REVISION_KEY = 'io.modelcontextprotocol/protocolVersion';

/**
 * Whether a message belongs to the stateless era. The body decides: it names its revision in `_meta`. Where it names
 * none, a stateless revision declared by the carriage still claims it, so that it is refused and not misunderstood.
 */
export function isStateless(message: JsonRpcMessage, declared: string | undefined, session?: Peer): boolean {
  const meta = 'params' in message ? message.params?.['_meta'] : undefined;
  if (isObject(meta) && REVISION_KEY in meta) return true;
  return declared !== undefined && declared !== session?.revision.id && revisionOf(declared)?.era === 'stateless';
}

const NO_PARAMS: JsonObject = Object.freeze({});

/** One request under way: what it wants, who sent it, and how to reach its sender. */
export class Exchange {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
  readonly revision: Revision;
  /** The client's token for progress notifications; 0 and the empty string are tokens too. */
  readonly progressToken: RequestId | undefined;
  /** Where the kernel keeps it among those under way. */
  slot: number;
  private state: 'open' | 'cancelled' | 'closed';
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
    this.state = 'open';
    this.slot = 0;
    const meta = this.params['_meta'];
    this.progressToken = isObject(meta) ? (meta['progressToken'] as RequestId | undefined) : undefined;
    if (this.progressToken !== undefined && !isRequestId(this.progressToken)) {
      throw new McpError('invalid-params', 'The progressToken is neither a string nor an integer.');
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
    if (this.state === 'cancelled' && !this.controller.signal.aborted) this.controller.abort();
    return this.controller.signal;
  }

  get cancelled(): boolean {
    return this.state === 'cancelled';
  }

  /** Nothing that the handler still does reaches the client. */
  get over(): boolean {
    return this.state !== 'open';
  }

  /** Asks the client, through its peer. */
  async ask(question: Question): Promise<JsonObject> {
    if (this.state === 'closed')
      throw new ClientError('The request is over: the client cannot be asked for it any more.');
    return await this.peer.ask(question, this);
  }

  /** Does something once, however often the handler runs for this request. */
  once<T>(key: string, effect: () => T | Promise<T>): Promise<T> {
    this.effects ??= this.peer.effects ?? new Effects();
    return this.effects.once(key, effect);
  }

  /** Gives the request up: nothing more is sent for it. */
  cancel(reason?: string): void {
    if (this.state !== 'open') return;
    this.state = 'cancelled';
    const error = new DOMException(reason ?? 'The request was cancelled.', 'AbortError');
    this.controller?.abort(error);
    for (const callback of this.cancellations ?? []) callback(error);
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
    this.close();
    this.controller ??= new AbortController();
    this.controller.abort(new DOMException('The client must answer first.', 'AbortError'));
  }

  /** The handler is done: later notifications of it are dropped. */
  close(): void {
    if (this.state === 'open') this.state = 'closed';
  }

  /** Sends a notification that belongs to this request, as long as it is under way and was not sent before. */
  notify(method: string, params: JsonObject): void {
    if (this.state !== 'open' || this.peer.replaying) return;
    this.wire.send(this.revision.notification(method, params));
  }

  /** Whether the client wants to see log messages of this level. */
  logs(level: LogLevel): boolean {
    const threshold = this.peer.logLevel;
    return threshold !== undefined && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(threshold);
  }
}
