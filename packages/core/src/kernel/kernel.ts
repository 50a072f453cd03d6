import { excerpt, type FailureKind, McpError } from '../protocol/errors.js';
import { requireInitialized, Session, type SessionOptions } from '../protocol/eras/stateful.js';
import { openStateless } from '../protocol/eras/stateless.js';
import { Exchange, isStateless } from '../protocol/exchange.js';
import {
  isObject,
  checkMessage,
  errorFrame,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  resultFrame,
  readableId,
} from '../protocol/jsonrpc.js';
import type { JsonObject, RequestId } from '../protocol/model.js';
import type { Revision } from '../protocol/revisions/revision.js';
import type { Wire } from '../protocol/wire.js';
import { completionMethods } from './methods/completion.js';
import { extensionMethods } from './methods/extensions.js';
import { lifecycleMethods } from './methods/lifecycle.js';
import { listenMethods } from './methods/listen.js';
import type { KernelParts, Method } from './methods/method.js';
import { promptMethods } from './methods/prompts.js';
import { resourceMethods } from './methods/resources.js';
import { toolMethods } from './methods/tools.js';

type Feature = Parameters<KernelParts['registry']['offered']['has']>[0];

/** Methods that exist only on servers that have something for them. */
const NEEDS: ReadonlyMap<string, Feature> = new Map([
  ['tools/list', 'tools'],
  ['tools/call', 'tools'],
  ['prompts/list', 'prompts'],
  ['prompts/get', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resources'],
  ['resources/read', 'resources'],
  ['resources/subscribe', 'resources'],
  ['resources/unsubscribe', 'resources'],
  ['completion/complete', 'completions'],
]);

/** Methods whose effect is remembered: a session that ends with its request has none of them. */
const REMEMBERED = new Set(['resources/subscribe', 'resources/unsubscribe', 'logging/setLevel']);

/** Failures of running requests that say that the request is no good. */
const REFUSALS = new Set<FailureKind>(['missing-capability', 'header-mismatch', 'invalid-state']);

/** A response as text, where one is due. */
export type Answer = string | undefined;

/** One message in, at most one out: transports know nothing else of the protocol. */
export class Kernel {
  private readonly methods: ReadonlyMap<string, Method>;
  private readonly extensions: ReadonlyMap<string, Method>;
  private readonly running: Exchange[] = [];
  private idle: (() => void) | undefined;

  constructor(private readonly parts: KernelParts) {
    this.extensions = extensionMethods(parts);
    this.methods = new Map(
      Object.entries({
        ...lifecycleMethods(parts),
        ...toolMethods(parts),
        ...resourceMethods(parts),
        ...promptMethods(parts),
        ...completionMethods(parts),
        ...listenMethods(parts),
      }),
    );
  }

  /**
   * Handles one parsed message. Never throws.
   * @param message anything that was JSON
   * @param wire how it came
   * @param session the session it came in; without one, only stateless requests are served
   * @returns the response as text, as soon as it is there; undefined where none is due: notifications, answers, cancelled
   * requests
   */
  handle(message: unknown, wire: Wire, session?: Session): Answer | Promise<Answer> {
    if (Array.isArray(message) && session?.revision.batches) return this.handleBatch(message, wire, session);
    try {
      checkMessage(message);
    } catch (error) {
      const refusal = this.refuse(error, wire, readableId(message) ?? unreadableId(message, session));
      if (!isAnswer(message)) return isNotification(message) ? undefined : refusal;
      // two sides that answer each other's bad answers would never end
      return void session?.settle({ jsonrpc: '2.0', id: message['id'] as RequestId });
    }
    if (!('method' in message)) return void session?.settle(message);
    if (!('id' in message)) return void this.take(message, session);
    if (session?.calls.has(message.id)) {
      // without the id: it is that of the first request, whose answer this must not seem to be
      const error = new McpError('invalid-request', 'A request with this id is under way.');
      return this.refuse(error, wire, session.revision.unreadableId);
    }
    let exchange: Exchange;
    let method: Method;
    try {
      exchange = this.open(message, wire, session);
      method = this.find(exchange, session);
      exchange.peer.resume?.();
    } catch (error) {
      return this.refuse(error, wire, message.id);
    }
    return this.run(exchange, method, session);
  }

  /** Handles the messages of a batch side by side (JSON-RPC 2.0, section 6). */
  private async handleBatch(batch: readonly unknown[], wire: Wire, session: Session): Promise<string | undefined> {
    const fault = batchFault(batch);
    if (fault) return this.refuse(fault, wire, session.revision.unreadableId);
    // one bad message among others is answered, and does not decide about the whole
    const each: Wire = { transport: wire.transport, principal: wire.principal, send: (frame) => wire.send(frame) };
    const frames = await Promise.all(batch.map((message) => this.handle(message, each, session)));
    const answers = frames.filter((frame) => frame !== undefined);
    return answers.length === 0 ? undefined : `[${answers.join(',')}]`;
  }

  /** Makes the memory of a client that is about to send `initialize`. */
  openSession(options: Pick<SessionOptions, 'push' | 'id' | 'principal' | 'lasting'>): Session {
    const { logLevel, questionTimeoutMs, tickets } = this.parts;
    return new Session({ ...options, logLevel, questionTimeoutMs, tickets });
  }

  /** Ends a session: gives up its requests and questions, and tells it of nothing more. */
  closeSession(session: Session): void {
    this.parts.events.leave(session);
    session.close();
  }

  /** Waits until no request is under way, at most `deadlineMs` milliseconds, then cancels what is left. */
  async drain(deadlineMs: number): Promise<void> {
    this.parts.events.end();
    if (this.running.length > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadlineMs);
        this.idle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    for (const exchange of this.running) exchange.cancel('The server is closing.');
  }

  private open(request: JsonRpcRequest, wire: Wire, session: Session | undefined): Exchange {
    if (session === undefined || isStateless(request, wire.declaredVersion, session)) {
      return new Exchange(request, openStateless(request, wire, this.parts), wire);
    }
    if (!session.initialized) requireInitialized(session, request.method);
    return new Exchange(request, session, wire);
  }

  private find({ method, revision }: Exchange, session: Session | undefined): Method {
    const handler = revision.methods.has(method) ? this.methods.get(method) : this.extended(method, revision);
    const needs = NEEDS.get(method);
    const missing = needs !== undefined && !this.parts.registry.offered.has(needs);
    if (handler === undefined || missing || (session?.lasting === false && REMEMBERED.has(method))) {
      throw new McpError('method-not-found', 'Method not found');
    }
    return handler;
  }

  /** Extensions belong to the era in which each request says what its client supports. */
  private extended(method: string, { era }: Revision): Method | undefined {
    return era === 'stateless' ? this.extensions.get(method) : undefined;
  }

  private async run(exchange: Exchange, method: Method, session: Session | undefined): Promise<Answer> {
    const { id, wire, revision } = exchange;
    exchange.slot = this.running.push(exchange) - 1;
    session?.calls.set(id, exchange);
    if (revision.era === 'stateless') wire.onDisconnect?.(() => exchange.cancel('The client went away.'));
    try {
      if (exchange.cancelled) return undefined;
      const running = method(exchange, session);
      const { failure } = exchange.peer;
      const result = await (failure === undefined ? running : Promise.race([running, failure]));
      if (exchange.cancelled) return undefined;
      return exchange.peer.asking ? await this.interim(exchange) : resultFrame(id, result);
    } catch (error) {
      return exchange.cancelled ? undefined : await this.failed(error, exchange);
    } finally {
      exchange.close();
      session?.calls.delete(id);
      // a set costs ten times as much where there are few
      const last = this.running.pop() as Exchange;
      if (last !== exchange) {
        this.running[exchange.slot] = last;
        last.slot = exchange.slot;
      }
      if (this.running.length === 0) this.idle?.();
    }
  }

  /** The questions that take the place of the result. */
  private async interim(exchange: Exchange): Promise<Answer> {
    const { id, peer, revision } = exchange;
    await peer.finishRound?.(exchange);
    if (exchange.cancelled) return undefined;
    exchange.endRound();
    return resultFrame(id, revision.complete(peer.interim() ?? {}, this.parts.server));
  }

  /** What a handler threw. Where the client must answer first, that is why it threw, whatever it made of it. */
  private async failed(failure: unknown, exchange: Exchange): Promise<Answer> {
    const { id, wire, revision, peer } = exchange;
    const { faults } = this.parts;
    let error: McpError;
    try {
      if (peer.asking && !exchange.over) return await this.interim(exchange);
      error = faults.publicError(failure, exchange);
    } catch (fault) {
      error = faults.publicError(fault, exchange);
    }
    if (error.kind !== undefined && REFUSALS.has(error.kind)) wire.refuse?.(error);
    const { message, data } = error;
    return errorFrame(id, { code: revision.errorCode(error) ?? INTERNAL_ERROR, message, data });
  }

  private refuse(error: unknown, wire: Wire, id?: RequestId | null): string {
    const known = error instanceof McpError ? error : new McpError('internal-error', 'Internal error');
    if (known !== error) this.parts.faults.report(error);
    wire.refuse?.(known);
    return errorFrame(id, known);
  }

  private cancel(exchange: Exchange, reason: unknown): void {
    const { id, method } = exchange;
    const given = typeof reason === 'string' ? reason : undefined;
    const details = { requestId: id, method, ...(given !== undefined && { reason: excerpt(given) }) };
    this.parts.faults.debug(details, 'the client cancelled a request');
    exchange.cancel(given);
  }

  private take({ method, params }: JsonRpcNotification, session: Session | undefined): void {
    switch (method) {
      case 'notifications/initialized':
        if (session?.initialized) this.parts.events.join(session);
        break;
      case 'notifications/cancelled': {
        const { requestId, reason } = params ?? {};
        const exchange = session?.calls.get(requestId as string);
        if (exchange && exchange.method !== 'initialize') this.cancel(exchange, reason);
        break;
      }
      case 'notifications/roots/list_changed':
        if (session) session.roots = undefined;
        break;
    }
  }
}

const INTERNAL_ERROR = -32603;

/** Also a bad notification is never answered. */
const isNotification = (message: unknown) =>
  isObject(message) && typeof message['method'] === 'string' && !('id' in message);

/**
 * Who sends an array before anything is agreed on knows the revision that has batches: there the id is null. Unless
 * what is in it belongs to no session.
 */
function unreadableId(message: unknown, session: Session | undefined): null | undefined {
  if (Array.isArray(message) && session?.initialized === false) return message.some(standsAlone) ? undefined : null;
  return session?.revision.unreadableId;
}

const standsAlone = (message: unknown): boolean =>
  isObject(message) && isStateless(message as unknown as JsonRpcMessage, undefined);

const isAnswer = (message: unknown): message is JsonObject =>
  isObject(message) && !('method' in message) && ('result' in message || 'error' in message);

/** How many messages a batch may hold. */
const MAX_BATCH = 100;

function batchFault(batch: readonly unknown[]): McpError | undefined {
  if (batch.length === 0) return new McpError('invalid-request', 'The batch is empty.');
  if (batch.length > MAX_BATCH) return new McpError('invalid-request', `A batch holds at most ${MAX_BATCH} messages.`);
  const nested = batch.some((message) => Array.isArray(message));
  if (nested) return new McpError('invalid-request', 'A batch cannot hold another batch.');
  const begins = batch.some((message) => isObject(message) && message['method'] === 'initialize');
  if (begins) return new McpError('invalid-request', 'A batch cannot hold "initialize".');
  // those that belong to no session have headers, each its own
  return batch.some(standsAlone)
    ? new McpError('invalid-request', 'A batch holds messages of its session only.')
    : undefined;
}
