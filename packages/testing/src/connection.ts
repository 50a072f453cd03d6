import {
  type ClientCapabilities,
  connectMemory,
  type Host,
  type Implementation,
  type JsonObject,
  type LogLevel,
  McpError,
  type MemoryConnection,
  type Principal,
  type RequestId,
} from '@decorum/core';
import type { Era, JsonRpcMessage, JsonRpcRequest, JsonRpcResponse } from '@decorum/core/transport';

import { Inbox } from './inbox.js';
import { answer, type ServerRequestHandlers } from './questions.js';

/** Options of every request. */
export interface RequestOptions {
  /** Cancels the request. The server is notified, and the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Requests progress notifications and receives them. */
  readonly onProgress?: (progress: number, total: number | undefined, message: string | undefined) => void;
  /** Fields to add to the request's `_meta`. */
  readonly meta?: JsonObject;
}

/** The client's description of itself, its principal and its handlers. */
export interface Identity {
  readonly era: Era;
  readonly revision: string;
  readonly capabilities: ClientCapabilities;
  readonly clientInfo: Implementation;
  readonly principal: Principal | undefined;
  readonly handlers: ServerRequestHandlers;
}

interface Pending {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: RequestOptions['onProgress'];
}

/** Cap on the rounds of questions before a result. */
const MAX_ROUNDS = 10;

const PREFIX = 'io.modelcontextprotocol/';

/** One connection. It matches responses to requests, answers the server's requests and collects its notifications. */
export class Connection {
  readonly inbox = new Inbox();
  /** Sent with each request in the stateless era, which has no session to remember it. */
  logLevel: LogLevel | undefined;
  private readonly pending = new Map<RequestId, Pending>();
  private memory: MemoryConnection | undefined;
  private sent = 0;

  constructor(readonly identity: Identity) {}

  async open(server: Host): Promise<void> {
    const { principal } = this.identity;
    const receive = (message: JsonRpcMessage) => this.receive(message);
    this.memory = await connectMemory(server, { receive, ...(principal && { principal }) });
  }

  /** Sends a request and waits for its result. */
  async request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    const { signal, onProgress } = options;
    const id = ++this.sent;
    signal?.throwIfAborted();
    const cancel = () => {
      this.drop(id, signal?.reason as Error);
      void this.notify('notifications/cancelled', { requestId: id, reason: String(signal?.reason) });
    };
    signal?.addEventListener('abort', cancel);
    try {
      return await new Promise((resolve, reject) => {
        this.pending.set(id, { resolve, reject, onProgress });
        void this.send({ id, method, params: this.complete(params, id, options) }).then(
          () => this.drop(id, new Error(`The server ended "${method}" without a response.`)),
          (error: Error) => this.drop(id, error),
        );
      });
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Like `request`, but also answers the server's questions in the stateless era, and retries with the answers. */
  async converse(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    let given: JsonObject = {};
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const result = await this.request(method, { ...params, ...given }, options);
      if (result['resultType'] !== 'input_required') return result;
      given = await this.respond(result);
    }
    throw new Error(`"${method}" asked ${MAX_ROUNDS} times without returning a result.`);
  }

  /** Answers the questions of a result. Returns the parameters to add to the next round. */
  async respond({ inputRequests = {}, requestState }: JsonObject): Promise<JsonObject> {
    const asked = Object.entries(inputRequests as Record<string, { method: string; params?: JsonObject }>);
    const answers = asked.map(async ([key, { method, params = {} }]) => {
      return [key, await answer(this.identity.handlers, method, params)] as const;
    });
    const inputResponses = Object.fromEntries(await Promise.all(answers));
    return { inputResponses, ...(requestState !== undefined && { requestState }) };
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    await this.send({ method, ...(params && { params }) });
  }

  close(): void {
    const closed = new Error('The client is closed.');
    this.memory?.close();
    this.memory = undefined;
    for (const id of this.pending.keys()) this.drop(id, closed);
    this.inbox.end(closed);
  }

  private async send(message: object): Promise<void> {
    if (this.memory === undefined) throw new Error('The client is closed.');
    await this.memory.send({ jsonrpc: '2.0', ...message });
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

  private receive(message: JsonRpcMessage): void {
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
    const pending = this.pending.get(id as RequestId);
    this.pending.delete(id as RequestId);
    if (error) pending?.reject(new McpError(error.code, error.message, error.data));
    else pending?.resolve(result ?? {});
  }

  private async answer({ id, method, params = {} }: JsonRpcRequest): Promise<void> {
    let outcome: object;
    try {
      outcome = { result: await answer(this.identity.handlers, method, params) };
    } catch (error) {
      const { code, message, data } = error instanceof McpError ? error : new McpError('internal-error', String(error));
      outcome = { error: { code, message, data } };
    }
    if (this.memory) await this.send({ id, ...outcome });
  }

  private drop(id: RequestId, error: Error): void {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    pending?.reject(error);
  }
}
