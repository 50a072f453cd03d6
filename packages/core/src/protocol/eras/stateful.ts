import { requireString } from '../checks.js';
import { ClientError, excerpt, McpError } from '../errors.js';
import type { Client, Exchange, Peer, Tickets } from '../exchange.js';
import { isObject, type JsonRpcResponse, notificationFrame, requestFrame } from '../jsonrpc.js';
import type { ClientCapabilities, Implementation, JsonObject, LogLevel, RequestId, Root } from '../model.js';
import { newestOf, revisionOf } from '../revisions/index.js';
import type { Question, Revision } from '../revisions/revision.js';
import { follows } from '../subscriptions.js';
import type { Principal } from '../wire.js';

/** How a session reaches its client outside of any request, and what it is called. */
export interface SessionOptions {
  /** Sends a frame that belongs to no request. */
  readonly push: (frame: string) => void;
  /** The id on the wire, where the transport has one. */
  readonly id?: string | undefined;
  /** The only one who may use the session. */
  readonly principal?: Principal | undefined;
  /** By default; false where it ends with its request, so that there is nothing to remember or to announce. */
  readonly lasting?: boolean;
  /** What the client sees before it sets a level. */
  readonly logLevel: LogLevel;
  /** Milliseconds to wait for an answer of the client. */
  readonly questionTimeoutMs: number;
  readonly tickets: Tickets;
}

/** More than a user has open at once; the oldest is forgotten first. */
const MAX_VISITS = 100;

interface Waiting {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/** What `initialize` leaves behind: one per stdio pipe or HTTP session. */
export class Session implements Peer {
  readonly sessionId: string | undefined;
  readonly principal: Principal | undefined;
  readonly push: (frame: string) => void;
  readonly questionTimeoutMs: number;
  readonly tickets: Tickets;
  /** Whether it lives longer than one request. */
  readonly lasting: boolean;
  /** The newest with sessions, until the client has said which it speaks. */
  revision: Revision = newestOf('stateful');
  /** The client has sent `initialize`. */
  initialized = false;
  /** Handlers of a session run once. */
  readonly replaying = false;
  /** A session waits for its answers. */
  readonly asking = false;
  client: Client = { info: undefined, capabilities: {} };
  logLevel: LogLevel | undefined;
  /** URIs of the resources whose updates the client wants. */
  readonly subscriptions = new Set<string>();
  /** Requests under way, for cancellation. */
  readonly calls = new Map<RequestId, Exchange>();
  /** Kept until the client says that they changed. */
  roots: readonly Root[] | undefined;
  /** The URLs that the client was sent to, by the id of the question. */
  private readonly visits = new Set<string>();
  private asked = 0;
  private readonly waiting = new Map<string, Waiting>();

  constructor(options: SessionOptions) {
    this.sessionId = options.id;
    this.principal = options.principal;
    this.push = options.push;
    this.lasting = options.lasting ?? true;
    // where the client cannot set a level, it has not been told of log messages either
    this.logLevel = this.lasting ? options.logLevel : undefined;
    this.questionTimeoutMs = options.questionTimeoutMs;
    this.tickets = options.tickets;
  }

  /**
   * Agrees on a revision: the one the client asks for where it has sessions, else the newest that has.
   * @throws {McpError} `invalid-request` on a second `initialize`
   */
  initialize(params: JsonObject): Revision {
    if (this.initialized) throw new McpError('invalid-request', 'The session is initialized already.');
    const asked = revisionOf(requireString(params, 'protocolVersion'));
    const { capabilities, clientInfo } = params;
    this.client = {
      info: isObject(clientInfo) ? (clientInfo as unknown as Implementation) : undefined,
      capabilities: isObject(capabilities) ? (capabilities as ClientCapabilities) : {},
    };
    this.revision = asked?.era === 'stateful' ? asked : newestOf('stateful');
    this.initialized = true;
    return this.revision;
  }

