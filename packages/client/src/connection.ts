import { type JsonObject, type LogLevel, McpError, type RequestId } from '@decorum/core';
import { checkMessage, INITIALIZE, isObject, LISTEN } from '@decorum/core/internal';
import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse } from '@decorum/core/transport';

import { type Carrier, type OpenCarrier, SessionRefused } from './carriers/carrier.js';
import { excerptOf } from './carriers/http-request.js';
import { alike, ConnectionError } from './connection-error.js';
import type { Identity, InitializeResult, Listener } from './listener.js';
import { onAbort } from './on-abort.js';
import { PendingCall } from './pending-call.js';
import type { Question } from './questions.js';
import { type AskingCall, metaOf, type RequestOptions } from './request.js';
import { ServerQuestions } from './server-questions.js';

const PREFIX = 'io.modelcontextprotocol/';

const closed = () => new ConnectionError('closed', 'The client is closed.');

/** One connection. It matches responses to requests, and passes on what the server asks and reports. It keeps nothing. */
export class Connection {
  /** Sent with each request in the stateless era, which has no session to remember it. */
  logLevel: LogLevel | undefined;
  /** The server's response to `initialize`; undefined in the stateless era, which doesn't have `initialize`. */
  initialized: InitializeResult | undefined;
  private readonly pending = new Map<RequestId, PendingCall>();
  private readonly asked: ServerQuestions;
  private carrier: Carrier | undefined;
  /** Why the connection has ended. */
  private over: Error | undefined;
  private sent = 0;
  /** How many requests somebody waits for. Streams of changes last as long as the connection. */
  private awaited = 0;
  /** The start of the session that replaced the last one. */
  private renewal: Promise<void> | undefined;

  /** @param identity may change until the first request that matters */
  constructor(
    public identity: Identity,
    private readonly listener: Listener,
  ) {
    this.asked = new ServerQuestions(listener);
  }

  /** Opens the carrier. */
  async start(open: OpenCarrier): Promise<this> {
    this.carrier = await open({
      receive: (received, cause) => this.receive(received, cause),
      deafen: (reason) => this.listener.deafened?.(reason),
      lose: (reason) => this.lose(reason),
      missed: () => this.listener.missed?.(),
      signIn: async (id, credentials) => await this.signIn(id, credentials),
      // a request that fails later tells why
      expire: (session) => void (this.listener.renewed && this.renew(session).catch(() => {})),
    });
    return this;
  }

  /** Whether messages can still be sent. */
  get isOpen(): boolean {
    return this.over === undefined;
  }

  /** Whether the client mirrors arguments in headers. */
  get mirrors(): boolean {
    return this.carrier?.mirrors === true;
  }

  /** The negotiated revision. */
  get revision(): string {
    return this.initialized?.protocolVersion ?? this.identity.revision;
  }

  /** Starts the session. */
  async initialize(options: RequestOptions = {}): Promise<InitializeResult> {
    const { revision, capabilities, clientInfo } = this.identity;
    const hello = { protocolVersion: revision, capabilities, clientInfo };
    this.initialized = (await this.request(INITIALIZE, hello, options)) as unknown as InitializeResult;
    await this.notify('notifications/initialized');
    return this.initialized;
  }

