import { isObject, type JsonObject } from '@decorum/schema/internal';

import { clientOf, UNKNOWN_CLIENT } from '../checks.js';
import { McpError, QuestionError } from '../errors.js';
import type { Asker, Client, Conversation, Memory, Tickets } from '../peer.js';
import { withFailureCause } from '../failure-cause.js';
import { notificationFrame, questionFrame } from '../frame.js';
import type { JsonRpcNotification, JsonRpcResponse } from '../jsonrpc.js';
import { MAX_KEPT_CHARS, type ReachedLimit, type ServerLimits } from '../limits.js';
import type { LogLevel, Root } from '../model.js';
import type { Asking } from '../observed.js';
import { newestOf, revisionOf } from '../revisions/index.js';
import type { Question, Revision } from '../revisions/revision.js';
import type { Principal, TransportInfo } from '../wire.js';
import { clientError } from './client-error.js';
import { agreedRevision } from './negotiation.js';
import type { SessionLink, SessionRecord } from './session-record.js';
import { Subscriptions } from './subscriptions.js';

/** Settings that all sessions of a server share. */
export interface SessionMeans {
  /** Log level before the client sets one. */
  readonly logLevel: LogLevel;
  /** Milliseconds to wait for the client's answer to a question. */
  readonly questionTimeoutMs: number;
  readonly tickets: Tickets;
  readonly limits: Required<ServerLimits>;
  /** Reports a limit that the client has reached. */
  readonly hit: (hit: ReachedLimit) => void;
  /** Tells the session what an extension has published. */
  readonly extended: (session: Session, id: string, published: JsonObject) => void;
  /** Starts notifying the session of changes. */
  readonly join: (session: Session) => void;
  /** Runs plugins around questions; undefined without such plugins. */
  readonly asking?: Asking | undefined;
}

/** Access functions may trust the other kinds of transports more. */
const UNKNOWN_TRANSPORT: TransportInfo = { kind: 'http' };

/** Cap on pending URL visits; the oldest is evicted first. */
const MAX_VISITS = 100;

type Waiting = (answer: { readonly result: JsonObject } | { readonly error: Error }) => void;

/** A session over any transport, with a record, and with state that lives only in this process. */
export class Session implements Conversation, Memory {
  /** The newest revision with sessions, until one is negotiated. */
  revision: Revision;
  initialized: boolean;
  /** Cached roots, if the client announces when they change. */
  private roots: readonly Root[] | undefined;
  private rootsChanges = 0;
  /** Tells it what an extension has published. */
  readonly extended: (id: string, published: JsonObject) => void;
  private readonly subscriptions: Subscriptions;
  /** Ids of pending URL visits. */
  private visits: Set<string> | undefined;
  private waiting: Map<string, Waiting> | undefined;
  private asked = 0;

