import { type ClientCapabilities, type Context, type JsonObject, type LogLevel, McpError } from '@decorum/core';
import { FAILURES, frontOf } from '@decorum/core/internal';

import type { Client } from '../../client.js';
import { connectUntil } from '../../connect-client.js';
import { ALL_TOOLS } from '../../pages.js';
import type { Question, QuestionHandlers } from '../../questions.js';
import type { AskingCall, Notification, RequestOptions } from '../../request.js';
import { type UpstreamClock, SYSTEM_CLOCK } from './clock.js';
import { UpstreamFailure } from './failures.js';
import type { UpstreamHeaders } from './headers.js';
import { keyUpstream, metaUpstream } from './request-meta.js';
import { Turns } from './turns.js';
import { UpstreamCall } from './upstream-call.js';
import { isUrl, type UpstreamOptions } from './upstream-options.js';
import { Visits } from './visits.js';

/** A request of the client in front, with the names that the upstream uses. */
export interface UpstreamRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** How to open a connection. */
export interface LinkOptions {
  readonly upstream: UpstreamOptions;
  readonly headers: UpstreamHeaders | undefined;
  /** What the connection declares. Nothing if questions over it are refused, because nobody could say whose they are. */
  readonly declared: ClientCapabilities;
  /** Whether callers who must not learn of each other use it. */
  readonly isShared: boolean;
  /** Told of notifications that belong to no call. */
  readonly notified?: (notification: Notification) => void;
  /** Told of the end of a visit, by the id that the client in front knows. */
  readonly completed: (elicitationId: string) => void;
  /** Gives up while it is being opened. */
  readonly signal: AbortSignal;
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

const MAX_CALLS = 100;
const TIMEOUT_MS = 60_000;

/** One connection to the upstream, and the calls under way over it. */
export class Link {
  client!: Client;
  private readonly calls = new Map<RequestOptions, UpstreamCall>();
  private readonly turns: Turns;
  private readonly visits = new Visits();
  private readonly clock: UpstreamClock;
  /** The most verbose level that a client in front wanted. */
  private level: LogLevel | undefined;

  private constructor(private readonly options: LinkOptions) {
    const { maxCalls = MAX_CALLS, clock = SYSTEM_CLOCK } = options.upstream;
    this.turns = new Turns(maxCalls, false);
    this.clock = clock;
  }

  /** @throws {ConnectionError} */
  static async open(options: LinkOptions): Promise<Link> {
    const link = new Link(options);
    const { target, revision, timeoutMs, maxMessageBytes, onStderr } = options.upstream;
    link.client = await connectUntil(options.signal, target, {
      ...(options.headers && { headers: options.headers }),
      ...(onStderr && { onStderr }),
      ...link.handlers(),
      revision,
      timeoutMs,
      maxMessageBytes,
      capabilities: options.declared,
      onNotification: (notification, call) => link.hear(notification, call),
    });
    const asks = Object.keys(options.declared).length > 0;
    // over one pipe, a question of a session doesn't tell which call it belongs to
    link.turns.isSerial = asks && !link.client.isStateless && !isUrl(target);
    return link;
  }

  /** Whether it carries no state from call to call. */
  get isStateless(): boolean {
    return this.client.isStateless;
  }

  /**
   * Starts a call. Attend to it for its result.
   * @param meta added to the `_meta` of the request
   * @throws {UpstreamFailure} `busy`
   */
  async start(ctx: Context, { method, params }: UpstreamRequest, meta?: JsonObject): Promise<UpstreamCall> {
    const { name } = this.options.upstream;
    if (this.turns.isFull) throw new UpstreamFailure('busy', name);
    const leave = await this.turn(ctx.signal);
    try {
      await this.raiseLevel(frontOf(ctx).logLevel);
      const parts = { source: name, declared: this.options.declared, clock: this.clock, visits: this.visits };
      const call = new UpstreamCall(parts, { ...metaUpstream(ctx.meta), ...keyUpstream(ctx, method), ...meta });
      this.calls.set(call.options, call);
      call.send(async (options) => await this.request(method, params, options));
      const end = () => this.calls.delete(call.options) && leave();
      void call.over.then(end);
      return call;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Waits for a turn. A call that waits for its user lets others wait for a while only. */
  private async turn(signal: AbortSignal): Promise<() => void> {
    if (!this.turns.isTaken) return await this.turns.take(signal);
    const { timeoutMs = TIMEOUT_MS, name } = this.options.upstream;
    let stop = () => {};
    const hurry = () => {
      for (const call of this.calls.values()) if (call.isAsking) call.cancel(new UpstreamFailure('lost', name));
      stop = this.clock.after(timeoutMs, hurry);
    };
    stop = this.clock.after(timeoutMs, hurry);
    try {
      return await this.turns.take(signal);
    } finally {
      stop();
    }
  }

  /** Sends a request. If arguments have to be mirrored in headers, learns which ones first. */
  private async request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    const { client } = this;
    try {
      return await client.request(method, params, options);
    } catch (error) {
      const isUnmirrored = error instanceof McpError && error.code === FAILURES['header-mismatch'].code;
      if (!isUnmirrored || method !== 'tools/call') throw error;
      await client.listTools({ meta: ALL_TOOLS });
      return await client.request(method, params, options);
    }
  }

  /** Asks a session for the messages that a client in front wants. Clients that want fewer don't get the others. */
  private async raiseLevel(level: LogLevel | undefined): Promise<void> {
    if (level === undefined || this.isStateless || this.client.capabilities.logging === undefined) return;
    if (this.level !== undefined && LEVELS.indexOf(this.level) <= LEVELS.indexOf(level)) return;
    this.level = level;
    await this.client.setLogLevel(level).catch(() => {});
  }

  private handlers(): QuestionHandlers {
    const { declared } = this.options;
    const on = (method: string) => async (params: object, call: AskingCall | undefined, signal: AbortSignal) =>
      (await this.answer({ method, params: params as JsonObject }, call, signal)) as never;
    return {
      ...(declared.elicitation && { onElicit: on('elicitation/create') }),
      ...(declared.sampling && { onSample: on('sampling/createMessage') }),
      ...(declared.roots && {
        onRoots: async (call, signal) =>
          (await this.answer({ method: 'roots/list', params: {} }, call, signal))['roots'] as never,
      }),
    };
  }

  private async answer(question: Question, asking: AskingCall | undefined, signal: AbortSignal): Promise<JsonObject> {
    const call = (asking && this.calls.get(asking.options)) ?? this.onlyCall;
    if (call !== undefined) return await call.ask(question, signal);
    // from now on, each question can belong to one call only
    if (this.calls.size > 1) this.turns.isSerial = true;
    throw new McpError('internal-error', 'Nobody can say which call this question belongs to.');
  }

  private get onlyCall(): UpstreamCall | undefined {
    const [call] = this.calls.values();
    return this.calls.size === 1 ? call : undefined;
  }

  private hear(notification: Notification, call: AskingCall | undefined): void {
    const { isShared, notified, completed } = this.options;
    if (notification.method === 'notifications/elicitation/complete') {
      const id = this.visits.end(notification.params['elicitationId']);
      if (id !== undefined) completed(id);
    } else if (call === undefined) {
      if (!isShared) this.onlyCall?.hear(notification);
      notified?.(notification);
    }
  }
}
