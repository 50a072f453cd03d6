import { isObject, requireString } from '../checks.js';
import { McpError } from '../errors.js';
import { type Client, Exchange } from '../exchange.js';
import { type JsonRpcRequest, type JsonRpcResponse, notificationFrame, requestFrame } from '../jsonrpc.js';
import type { ClientCapabilities, Implementation, JsonObject, LogLevel, RequestId, Root } from '../model.js';
import { newestOf, revisionOf } from '../revisions/index.js';
import type { Question, Revision } from '../revisions/revision.js';
import type { Principal, Wire } from '../wire.js';

/** How a session reaches its client outside of any request, and what it is called. */
export interface SessionOptions {
  /** Sends a frame that belongs to no request. */
  readonly push: (frame: string) => void;
  /** The id on the wire, where the transport has one. */
  readonly id?: string | undefined;
  /** The only one who may use the session. */
  readonly principal?: Principal | undefined;
  /** What the client sees before it sets a level. */
  readonly logLevel: LogLevel;
  /** Milliseconds to wait for an answer of the client. */
  readonly questionTimeoutMs: number;
}

interface Waiting {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/** What `initialize` leaves behind: one per stdio pipe or HTTP session. */
export class Session {
  readonly id: string | undefined;
  readonly principal: Principal | undefined;
  readonly push: (frame: string) => void;
  readonly questionTimeoutMs: number;
  /** Undefined until the client has sent `initialize`. */
  revision: Revision | undefined;
  client: Client = { info: undefined, capabilities: {} };
  logLevel: LogLevel;
  /** URIs of the resources whose updates the client wants. */
  readonly subscriptions = new Set<string>();
  /** Requests under way, for cancellation. */
  readonly calls = new Map<RequestId, Exchange>();
  /** Kept until the client says that they changed. */
  roots: readonly Root[] | undefined;
  private asked = 0;
  private readonly waiting = new Map<string, Waiting>();

  constructor(options: SessionOptions) {
    this.id = options.id;
    this.principal = options.principal;
    this.push = options.push;
    this.logLevel = options.logLevel;
    this.questionTimeoutMs = options.questionTimeoutMs;
  }

  /**
   * Agrees on a revision: the one the client asks for where it has sessions, else the newest that has.
   * @throws {McpError} `invalid-request` on a second `initialize`
   */
  initialize(params: JsonObject): Revision {
    if (this.revision !== undefined) throw new McpError('invalid-request', 'The session is initialized already.');
    const asked = revisionOf(requireString(params, 'protocolVersion'));
    const { capabilities, clientInfo } = params;
    this.client = {
      info: isObject(clientInfo) ? (clientInfo as unknown as Implementation) : undefined,
      capabilities: isObject(capabilities) ? (capabilities as ClientCapabilities) : {},
    };
    this.revision = asked?.era === 'stateful' ? asked : newestOf('stateful');
    return this.revision;
  }

  /** Sends a request on the stream of the exchange it belongs to, and waits for the answer. */
  ask(question: Question, exchange: Exchange): Promise<JsonObject> {
    const id = `s${++this.asked}`;
    const { wire, signal } = exchange;
    return new Promise<JsonObject>((resolve, reject) => {
      const stop = (error: Error, reason: string) => {
        wire.send(notificationFrame('notifications/cancelled', { requestId: id, reason }));
        settle(() => reject(error));
      };
      const aborted = () => stop(signal.reason as Error, 'The request it belongs to was cancelled.');
      const ms = question.timeoutMs ?? this.questionTimeoutMs;
      const timer = setTimeout(
        () => stop(new McpError('internal-error', `The client did not answer within ${ms} ms.`), 'Timed out.'),
        ms,
      );
      const settle = (finish: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
        this.waiting.delete(id);
        finish();
      };
      this.waiting.set(id, {
        resolve: (result) => settle(() => resolve(result)),
        reject: (error) => settle(() => reject(error)),
      });
      wire.send(requestFrame(id, question.method, question.params));
      if (signal.aborted) aborted();
      else signal.addEventListener('abort', aborted);
    });
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
    for (const { reject } of this.waiting.values()) reject(new McpError('internal-error', 'The session has ended.'));
    this.subscriptions.clear();
  }
}

function refusal(error: JsonRpcResponse['error']): McpError {
  if (typeof error?.code !== 'number') return new McpError('internal-error', 'The client sent an invalid answer.');
  return new McpError(error.code, `The client answered with an error: ${String(error.message)}`, error.data);
}

/** A request of a session. */
class SessionExchange extends Exchange {
  constructor(
    request: JsonRpcRequest,
    wire: Wire,
    private readonly session: Session,
  ) {
    super(request, session.revision ?? newestOf('stateful'), wire);
  }

  override get client(): Client {
    return this.session.client;
  }

  override get sessionId(): string | undefined {
    return this.session.id;
  }

  override get logLevel(): LogLevel {
    return this.session.logLevel;
  }

  override async ask(question: Question): Promise<JsonObject> {
    const wording = this.revision.question(question);
    if (wording === undefined) {
      throw new McpError('missing-capability', `The protocol revision of the client has no "${question.method}".`);
    }
    if (question.method === 'roots/list') return await this.askRoots(question);
    const answer = await this.session.ask({ ...question, params: wording.params }, this);
    return wording.restore?.(answer) ?? answer;
  }

  private async askRoots(question: Question): Promise<JsonObject> {
    const roots = this.session.roots;
    if (roots !== undefined) return { roots };
    const answer = await this.session.ask(question, this);
    if (Array.isArray(answer['roots'])) this.session.roots = answer['roots'] as Root[];
    return answer;
  }
}

const BEFORE_INITIALIZE = new Set(['initialize', 'ping']);

/**
 * Opens the exchange of a request of a session.
 * @throws {McpError} `invalid-request` before `initialize`
 */
export function openStateful(request: JsonRpcRequest, wire: Wire, session: Session): Exchange {
  if (session.revision === undefined && !BEFORE_INITIALIZE.has(request.method)) {
    throw new McpError('invalid-request', 'The first request of a session is "initialize".');
  }
  return new SessionExchange(request, wire, session);
}