  /** Sends a request and waits for its result. If its session is lost before it is read, starts another one. */
  async request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    try {
      return await this.once(method, params, options);
    } catch (error) {
      if (!(error instanceof SessionRefused) || !this.listener.renewed || method === INITIALIZE) throw error;
      await this.renew(error.session);
      return await this.once(method, params, options);
    }
  }

  /** Starts another session, unless somebody else has. */
  private async renew(session: string): Promise<void> {
    if (this.carrier?.forgetSession?.(session) === true) {
      this.forget(
        new ConnectionError(
          'session-lost',
          'The server has forgotten the session. What became of the call is unknown.',
        ),
      );
      this.renewal = this.initialize().then(async () => await this.listener.renewed?.());
    }
    await this.renewal;
  }

  private async once(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    const { signal, timeoutMs = this.listener.timeoutMs } = options;
    signal?.throwIfAborted();
    const id = ++this.sent;
    const give = (reason: Error) => {
      if (this.drop(id, reason)) void this.cancel(id, reason);
    };
    const off = onAbort(signal, () => give(signal?.reason as Error));
    const weight = method === LISTEN ? 0 : 1;
    this.awaited += weight;
    try {
      return await new Promise<JsonObject>((resolve, reject) => {
        const expire = () => give(late(method, timeoutMs));
        const outcome = { resolve, reject, give, expire, timeoutMs };
        this.pending.set(id, new PendingCall({ method, params, options }, outcome));
        this.hold();
        this.send({ id, method, params: this.complete(params, id, options) }).then(
          (state) => state === 'finished' && this.drop(id, unanswered(method)),
          (error: Error) => this.drop(id, error),
        );
      });
    } finally {
      off();
      this.awaited -= weight;
      this.hold();
    }
  }

  /** Asks the client itself, for a question in a result. */
  async ask(question: Question, call: AskingCall): Promise<object> {
    return await this.asked.inRound(question, call);
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.send({ method, ...(params && { params }) });
  }

  async close(): Promise<void> {
    this.lose(closed(), 'by itself');
    const { carrier } = this;
    this.carrier = undefined;
    await carrier?.close();
  }

  /** Keeps the process alive while somebody waits. */
  hold(): void {
    this.carrier?.hold(this.awaited > 0 || this.listener.isAwaited === true);
  }

  private async signIn(id: RequestId | undefined, credentials: Promise<unknown>): Promise<void> {
    const call = id === undefined ? undefined : this.pending.get(id);
    call?.pause();
    try {
      await credentials;
    } finally {
      call?.goOn();
    }
    // a request that was cancelled meanwhile must not be sent
    if (id !== undefined && !this.pending.has(id)) throw closed();
  }

  private async cancel(id: RequestId, reason: Error): Promise<void> {
    const { carrier } = this;
    if (this.identity.era === 'stateless' && carrier?.abort) return carrier.abort(id);
    // the connection may have ended
    await this.notify('notifications/cancelled', { requestId: id, reason: String(reason) }).catch(() => {});
    // a server may leave the stream of the request open for ever
    carrier?.abort?.(id);
  }

  private async send(message: object): Promise<'finished' | 'sent'> {
    if (this.over !== undefined || this.carrier === undefined) throw this.over ?? closed();
    const complete = { jsonrpc: '2.0', ...message } as JsonRpcMessage;
    const text = JSON.stringify(complete);
    this.listener.framed?.('sent', JSON.parse(text) as JsonRpcMessage);
    return await this.carrier.send(text, complete);
  }

  private complete(params: JsonObject, id: RequestId, options: RequestOptions): JsonObject {
    const { era, revision, capabilities, clientInfo } = this.identity;
    const envelope = era === 'stateless' && {
      [`${PREFIX}protocolVersion`]: revision,
      [`${PREFIX}clientCapabilities`]: capabilities,
      [`${PREFIX}clientInfo`]: clientInfo,
      ...(this.logLevel && { [`${PREFIX}logLevel`]: this.logLevel }),
    };
    const own = params['_meta'] as JsonObject | undefined;
    const complete = { ...envelope, ...(options.onProgress && { progressToken: id }), ...own, ...metaOf(options) };
    return Object.keys(complete).length > 0 ? { ...params, _meta: complete } : params;
  }

  private receive(received: unknown, cause: RequestId | undefined): void {
    if (this.over !== undefined) return;
    try {
      const messages: unknown = typeof received === 'string' ? JSON.parse(received) : received;
      for (const message of [messages].flat()) {
        checkMessage(message);
        this.listener.framed?.('received', message);
        this.take(message, cause);
      }
    } catch (error) {
      const shown = typeof received === 'string' ? received : JSON.stringify(received);
      this.puzzle(`The server sent what is not an MCP message: ${excerptOf(shown)}`, error);
    }
  }

  private take(message: JsonRpcMessage, cause: RequestId | undefined): void {
    if (!('method' in message)) this.settle(message);
    else if ('id' in message) void this.answer(message, cause);
    else this.notice(message.method, message.params ?? {}, cause);
  }

  private notice(method: string, params: JsonObject, cause: RequestId | undefined): void {
    const { progressToken, progress, total, message, requestId, _meta: meta } = params;
    if (method === 'notifications/cancelled') this.asked.withdraw(requestId as RequestId);
    const call = this.pending.get((progressToken ?? subscriptionOf(meta) ?? cause) as RequestId);
    if (method === 'notifications/progress' && call !== undefined) {
      call.restart();
      const { onProgress } = call.options;
      call.tell(() => onProgress?.(progress as number, total as number | undefined, message as string | undefined));
    }
    const notification = { method, params };
    call?.tell(() => call.options.onNotification?.(notification));
    this.listener.notified?.(notification, call);
  }

  private settle({ id, result, error }: JsonRpcResponse): void {
    const failure = error && new McpError(error.code, error.message, error.data);
    // the server couldn't read the id, so any request may have failed
    if (failure && (id ?? undefined) === undefined) return this.rejectAll(() => failure);
    const pending = this.pending.get(id as RequestId);
    this.pending.delete(id as RequestId);
    if (failure) pending?.reject(failure);
    else pending?.resolve(result ?? {});
    const isKnown = typeof id === 'number' && id <= this.sent;
    if (!isKnown) this.puzzle(`The server answered ${JSON.stringify(id)}, which the client did not ask.`);
  }

  private async answer({ id, method, params = {} }: JsonRpcRequest, cause: RequestId | undefined): Promise<void> {
    const asking = this.askingCalls(cause);
    const outcome = await this.asked.answer({ id, method, params }, asking);
    // the connection may have ended meanwhile
    if (outcome !== undefined) await this.asked.reply(async () => await this.send({ id, ...outcome }));
  }

  /** The calls that may ask: the one on whose stream the question arrived, or all that are under way. */
  private askingCalls(cause: RequestId | undefined): readonly PendingCall[] {
    const known = cause === undefined ? undefined : this.pending.get(cause);
    return known === undefined ? [...this.pending.values()] : [known];
  }

  /** Ends the connection, or reports what the server did if the listener can live with it. */
  private puzzle(problem: string, cause?: unknown): void {
    const error = new ConnectionError('protocol', problem, { cause });
    if (this.listener.puzzled) this.listener.puzzled(error);
    else this.lose(error);
  }

  /** Ends the connection: rejects all pending and future requests. */
  private lose(reason: Error, how?: 'by itself'): void {
    if (this.over !== undefined) return;
    this.over = alike(reason);
    this.forget(reason);
    this.listener.ended?.(how ? undefined : this.over);
  }

  /** Rejects all pending requests, because the server has forgotten them. */
  private forget(reason: Error): void {
    this.rejectAll(() => alike(reason));
    this.asked.end();
  }

  private rejectAll(errorFor: () => Error): void {
    for (const id of this.pending.keys()) this.drop(id, errorFor());
  }

  /** @returns whether the request was still waiting */
  private drop(id: RequestId, error: Error): boolean {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    pending?.reject(error);
    return pending !== undefined;
  }
}

/** The request that a subscription's notification belongs to. A pipe doesn't tell. */
const subscriptionOf = (meta: unknown): unknown => (isObject(meta) ? meta[`${PREFIX}subscriptionId`] : undefined);

const late = (method: string, timeoutMs: number) =>
  new ConnectionError('timeout', `The server did not answer "${method}" within ${timeoutMs} ms.`);

const unanswered = (method: string) =>
  new ConnectionError('closed', `The server ended "${method}" without a response.`);
