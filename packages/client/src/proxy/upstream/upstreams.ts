import { type ClientCapabilities, type Context, type JsonObject, McpError } from '@decorum/core';
import { frontOf } from '@decorum/core/internal';

import type { Client } from '../../client.js';
import { ConnectionError } from '../../connection-error.js';
import type { Notification } from '../../request.js';
import { Backoff } from './backoff.js';
import { Callers, type Place, statelessPlace } from './callers.js';
import { SYSTEM_CLOCK } from './clock.js';
import { Conversation, type Started } from './conversation.js';
import { isDown, shownTo, UpstreamFailure } from './failures.js';
import { declaredFor, forwardable } from './forwarding.js';
import { checkedHeaders, digestOf, type UpstreamHeaders } from './headers.js';
import { HeldCalls } from './held-calls.js';
import { Link, type LinkOptions, type UpstreamRequest } from './link.js';
import { type Lease, LinkPool } from './link-pool.js';
import { OwnConnection } from './own-connection.js';
import { resultOf } from './request-meta.js';
import { isProgram, isUrl, type UpstreamOptions } from './upstream-options.js';

/** What happens upstream, apart from calls. */
export type UpstreamEvent =
  /** The server's own connection is open, maybe again. */
  | { readonly kind: 'up'; readonly client: Client }
  /** The server's own connection was lost. */
  | { readonly kind: 'down' }
  /** A notification of the server's own connection. */
  | { readonly kind: 'notification'; readonly notification: Notification }
  /** A user has finished at a URL that was sent in a forwarded question. */
  | { readonly kind: 'elicitation-complete'; readonly elicitationId: string };

const MAX_SESSIONS = 100;
const MAX_PROGRAMS = 10;
const IDLE_MS = 5 * 60_000;
const HOLD_MS = 10 * 60_000;
const MAX_HELD = 1000;

/** The methods whose handlers may ask the client. */
const ASKING = new Set(['tools/call', 'prompts/get', 'resources/read']);

const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** The connections of a proxy to its upstream: its own, and those of its callers. */
export class Upstreams {
  private readonly pool: LinkPool;
  private readonly held: HeldCalls;
  private readonly callers = new Callers();
  private readonly ownConnection: OwnConnection;
  /** Keeps callers from trying an upstream that could not be reached a moment ago. */
  private readonly backoff: Backoff;
  private readonly listeners = new Set<(event: UpstreamEvent) => void>();
  /** Whether the upstream has no sessions, once that is known. */
  private isStateless: boolean | undefined;
  private readonly closing = new AbortController();

  constructor(private readonly options: UpstreamOptions) {
    const { name, target, clock = SYSTEM_CLOCK, idleMs = IDLE_MS, holdMs = HOLD_MS, maxHeld = MAX_HELD } = options;
    const { maxSessions = isProgram(target) ? MAX_PROGRAMS : MAX_SESSIONS } = options;
    this.pool = new LinkPool(name, clock, { maxSessions, idleMs });
    this.held = new HeldCalls(clock, { maxHeld, holdMs });
    this.backoff = new Backoff(clock);
    const up = ({ client }: Link) => this.emit({ kind: 'up', client });
    this.ownConnection = new OwnConnection(
      async () => await this.openOwn(),
      { up, down: () => this.emit({ kind: 'down' }) },
      clock,
    );
  }

  /**
   * Sends a request of the client in front upstream.
   * @param request with the upstream's names, and without `_meta`, which comes from `ctx`
   * @returns the result as the upstream has sent it, without what belongs to the connection
   * @throws {McpError} as the upstream has sent it; `internal-error` for a method other than `tools/call` if the
   *   upstream can't be reached, or breaks a limit
   * @throws {ToolError} the same, for `tools/call`
   * @throws {InputSignal} if the client has to answer first, in another request. Rethrow it
   */
  async request(ctx: Context, request: UpstreamRequest): Promise<JsonObject> {
    try {
      const result = await this.converse(ctx, request);
      // such as a task, or a question where none can be asked
      const { resultType = 'complete' } = result;
      if (resultType !== 'complete') throw new UpstreamFailure('invalid', this.options.name);
      return resultOf(result);
    } catch (error) {
      if (isDown(error) && isUrl(this.options.target)) this.ownConnection.suspect();
      throw shownTo(request.method, this.options.name, error);
    }
  }

  /**
   * The server's own connection, for lists and notifications. It is opened again whenever it is lost, so ask for it
   * each time.
   * @throws {unknown} why it can't be opened
   */
  async own(): Promise<Client> {
    return (await this.ownConnection.link()).client;
  }

