import type { JsonObject } from '@decorum/schema/internal';

import { clientOf, UNKNOWN_CLIENT } from '../checks.js';
import { McpError } from '../errors.js';
import { TAGS, type TaggedCaller, type TagVisibility } from '../access-caller.js';
import type { Client } from '../client.js';
import type { Asker, Conversation, Memory, PeerMeans, Tickets, VisibilityChange } from '../peer.js';
import type { Records } from '../records.js';
import { notificationFrame } from '../frame.js';
import type { JsonRpcNotification, JsonRpcResponse } from '../jsonrpc.js';
import { MAX_KEPT_CHARS } from '../limits.js';
import type { LogLevel, Root } from '../model.js';
import type { Asking } from '../observed.js';
import { newestOf, revisionOf } from '../revisions/index.js';
import type { Question, Revision } from '../revisions/revision.js';
import type { Principal, TransportInfo } from '../wire.js';
import { agreedRevision } from './negotiation.js';
import type { SessionLink, SessionRecord } from './session-record.js';
import { PendingQuestions, type QuestionMeans } from './pending-questions.js';
import { Subscriptions } from './subscriptions.js';
import { Visits } from './visits.js';

/** Settings that all sessions of a server share. */
export interface SessionMeans extends QuestionMeans, PeerMeans {
  /** Log level before the client sets one. */
  readonly logLevel: LogLevel;
  /** Tells the session what an extension has published. */
  readonly extended: (session: Session, id: string, published: JsonObject) => void;
  /** Called when some tags are hidden in the session, before anything else is asked about it. */
  readonly hides: () => void;
  /** Tells the session of the lists that differ between what it saw and what it sees. */
  readonly tellDifference: (session: Session, before: TaggedCaller, now: TaggedCaller) => void;
  /** Starts notifying the session of changes. */
  readonly join: (session: Session) => void;
  /** Runs plugins around questions; undefined without such plugins. */
  readonly asking?: Asking | undefined;
}

/** A client that reads notifications. */
interface Reading {
  readonly principal: Principal | undefined;
  readonly transport: TransportInfo;
  readonly caller: TaggedCaller;
}

/** Access functions may trust the other kinds of transports more. */
const UNKNOWN_TRANSPORT: TransportInfo = { kind: 'http' };

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
  private readonly visits = new Visits();
  private readonly pending: PendingQuestions;
  private asked = 0;

  constructor(
    private readonly means: SessionMeans,
    readonly record: SessionRecord,
    private readonly link: SessionLink,
  ) {
    this.revision = revisionOf(record.revision) ?? newestOf('stateful');
    this.subscriptions = new Subscriptions(record, link);
    this.pending = new PendingQuestions(means);
    this.extended = (id, published) => means.extended(this, id, published);
    this.initialized = record.revision !== undefined;
    // another process may have asked this client too, and an id must not occur twice in a session
    if (this.initialized) this.asked = Math.floor(Math.random() * 2 ** 48);
    this.noteHidden();
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

  get records(): Records {
    return this.means.records;
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
   * forgotten, and so is what was shown to it. Its subscriptions are held back until `recheck`.
   */
  adopt(principal: Principal): void {
    const { visibility } = this.record;
    // what was hidden stays hidden
    Object.assign(this.record, { principal, adopted: true, visibility: visibility && { ...visibility, shown: [] } });
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
  refresh({ logLevel, subscriptions, visibility, joined, version }: SessionRecord): void {
    Object.assign(this.record, { logLevel, subscriptions, visibility, version });
    this.noteHidden();
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

  async changeVisibility(change: VisibilityChange): Promise<void> {
    const { caller: before } = this.reader;
    const saved = this.change((record) => {
      record.visibility = change(record.visibility);
      this.noteHidden();
    });
    const { caller: now } = this.reader;
    try {
      await saved;
    } catch (error) {
      // nothing may be shown that a handler could not show
      if (this.record.visibility === now[TAGS]) this.record.visibility = before[TAGS];
      throw error;
    }
    if (this.record.joined) this.means.tellDifference(this, before, now);
  }

  /** Tells the client that a list has changed for this session alone. */
  announce(list: string): void {
    this.link.push(notificationFrame(`notifications/${list}/list_changed`, {}), true);
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
    this.visits.add(elicitationId);
  }

  /** Announces, at most once, that a URL visit is complete. Ignores visits that weren't requested in this session. */
  completed(elicitationId: string): void {
    if (!this.visits.delete(elicitationId)) return;
    this.link.push(notificationFrame('notifications/elicitation/complete', { elicitationId }), true);
  }

  /** The client, as access functions see it. */
  get reader(): Reading {
    const { client, revision, sessionId, visibility } = this;
    const caller = { client, revision: revision.id, sessionId, meta: undefined, [TAGS]: visibility };
    return { principal: this.record.principal, transport: this.link.transport ?? UNKNOWN_TRANSPORT, caller };
  }

  get visibility(): TagVisibility | undefined {
    return this.record.visibility;
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
    return this.pending.settle(response) || (this.link.forward?.(response) ?? true);
  }

  forward(message: JsonRpcNotification): void {
    void this.link.forward?.(message);
  }

  /** Rejects all pending questions: the client is gone. */
  close(): void {
    this.pending.close();
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

  private noteHidden(): void {
    const { hidden = [] } = this.record.visibility ?? {};
    if (hidden.length > 0) this.means.hides();
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
    if (asking === undefined) return this.pending.send(id, question, exchange);
    return asking({ method, id, exchange }, async (_meta) =>
      this.pending.send(id, { ...question, params: _meta ? { ...params, _meta } : params }, exchange),
    );
  }
}
