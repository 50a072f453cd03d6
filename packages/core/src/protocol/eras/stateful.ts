import { clientOf, requireString, UNKNOWN_CLIENT } from '../checks.js';
import { ClientError, excerpt, McpError } from '../errors.js';
import type { Client, Conversation, Exchange, Memory, Tickets } from '../exchange.js';
import { type Frame, notificationFrame, questionFrame } from '../frame.js';
import { isObject, type JsonRpcResponse } from '../jsonrpc.js';
import type { JsonObject, LogLevel, Root } from '../model.js';
import { newestOf, revisionOf } from '../revisions/index.js';
import type { Question, Revision } from '../revisions/revision.js';
import { follows } from '../subscriptions.js';
import type { Principal } from '../wire.js';

/** What of a session must outlive a process. It is JSON. */
export interface SessionRecord {
  /** The id on the wire, where the transport has one. */
  readonly id?: string | undefined;
  /** The only one who may use the session. */
  readonly principal?: Principal | undefined;
  /** The revision that was agreed on; undefined until the client has sent `initialize`. */
  revision?: string;
  client?: Client;
  /** The client has sent `notifications/initialized`. */
  joined?: boolean;
  /** What the client sees of log messages, once it has set a level. */
  logLevel?: LogLevel;
  /** URIs of the resources whose updates the client wants. */
  subscriptions?: readonly string[];
  /** Milliseconds since 1970, as are all times of a record. */
  readonly createdAt: number;
  usedAt: number;
}

/** What all sessions of a server share. */
export interface SessionMeans {
  /** What the client sees before it sets a level. */
  readonly logLevel: LogLevel;
  /** Milliseconds to wait for an answer of the client. */
  readonly questionTimeoutMs: number;
  readonly tickets: Tickets;
  /** A client wants to hear of changes from now on. */
  readonly join: (session: Session) => void;
}

/** How a session reaches its client outside of any request, and how it is kept. */
export interface SessionOptions {
  /** Sends a frame that belongs to no request. */
  readonly push: (frame: Frame) => void;
  /** Keeps the record when it has changed; undefined where it lives as long as this process. */
  readonly save?: ((record: SessionRecord) => void | Promise<void>) | undefined;
}

/** Cap on pending URL visits; the oldest is forgotten first. */
const MAX_VISITS = 100;

/** Cap on the resources that one session follows. */
const MAX_SUBSCRIPTIONS = 1000;

type Waiting = (answer: { readonly result: JsonObject } | { readonly error: Error }) => void;

/** What `initialize` leaves behind, one per stdio pipe or HTTP session: a record, and what lives in this process only. */
export class Session implements Conversation, Memory {
  /** The newest with sessions, until the client has said which it speaks. */
  revision: Revision;
  initialized: boolean;
  /** Kept until the client says that they changed, where it does. */
  private roots: readonly Root[] | undefined;
  /** How often the client has said that. */
  private rootsChanges = 0;
  /** What the record says, for looking up. */
  private followed: ReadonlySet<string> | undefined;
  /** The URLs that the client was sent to, by the id of the question. */
  private visits: Set<string> | undefined;
  private waiting: Map<string, Waiting> | undefined;
  private asked = 0;

  constructor(
    private readonly means: SessionMeans,
    readonly record: SessionRecord,
    private readonly options: SessionOptions,
  ) {
    this.revision = revisionOf(record.revision) ?? newestOf('stateful');
    this.initialized = record.revision !== undefined;
    if (record.joined) means.join(this);
  }

  get sessionId(): string | undefined {
    return this.record.id;
  }

  get client(): Client {
    return this.record.client ?? UNKNOWN_CLIENT;
  }

  get logLevel(): LogLevel {
    return this.record.logLevel ?? this.means.logLevel;
  }

  get tickets(): Tickets {
    return this.means.tickets;
  }

  get memory(): Memory {
    return this;
  }

  /**
   * Agrees on a revision: the one the client asks for where it has sessions, else the newest that has.
   * @throws {McpError} `invalid-request` on a second `initialize`
   */
  initialize(params: JsonObject): Revision {
    if (this.initialized) throw new McpError('invalid-request', 'The session is initialized already.');
    this.revision = agreedRevision(params);
    this.record.client = clientOf(params['clientInfo'], params['capabilities']);
    this.record.revision = this.revision.id;
    this.initialized = true;
    return this.revision;
  }

  /** Takes over what another process has changed in the record. */
  refresh({ logLevel, subscriptions, joined }: SessionRecord): void {
    Object.assign(this.record, { logLevel, subscriptions });
    this.followed = undefined;
    if (!joined || this.record.joined) return;
    this.record.joined = true;
    this.means.join(this);
  }

  take(method: string): void | Promise<void> {
    if (method === 'notifications/roots/list_changed') {
      this.roots = undefined;
      this.rootsChanges += 1;
    }
    if (method !== 'notifications/initialized' || !this.initialized || this.record.joined) return;
    this.record.joined = true;
    this.means.join(this);
    return this.save();
  }

  setLogLevel(level: LogLevel): void | Promise<void> {
    this.record.logLevel = level;
    return this.save();
  }