  /**
   * Tells what happens apart from calls.
   * @returns a function that ends this
   */
  onEvent(listener: (event: UpstreamEvent) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /**
   * What stands for the session upstream that a call uses. It is another object once that session has ended.
   * @throws {McpError} `internal-error` if the upstream can't be reached
   */
  async sessionOf(ctx: Context): Promise<object> {
    try {
      const { link, release } = await this.lease(ctx, this.declaredBy(ctx));
      release();
      return link.client;
    } catch (error) {
      throw shownTo('', this.options.name, error);
    }
  }

  /** Ends all connections, and the programs at the other end. */
  async close(): Promise<void> {
    this.closing.abort(new ConnectionError('closed', 'The proxy is closed.'));
    this.held.close();
    await Promise.all([this.ownConnection.close(), this.pool.close()]);
  }

  private get isSharedProgram(): boolean {
    const { target, process = 'shared' } = this.options;
    return isProgram(target) && process === 'shared';
  }

  /** What the client in front could answer. */
  private declaredBy(ctx: Context): ClientCapabilities {
    const { forward = {} } = this.options;
    return this.isSharedProgram ? {} : declaredFor(frontOf(ctx), ctx.client.capabilities, forward);
  }

  private async converse(ctx: Context, request: UpstreamRequest): Promise<JsonObject> {
    const { name } = this.options;
    const { held } = this;
    const declared = this.declaredBy(ctx);
    const start = async (sent: UpstreamRequest) => await this.start(ctx, sent, declared);
    if (ASKING.has(request.method) && Object.keys(declared).length > 0) {
      return await new Conversation(ctx, request, { name, declared, held, start }).run();
    }
    const { call } = await start(request);
    return await call.attend(ctx);
  }

  private async start(ctx: Context, request: UpstreamRequest, declared: ClientCapabilities): Promise<Started> {
    const { link, release } = await this.lease(ctx, declared).catch((error: unknown) => {
      // that a session is refused doesn't answer the call
      throw error instanceof McpError ? new UpstreamFailure('down', this.options.name, error) : error;
    });
    try {
      const level = frontOf(ctx).logLevel;
      const asks = ASKING.has(request.method);
      const meta = { [CLIENT_CAPABILITIES]: asks ? { ...declared } : {}, ...(level && { [LOG_LEVEL]: level }) };
      const call = await link.start(ctx, request, link.isStateless ? meta : undefined);
      void call.over.then(release);
      return { call, isStateless: link.isStateless };
    } catch (error) {
      release();
      throw error;
    }
  }

  private async lease(ctx: Context, declared: ClientCapabilities): Promise<Lease> {
    if (this.isSharedProgram) return { link: await this.ownConnection.link(), release: () => {} };
    const headers = await this.headers(ctx);
    const digest = headers === undefined ? '' : digestOf(headers);
    if (this.isStateless && !isProgram(this.options.target)) {
      const place = statelessPlace(digest);
      const lease = await this.leaseAt(place, { headers, declared: {} });
      if (lease.link.isStateless) return lease;
      // the upstream has changed, and its sessions must not be shared
      this.isStateless = false;
      lease.release();
    }
    return await this.leaseAt(this.callers.placeOf(ctx, digest, declared), { headers, declared });
  }

  private async leaseAt(place: Place, how: Pick<LinkOptions, 'headers' | 'declared'>): Promise<Lease> {
    const { key, isShared, isOnce } = place;
    const open = async () => {
      if (this.closing.signal.aborted || !this.backoff.mayTry) throw new UpstreamFailure('down', this.options.name);
      return await this.open({ ...how, isShared });
    };
    return await this.pool.lease(key, open, { isOnce });
  }

  private async openOwn(): Promise<Link> {
    const { forward = {} } = this.options;
    const notified = (notification: Notification) => this.emit({ kind: 'notification', notification });
    const declared = this.isSharedProgram ? {} : forwardable(forward);
    return await this.open({ headers: await this.headers(undefined), declared, isShared: true, notified });
  }

  private async open(how: Pick<LinkOptions, 'headers' | 'declared' | 'isShared' | 'notified'>): Promise<Link> {
    const completed = (elicitationId: string) => this.emit({ kind: 'elicitation-complete', elicitationId });
    try {
      const { signal } = this.closing;
      const link = await Link.open({ ...how, upstream: this.options, completed, signal });
      this.isStateless ??= link.isStateless;
      this.backoff.succeeded();
      this.ownConnection.wake();
      return link;
    } catch (error) {
      if (isDown(error)) this.backoff.failed();
      throw error;
    }
  }

  private async headers(ctx: Context | undefined): Promise<UpstreamHeaders | undefined> {
    const { headers, name } = this.options;
    return headers === undefined ? undefined : checkedHeaders(`proxy(${name})`, await headers(ctx));
  }

  private emit(event: UpstreamEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}