  async ask(question: Question, exchange: Exchange): Promise<JsonObject> {
    const wording = this.revision.question(question);
    if (wording === undefined) {
      throw new McpError('missing-capability', `The protocol revision of the client has no such "${question.method}".`);
    }
    const { elicitationId } = wording.params;
    if (typeof elicitationId === 'string') this.expect(elicitationId);
    if (question.method === 'roots/list') return await this.askRoots(question, exchange);
    const answer = await this.send({ ...question, params: wording.params }, exchange);
    return wording.restore?.(answer) ?? answer;
  }

  expect(elicitationId: string): void {
    const [oldest] = this.visits;
    if (oldest !== undefined && this.visits.size >= MAX_VISITS) this.visits.delete(oldest);
    this.visits.add(elicitationId);
  }

  /** Tells the client that what it was asked to do at a URL is done. Only who was asked is told, and once. */
  completed(elicitationId: string): void {
    if (this.visits.delete(elicitationId)) this.tell('notifications/elicitation/complete', { elicitationId });
  }

  interim(): undefined {
    return undefined;
  }

  private async askRoots(question: Question, exchange: Exchange): Promise<JsonObject> {
    if (this.roots !== undefined) return { roots: this.roots };
    const answer = await this.send(question, exchange);
    if (question.fits?.(answer) === true) this.roots = answer['roots'] as Root[];
    return answer;
  }

  /** Sends a request on the stream of the exchange it belongs to, and waits for the answer. */
  private send(question: Question, exchange: Exchange): Promise<JsonObject> {
    const { wire } = exchange;
    const id = `s${++this.asked}`;
    return new Promise<JsonObject>((resolve, reject) => {
      const stop = (error: Error, reason: string) => {
        wire.send(notificationFrame('notifications/cancelled', { requestId: id, reason }));
        settle(() => reject(error));
      };
      const forget = exchange.onCancel((reason) => stop(reason, 'The request it belongs to was cancelled.'));
      const ms = question.timeoutMs ?? this.questionTimeoutMs;
      const timer = setTimeout(
        () => stop(new ClientError(`The client did not answer within ${ms} ms.`), 'Timed out.'),
        ms,
      );
      const settle = (finish: () => void) => {
        clearTimeout(timer);
        forget();
        this.waiting.delete(id);
        finish();
      };
      this.waiting.set(id, {
        resolve: (result) => settle(() => resolve(result)),
        reject: (error) => settle(() => reject(error)),
      });
      if (exchange.cancelled) return settle(() => reject(exchange.signal.reason as Error));
      wire.send(requestFrame(id, question.method, question.params));
    });
  }

  wantsList(): boolean {
    return true;
  }

  wantsResource(uri: string, exactly: boolean): boolean {
    return follows(this.subscriptions, uri, exactly);
  }

  /** Sends a notification that belongs to no request. */
  tell(method: string, params: JsonObject): void {
    this.push(this.revision.notification(method, params));
  }

  /** Takes an answer of the client. Late answers and answers to questions of others are dropped. */
  settle({ id, result, error }: JsonRpcResponse): void {
    const waiting = typeof id === 'string' ? this.waiting.get(id) : undefined;
    if (isObject(result)) waiting?.resolve(result);
    else waiting?.reject(refusal(error));
  }

  /** The client is gone: gives up all requests and questions. */
  close(): void {
    for (const exchange of this.calls.values()) exchange.cancel('The session has ended.');
    for (const { reject } of this.waiting.values()) reject(new ClientError('The session has ended.'));
    this.subscriptions.clear();
  }
}

function refusal(error: JsonRpcResponse['error']): ClientError {
  if (error === undefined || !Number.isSafeInteger(error.code))
    return new ClientError('The client sent an invalid answer.');
  return new ClientError(`The client answered with an error: ${excerpt(error.message)}`, error);
}

const BEFORE_INITIALIZE = new Set(['initialize', 'ping']);

/**
 * Refuses requests that come too early.
 * @throws {McpError} `invalid-request`
 */
export function requireInitialized({ initialized }: Session, method: string): void {
  if (initialized || BEFORE_INITIALIZE.has(method)) return;
  throw new McpError('invalid-request', 'The first request of a session is "initialize".');
}