  subscribe(uri: string): void | Promise<void> {
    const { subscriptions = [] } = this.record;
    if (subscriptions.length >= MAX_SUBSCRIPTIONS) {
      throw new McpError('invalid-params', `A session can follow at most ${MAX_SUBSCRIPTIONS} resources.`);
    }
    if (!subscriptions.includes(uri)) return this.follow([...subscriptions, uri]);
  }

  unsubscribe(uri: string): void | Promise<void> {
    const { subscriptions = [] } = this.record;
    if (subscriptions.includes(uri)) return this.follow(subscriptions.filter((known) => known !== uri));
  }

  async ask(question: Question, exchange: Exchange): Promise<JsonObject> {
    const encoded = this.revision.question(question);
    if (encoded === undefined) {
      throw new McpError('missing-capability', `The protocol revision of the client has no such "${question.method}".`);
    }
    const { elicitationId } = encoded.params;
    if (typeof elicitationId === 'string') this.expect(elicitationId);
    const isAboutRoots = question.method === 'roots/list';
    if (isAboutRoots && this.roots !== undefined) return { roots: this.roots };
    const changes = this.rootsChanges;
    const answer = await this.send({ ...question, params: encoded.params }, exchange);
    // the roots may have changed after the client wrote the answer
    const isCurrent = this.hearsOfRoots && changes === this.rootsChanges;
    if (isAboutRoots && isCurrent && question.fits?.(answer)) this.roots = answer['roots'] as Root[];
    return encoded.restore?.(answer) ?? answer;
  }

  expect(elicitationId: string): void {
    const visits = (this.visits ??= new Set());
    const [oldest] = visits;
    if (oldest !== undefined && visits.size >= MAX_VISITS) visits.delete(oldest);
    visits.add(elicitationId);
  }

  /** Tells the client that what it was asked to do at a URL is done. Only who was asked is told, and once. */
  completed(elicitationId: string): void {
    if (this.visits?.delete(elicitationId)) this.tell('notifications/elicitation/complete', { elicitationId });
  }

  wantsList(): boolean {
    return true;
  }

  wantsResource(uri: string, exactly: boolean): boolean {
    this.followed ??= new Set(this.record.subscriptions);
    return follows(this.followed, uri, exactly);
  }

  /** Sends a notification that belongs to no request. */
  tell(method: string, params: JsonObject): void {
    this.options.push(notificationFrame(method, params));
  }

  /** Takes an answer of the client. Late answers and answers to questions of others are dropped. */
  settle({ id, result, error }: JsonRpcResponse): void {
    const waiting = typeof id === 'string' ? this.waiting?.get(id) : undefined;
    waiting?.(isObject(result) ? { result } : { error: refusal(error) });
  }

  /** The client is gone: gives up all questions. */
  close(): void {
    for (const settle of this.waiting?.values() ?? []) settle({ error: new ClientError('The session has ended.') });
  }

  /** Whether the client tells this process of changes. In a session that processes share, it may tell another one. */
  private get hearsOfRoots(): boolean {
    return this.client.capabilities.roots?.['listChanged'] === true && this.options.save === undefined;
  }

  private save(): void | Promise<void> {
    return this.options.save?.(this.record);
  }

  private follow(subscriptions: readonly string[]): void | Promise<void> {
    this.record.subscriptions = subscriptions;
    this.followed = undefined;
    return this.save();
  }

  /** Sends a request on the stream of the exchange it belongs to, and waits for the answer. */
  private send(question: Question, exchange: Exchange): Promise<JsonObject> {
    const { wire } = exchange;
    if (exchange.cancelled !== undefined) throw exchange.signal.reason as Error;
    const id = `s${++this.asked}`;
    const waiting = (this.waiting ??= new Map<string, Waiting>());
    return new Promise<JsonObject>((resolve, reject) => {
      const stop = (error: Error, reason: string) => {
        wire.send(notificationFrame('notifications/cancelled', { requestId: id, reason }));
        settle({ error });
      };
      const forget = exchange.onCancel((reason) => stop(reason, 'The request it belongs to was cancelled.'));
      const ms = question.timeoutMs ?? this.means.questionTimeoutMs;
      const giveUp = () => stop(new ClientError(`The client did not answer within ${ms} ms.`), 'Timed out.');
      const timer = setTimeout(giveUp, ms);
      const settle: Waiting = (answer) => {
        clearTimeout(timer);
        forget();
        waiting.delete(id);
        if ('error' in answer) reject(answer.error);
        else resolve(answer.result);
      };
      waiting.set(id, settle);
      wire.send(questionFrame(id, question.method, question.params));
    });
  }
}

function refusal(error: JsonRpcResponse['error']): ClientError {
  // only the outermost form of a message has been checked
  if (!isObject(error) || !Number.isSafeInteger(error.code))
    return new ClientError('The client sent an invalid answer.');
  return new ClientError(`The client answered with an error: ${excerpt(error.message)}`, error);
}

/**
 * The revision of a conversation that begins: the one the client asks for where it has sessions, else the newest that has.
 * @throws {McpError} `invalid-params` where the client names none
 */
export function agreedRevision(params: JsonObject): Revision {
  const asked = revisionOf(requireString(params, 'protocolVersion'));
  return asked?.sessions ? asked : newestOf('stateful');
}
