import {
  type ClientCapabilities,
  type Implementation,
  type JsonObject,
  type LogLevel,
  McpError,
  type Principal,
  type RequestId,
  type ServerCapabilities,
} from '@decorum/core';
import type { Host } from '@decorum/core/transport';
import { checkMessage, type Era } from '@decorum/core/internal';
import type { JsonRpcMessage, JsonRpcRequest, JsonRpcResponse } from '@decorum/core/transport';

import { callSite, thrownAt } from './call-site.js';
import type { Carrier, OpenCarrier } from '@decorum/client/internal';
import type { Frame } from './frames.js';
import { Inbox } from './inbox.js';
import { answer, type Question, type ServerRequestHandlers } from './questions.js';

/** Options of every request. */
export interface RequestOptions {
  /** Cancels the request. The server is notified, and the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Requests progress notifications and receives them. */
  readonly onProgress?: (progress: number, total: number | undefined, message: string | undefined) => void;
  /** Fields to add to the request's `_meta`. */
  readonly meta?: JsonObject;
}

/** The client's description of itself, and its handlers. */
export interface Identity {
  readonly era: Era;
  readonly revision: string;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation;
  readonly handlers: ServerRequestHandlers;
  /** The server, if it is in this process. */
  readonly server?: Host | undefined;
  readonly principal?: Principal | undefined;
}

/** The server's response to `initialize` (MCP, `InitializeResult`). */
export interface InitializeResult {
  readonly protocolVersion: string;
  readonly capabilities: ServerCapabilities;
  readonly serverInfo: Implementation;
  readonly instructions?: string;
}

interface Pending {
  readonly method: string;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: RequestOptions['onProgress'];
}

const PREFIX = 'io.modelcontextprotocol/';

/** One connection. It matches responses to requests, answers the server's requests and collects its notifications. */
export class Connection {
  readonly inbox = new Inbox(() => this.holdCarrier());
  readonly frames: Frame[] = [];
  /** The server's questions, in order. */
  readonly questions: Question[] = [];
  /** Sent with each request in the stateless era, which has no session to remember it. */
  logLevel: LogLevel | undefined;
  /** The server's response to `initialize`; undefined in the stateless era, which doesn't have `initialize`. */
  initialized: InitializeResult | undefined;
  private readonly pending = new Map<RequestId, Pending>();
  private carrier: Carrier | undefined;
  /** Why the connection has ended. */
  private over: Error | undefined;
  private sent = 0;

  private constructor(readonly identity: Identity) {}

