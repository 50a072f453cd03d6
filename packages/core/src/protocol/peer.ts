import type { JsonObject } from '@decorum/schema/internal';

import type { TagVisibility } from './access-caller.js';
import type { Client } from './client.js';
import type { Effects } from './effects.js';
import type { JsonRpcNotification, JsonRpcResponse } from './jsonrpc.js';
import type { LogLevel } from './model.js';
import type { Records } from './records.js';
import type { Cancellation } from './reply.js';
import type { Question, Revision } from './revisions/revision.js';
import type { MirroredArgument, Principal, Wire } from './wire.js';

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

/** What peers have of their server. */
export interface PeerMeans {
  readonly tickets: Tickets;
  readonly records: Records;
}

/** What a session shows and hides from now on; undefined for nothing out of the ordinary. */
export type VisibilityChange = (now: TagVisibility | undefined) => TagVisibility | undefined;

/** State that a session keeps for its client. Methods resolve once the change is saved. */
export interface Memory {
  /** The only principal that may use it; undefined while its session is anonymous. */
  readonly principal: Principal | undefined;
  setLogLevel(level: LogLevel): void | Promise<void>;
  /** @throws {McpError} `invalid-params` if the client has too many subscriptions */
  subscribe(uri: string): void | Promise<void>;
  unsubscribe(uri: string): void | Promise<void>;
  /**
   * Changes which tags are shown and hidden, and tells the client of the lists that this changes.
   * @param change returns what holds from now on. It is called again if another process has changed it, too
   */
  changeVisibility(change: VisibilityChange): Promise<void>;
}

/** A request whose handler asks the client: an exchange, as its peer sees it. */
export interface Asker {
  readonly wire: Wire;
  /** Why the request was cancelled. */
  readonly cancelled: Cancellation | undefined;
  readonly signal: AbortSignal;
  /** Releases params that nothing reads while the handler waits for the client. */
  release(): void;
  /** Registers a callback for cancellation, and returns a function that unregisters it. */
  onCancel(callback: (reason: Error) => void): () => void;
  /** Fails the request, whatever its handler does from now on. */
  fail(error: Error): void;
  /** Ends the round, because the client must answer first. */
  endRound(): void;
}

/** The other side of a request: a session, a stand-in for one, or the envelope of a stateless request. */
export interface Peer extends PeerMeans {
  readonly revision: Revision;
  readonly client: Client;
  readonly sessionId?: string | undefined;
  /** The lowest log level that the client wants; undefined if it wants no messages. */
  readonly logLevel?: LogLevel | undefined;
  /** The tags that its session shows and hides; undefined if nothing was shown or hidden. */
  readonly visibility?: TagVisibility | undefined;
  /** What the cursors of its lists are bound to; undefined for the principal. Another one once the caller has changed. */
  readonly cursorScope?: string | undefined;
  /** State that outlives the request, if there is any. */
  readonly memory?: Memory | undefined;
  /** Whether a lost connection cancels its requests. If not, the client may reconnect for the responses. */
  readonly endsWithConnection?: boolean;
  /** Whether the handler is repeating work of an earlier round. */
  readonly replaying?: boolean;
  /** Whether the round ends with a question: the handler runs again once the client has answered. */
  readonly isAsking?: boolean;
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
  ask(question: Question, asker: Asker): Promise<JsonObject>;
  /**
   * Waits in place of a handler that sleeps. Without it, the handler waits for a timer.
   * @param end milliseconds since 1970
   * @throws {DOMException} `AbortError` once `signal` aborts
   */
  readonly sleep?: ((end: number, signal: AbortSignal) => Promise<void>) | undefined;
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
  endRound?(asker: Asker): Promise<JsonObject> | undefined;
}

/** The peer of several messages, or a stand-in for one. It starts with `initialize`. */
export interface Conversation extends Peer {
  /** Whether the client has sent `initialize`. */
  readonly initialized: boolean;
  /**
   * Settles the question that a response belongs to. Late responses are dropped.
   * @returns whether a process took it. False if the one that waited for it is gone
   */
  settle(response: JsonRpcResponse): boolean | Promise<boolean>;
  /** Passes on a cancellation of a request that this process doesn't have. */
  forward?(message: JsonRpcNotification): void;
  /** Handles a notification other than a cancellation. Resolves once its change is saved. */
  take(method: string): void | Promise<void>;
}