  constructor(
    private readonly means: SessionMeans,
    readonly record: SessionRecord,
    private readonly link: SessionLink,
  ) {
    this.revision = revisionOf(record.revision) ?? newestOf('stateful');
    this.subscriptions = new Subscriptions(record, link);
    this.extended = (id, published) => means.extended(this, id, published);
    this.initialized = record.revision !== undefined;
    // another process may have asked this client too, and an id must not occur twice in a session
    if (this.initialized) this.asked = Math.floor(Math.random() * 2 ** 48);
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

  get cursorScope(): string | undefined {
    const { id, adopted } = this.record;
    return adopted ? `${id} adopted` : id;
  }

  get principal(): Principal | undefined {
    return this.record.principal;
  }

  /**
   * Binds an anonymous session to its first principal. What an anonymous caller has told about the client's files is
   * forgotten, and its subscriptions are held back until `recheck`.
   */
  adopt(principal: Principal): void {
    Object.assign(this.record, { principal, adopted: true });
    this.subscriptions.hold();
    this.forgetRoots();
  }

  /** Restores the subscriptions that `adopt` has held back, without those that the principal may not have. */
  recheck(mayFollow: (uri: string) => Promise<boolean>): Promise<void> {
    return this.subscriptions.recheck(mayFollow);
  }

  /**
   * Negotiates a revision: the requested one if it has sessions, otherwise the newest revision with sessions.
   * @throws {McpError} `invalid-request` on a second `initialize`
   */
  initialize(params: JsonObject): Revision {
    if (this.initialized) throw new McpError('invalid-request', 'The session is already initialized.');
    this.revision = agreedRevision(params);
    this.record.client = clientOf(params['clientInfo'], params['capabilities']);
    this.record.revision = this.revision.id;
    this.initialized = true;
    return this.revision;
  }

  /** Applies changes that another process has made to the record. */
  refresh({ logLevel, subscriptions, joined, version }: SessionRecord): void {
    Object.assign(this.record, { logLevel, subscriptions, version });
    this.subscriptions.refresh();
    if (!joined || this.record.joined) return;
    this.record.joined = true;
    this.means.join(this);
  }

  take(method: string): void | Promise<void> {
    if (method === 'notifications/roots/list_changed') this.forgetRoots();
    if (method !== 'notifications/initialized' || !this.initialized || this.record.joined) return;
    this.means.join(this);
    return this.change((record) => void (record.joined = true));
  }

  setLogLevel(level: LogLevel): void | Promise<void> {
    return this.change((record) => void (record.logLevel = level));
  }

  subscribe(uri: string): void | Promise<void> {
    return this.subscriptions.add(uri, this.means.limits.maxSubscriptions);
  }

  unsubscribe(uri: string): void | Promise<void> {
    return this.subscriptions.delete(uri);
  }

  async ask(question: Question, exchange: Asker): Promise<JsonObject> {
    const encoded = this.revision.question(question);
    if (encoded === undefined) {
      throw new McpError(
        'missing-capability',
        `The client's protocol revision does not support this "${question.method}" request.`,
      );
    }
    const { elicitationId } = encoded.params;
    if (typeof elicitationId === 'string') this.expect(elicitationId);
    const isAboutRoots = question.method === 'roots/list';
    if (isAboutRoots && this.roots !== undefined) return { roots: this.roots };
    const changes = this.rootsChanges;
    const answer = await this.put({ ...question, params: encoded.params }, exchange);
    // don't cache roots that may have changed after the client wrote the answer
    const isCurrent = this.seesRootsChanges && changes === this.rootsChanges;
    const mayKeep = isAboutRoots && isCurrent && JSON.stringify(answer).length <= MAX_KEPT_CHARS;
    if (mayKeep && question.fits?.(answer)) this.roots = answer['roots'] as Root[];
    return encoded.restore?.(answer) ?? answer;
  }

  expect(elicitationId: string): void {
    const visits = (this.visits ??= new Set());
    const [oldest] = visits;
    if (oldest !== undefined && visits.size >= MAX_VISITS) visits.delete(oldest);
    visits.add(elicitationId);
  }

  /** Announces, at most once, that a URL visit is complete. Ignores visits that weren't requested in this session. */
  completed(elicitationId: string): void {
    if (!this.visits?.delete(elicitationId)) return;
    this.link.push(notificationFrame('notifications/elicitation/complete', { elicitationId }), true);
  }

  /** The client, as access functions see it. */
  get reader(): { readonly principal: Principal | undefined; readonly transport: TransportInfo } {
    return { principal: this.record.principal, transport: this.link.transport ?? UNKNOWN_TRANSPORT };
  }

  wantsList(): boolean {
    return true;
  }

  wantsResource(uri: string): boolean {
    return this.subscriptions.has(uri);
  }

  get followed(): readonly string[] {
    return this.record.subscriptions ?? [];
  }

  /** Sends a notification that belongs to no request. */
  notify(method: string, params: JsonObject): void {
    this.link.push(notificationFrame(method, params));
  }

  settle(response: JsonRpcResponse): boolean | Promise<boolean> {
    const { id, result, error } = response;
    const waiting = typeof id === 'string' ? this.waiting?.get(id) : undefined;
    if (waiting === undefined) return this.link.forward?.(response) ?? true;
    waiting(isObject(result) ? { result } : { error: clientError(error) });
    return true;
  }

  forward(message: JsonRpcNotification): void {
    void this.link.forward?.(message);
  }

  /** Rejects all pending questions: the client is gone. */
  close(): void {
    for (const settle of this.waiting?.values() ?? []) settle({ error: new QuestionError('The session has ended.') });
  }

  /**
   * Whether this process is sure to be notified when the roots change. Not in a shared session, where another process may
   * get the notification.
   */
  private get seesRootsChanges(): boolean {
    return this.client.capabilities.roots?.['listChanged'] === true && this.link.save === undefined;
  }

  private forgetRoots(): void {
    this.roots = undefined;
    this.rootsChanges += 1;
  }

  private change(apply: (record: SessionRecord) => void): void | Promise<void> {
    apply(this.record);
    return this.link.save?.(apply);
  }

  /** Sends a question inside the plugins that wrap it. */
  private put(question: Question, exchange: Asker): Promise<JsonObject> {
    const { asking } = this.means;
    const { node } = this.link;
    const id = `s${node === undefined ? '' : `${node}.`}${++this.asked}`;
    const { method, params } = question;
    if (asking === undefined) return this.send(id, question, exchange);
    return asking({ method, id, exchange }, async (_meta) =>
      this.send(id, { ...question, params: _meta ? { ...params, _meta } : params }, exchange),
    );
  }

  /** Sends a request on the stream of the exchange that it belongs to, and waits for the response. */
  private send(id: string, question: Question, exchange: Asker): Promise<JsonObject> {
    const { wire } = exchange;
    if (exchange.cancelled !== undefined) throw exchange.signal.reason as Error;
    exchange.release();
    const waiting = (this.waiting ??= new Map<string, Waiting>());
    const { limits, hit } = this.means;
    if (waiting.size >= limits.maxQuestions) {
      hit({ limit: 'maxQuestions', principal: wire.principal, remoteAddress: wire.transport.remoteAddress });
      throw new QuestionError(`The client has not answered ${limits.maxQuestions} other questions.`);
    }
    return new Promise<JsonObject>((resolve, reject) => {
      const stop = (error: Error, reason: string) => {
        wire.send(notificationFrame('notifications/cancelled', { requestId: id, reason }));
        settle({ error });
      };
      const forget = exchange.onCancel((reason) => stop(reason, 'The request that it belongs to was cancelled.'));
      const ms = question.timeoutMs ?? this.means.questionTimeoutMs;
      const giveUp = () => {
        const late = new QuestionError(`The client did not answer within ${ms} ms.`);
        stop(withFailureCause(late, 'timeout'), 'Timed out.');
      };
      const timer = setTimeout(giveUp, ms);
      const withdraw = () => waiting.has(id) && stop(new QuestionError('The question was withdrawn.'), 'Not needed.');
      question.until?.addEventListener('abort', withdraw, { once: true });
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