  static async open(identity: Identity, open: OpenCarrier): Promise<Connection> {
    const connection = new Connection(identity);
    const carrier = await open({
      receive: (text) => connection.receive(text),
      deafen: (reason) => connection.inbox.end(reason),
      lose: (reason) => connection.lose(reason),
    });
    connection.carrier = carrier;
    return connection;
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
  async initialize(): Promise<InitializeResult> {
    const { revision, capabilities, clientInfo } = this.identity;
    const hello = { protocolVersion: revision, capabilities, clientInfo };
    this.initialized = (await this.request('initialize', hello)) as unknown as InitializeResult;
    await this.notify('notifications/initialized');
    return this.initialized;
  }

  /** Sends a request and waits for its result. */
  async request(method: string, params: JsonObject, options: RequestOptions = {}): Promise<JsonObject> {
    const { signal, onProgress } = options;
    const id = ++this.sent;
    signal?.throwIfAborted();
    const cancel = () => {
      this.drop(id, signal?.reason as Error);
      void this.cancel(id, signal?.reason).catch(() => {});
    };
    signal?.addEventListener('abort', cancel);
    const site = callSite(this.request);
    try {
      return await new Promise((resolve, reject) => {
        this.pending.set(id, { method, resolve, reject, onProgress });
        this.holdCarrier();
        this.send({ id, method, params: this.complete(params, id, options) }).then(
          (state) =>
            state === 'finished' && this.drop(id, new Error(`The server ended "${method}" without a response.`)),
          (error: Error) => this.drop(id, error),
        );
      });
    } catch (error) {
      throw error === signal?.reason ? error : thrownAt(error, site);
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.holdCarrier();
    }
  }

  /** Answers the questions in a result. Returns the parameters to add to the request in the next round. */
  async respond({ inputRequests = {}, requestState }: JsonObject): Promise<JsonObject> {
    const asked = Object.entries(inputRequests as Record<string, { method: string; params?: JsonObject }>);
    const answers = asked.map(async ([key, { method, params = {} }]) => [key, await this.ask(method, params)] as const);
    const inputResponses = Object.fromEntries(await Promise.all(answers));
    return { inputResponses, ...(requestState !== undefined && { requestState }) };
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.send({ method, ...(params && { params }) });
  }

  /** Lists the entries on all pages. */
  async list(method: string, member: string): Promise<readonly JsonObject[]> {
    const entries: JsonObject[] = [];
    let cursor: unknown;
    do {
      const page = await this.request(method, cursor === undefined ? {} : { cursor });
      entries.push(...(page[member] as JsonObject[]));
      cursor = page['nextCursor'];
    } while (cursor !== undefined);
    return entries;
  }

  async close(): Promise<void> {
    this.lose(new Error('The client is closed.'));
    const { carrier } = this;
    this.carrier = undefined;
    await carrier?.close();
  }

  private async cancel(id: RequestId, reason: unknown): Promise<void> {
    const { carrier } = this;
    if (this.identity.era === 'stateless' && carrier?.abort) carrier.abort(id);
    else await this.notify('notifications/cancelled', { requestId: id, reason: String(reason) });
  }

  private async send(message: object): Promise<'finished' | 'sent'> {
    if (this.over !== undefined || this.carrier === undefined) throw this.over ?? new Error('The client is closed.');
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    const parsed = JSON.parse(text) as JsonRpcMessage;
    this.frames.push({ direction: 'sent', message: parsed });
    return await this.carrier.send(text, parsed);
  }

  private complete(params: JsonObject, id: RequestId, { onProgress, meta }: RequestOptions): JsonObject {
    const { era, revision, capabilities, clientInfo } = this.identity;
    const envelope = era === 'stateless' && {
      [`${PREFIX}protocolVersion`]: revision,
      [`${PREFIX}clientCapabilities`]: capabilities,
      [`${PREFIX}clientInfo`]: clientInfo,
      ...(this.logLevel && { [`${PREFIX}logLevel`]: this.logLevel }),
    };
    const own = params['_meta'] as JsonObject | undefined;
    const complete = { ...envelope, ...(onProgress && { progressToken: id }), ...own, ...meta };
    return Object.keys(complete).length > 0 ? { ...params, _meta: complete } : params;
  }

  private receive(text: string): void {
    if (this.over !== undefined) return;
    try {
      for (const message of [JSON.parse(text) as unknown].flat()) {
        checkMessage(message);
        this.frames.push({ direction: 'received', message });
        this.take(message);
      }
    } catch (error) {
      const shown = text.length > 300 ? `${text.slice(0, 300)}…` : text;
      this.lose(new Error(`The server sent what is not an MCP message: ${JSON.stringify(shown)}`, { cause: error }));
    }
  }

  private take(message: JsonRpcMessage): void {
    if (!('method' in message)) this.settle(message);
    else if ('id' in message) void this.answer(message);
    else {
      const { method, params = {} } = message;
      if (method === 'notifications/progress') {
        const { progressToken, progress, total, message: text } = params;
        const onProgress = this.pending.get(progressToken as RequestId)?.onProgress;
        onProgress?.(progress as number, total as number | undefined, text as string | undefined);
      }
      this.inbox.add({ method, params });
    }
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
    if (!isKnown) this.lose(new Error(`The server answered ${JSON.stringify(id)}, which the client did not ask.`));
  }

  private async answer({ id, method, params = {} }: JsonRpcRequest): Promise<void> {
    let outcome: object;
    try {
      outcome = { result: await this.ask(method, params) };
    } catch (error) {
      const { code, message, data } = error instanceof McpError ? error : new McpError('internal-error', String(error));
      outcome = { error: { code, message, data } };
    }
    // the connection may have ended meanwhile
    await this.send({ id, ...outcome }).catch(() => {});
  }

  private async ask(method: string, params: JsonObject): Promise<object> {
    if (method !== 'ping') this.questions.push({ method, params });
    return await answer(this.identity.handlers, method, params);
  }

  /** Ends the connection: rejects all pending and future requests. */
  private lose(reason: Error): void {
    if (this.over !== undefined) return;
    this.over = reason;
    this.rejectAll(() => new Error(reason.message, { cause: reason.cause }));
    this.inbox.end(reason);
  }

  private rejectAll(errorFor: (pending: Pending) => Error): void {
    for (const [id, pending] of this.pending) this.drop(id, errorFor(pending));
  }

  private drop(id: RequestId, error: Error): void {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    pending?.reject(error);
  }

  private holdCarrier(): void {
    this.carrier?.hold(this.pending.size > 0 || this.inbox.isAwaited);
  }
}
