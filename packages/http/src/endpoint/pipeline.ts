import { isPromise, type OwnedRoute } from '@decorum/core/internal';

import type { RequestHead } from '../auth/auth.js';
import { isAnswered } from '../exchange/exchange-parts.js';
import { PostExchange } from '../exchange/post-exchange.js';
import { endSession, openStream } from '../exchange/session-requests.js';
import { errorAnswer } from './answer.js';
import type { Bodies, BodyReceiver } from './body.js';
import type { Endpoint } from './endpoint.js';
import { corsHeaders, preflightHeaders } from './guard.js';
import { expectsBody } from './headers.js';
import type { HttpContext } from './http-context.js';
import { HttpError, HttpLimitError } from './http-error.js';
import type { LegacyPaths } from './options.js';
import { serveRoute } from './routes.js';

/** A POST that has to wait for the answers to earlier requests on its connection. */
export interface PipelinedPost {
  readonly bodies: Bodies;
  /** Handles it. */
  begin(): void;
}

/** A request at the start of the pipeline. */
export interface PipelineContext<HostRequest> extends HttpContext {
  readonly request: HostRequest;
  /** Path and query. */
  readonly url: string;
  /** The part of the request that `auth` gets. */
  readonly head: RequestHead;
  /** Whether the host expects a body. */
  readonly hasBody: boolean;
  /** The `Vary` header that the response already has. */
  readonly vary: string | undefined;
  /** The plugin routes that the request is for; undefined if it is for the endpoint. */
  readonly routes?: readonly OwnedRoute[] | undefined;
  /** Whether it arrived together with earlier requests on its connection, or before they were answered. */
  readonly isPipelined: boolean;
  /** Whether the request is for one of the endpoint's paths. */
  isAt(path: string): boolean;
  /** Begins a pipelined POST when it is its turn. */
  postpone(post: PipelinedPost): void;
  /** Reads the body. */
  read(bodies: Bodies, receiver: BodyReceiver): void;
}

/**
 * The steps of every request: `admit`, then the body, then `receive`. Hosts with a hook for each step call these two
 * themselves; `run` calls them for all others. What a request for the endpoint gets is decided here, and not in the hosts.
 * The documents of `auth` are served elsewhere: they are public, and exist before the server has started.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
 */
export class Pipeline<HostRequest> {
  constructor(readonly endpoint: Endpoint<HostRequest>) {}

  /**
   * Everything that comes before the body: checks `Host` and `Origin`, adds the CORS headers, rejects unsupported
   * methods, and authenticates the caller.
   * @returns a promise if authentication takes longer
   * @throws {HttpError} 401, 403, 405 or the refusal of `auth`
   */
  admit(context: PipelineContext<HostRequest>): void | Promise<void> {
    const { settings, gate } = this.endpoint;
    const { headers, method } = context;
    if (context.isFromGateway === true) settings.guard.checkOrigin(headers, context.localPort);
    else settings.guard.check(headers, context.localPort);
    if (headers.origin !== undefined) context.preset(corsHeaders(headers.origin, context.vary));
    // plugin routes need no credentials
    if (context.routes !== undefined) return;
    if (method !== 'POST' && method !== 'GET' && method !== 'DELETE' && method !== 'OPTIONS') {
      throw methodNotAllowed(settings.sessions ? 'GET, POST, DELETE' : 'POST');
    }
    if (gate === undefined) return;
    const found = gate.enter(context.head, context.request, context);
    if (isPromise(found)) return found.then((principal) => void (context.principal = principal));
    context.principal = found;
  }

  /**
   * Handles an admitted request: the only table of paths and methods.
   * @param message the parsed body; undefined if there is none
   * @throws {HttpError} 4xx or 503
   */
  receive(context: PipelineContext<HostRequest>, message: unknown): void | Promise<void> {
    const { settings, parts } = this.endpoint;
    const { method, routes } = context;
    if (routes !== undefined) return serveRoute(routes, context, parts);
    if (method === 'OPTIONS') return this.preflight(context);
    if (settings.principal !== undefined) context.principal = settings.principal(context.request);
    if (settings.legacySse !== undefined) {
      const { path, messagesPath } = settings.legacySse;
      if (context.isAt(path) || context.isAt(messagesPath)) {
        return this.receiveLegacy(context, message, settings.legacySse);
      }
    }
    if (method === 'GET') return openStream(context, parts);
    if (method === 'DELETE') return endSession(context, parts);
    context.readers = parts.streams.readers;
    const exchange = new PostExchange(message, context, parts);
    if (!context.isPipelined || !isAnswered(message)) return exchange.run();
    context.postpone({ bodies: parts.bodies, begin: () => exchange.run() });
  }

  /**
   * Takes a request through all steps, synchronously unless a step returns a promise. Never throws.
   * @param isAdmitted whether `admit` is done
   */
  run(context: PipelineContext<HostRequest>, isAdmitted = false): void {
    try {
      const waiting = isAdmitted ? undefined : this.admit(context);
      if (waiting !== undefined) {
        void waiting.then(() => this.run(context, true)).catch((error: unknown) => this.fail(context, error));
        return;
      }
      const { method, headers, routes } = context;
      // nearly all requests
      const isUsual = method === 'POST' && headers['content-type'] === 'application/json';
      const isRead = routes === undefined && (isUsual || expectsBody(context, context.hasBody));
      if (!isRead) return this.proceed(context, null);
      context.read(this.endpoint.parts.bodies, { body: this.proceed.bind(undefined, context) });
    } catch (error) {
      this.fail(context, error);
    }
  }

  /**
   * Continues with the parsed body. Never throws.
   * @param failure why there is none, or null
   */
  readonly proceed = (context: PipelineContext<HostRequest>, failure: unknown, message?: unknown): void => {
    if (failure !== null) return this.fail(context, failure);
    try {
      const answered = this.receive(context, message);
      if (answered !== undefined) void answered.catch((error: unknown) => this.fail(context, error));
    } catch (error) {
      this.fail(context, error);
    }
  };

  /** Answers a request with an error that a step has thrown. Never throws. */
  fail(context: HttpContext, error: unknown): void {
    const { parts } = this.endpoint;
    try {
      if (error instanceof HttpLimitError) parts.hit(error.hitBy(context));
      const { status, body, headers } = errorAnswer(error, parts.report);
      // otherwise a kept-alive connection would delay the server's shutdown
      context.answer(status, body, parts.stopped ? { ...headers, connection: 'close' } : headers);
    } catch (unsent) {
      // something else has already answered, such as the application's timeout
      parts.report(unsent);
      context.drop();
    }
  }

  private preflight(context: HttpContext): void {
    const { 'access-control-request-headers': requested } = context.headers;
    context.answer(204, undefined, preflightHeaders(requested, this.endpoint.settings.auth?.credentialHeaders));
  }

  private receiveLegacy(
    context: PipelineContext<HostRequest>,
    message: unknown,
    { path, messagesPath }: Required<LegacyPaths>,
  ): void {
    const { legacy } = this.endpoint;
    const [isStream, takesMessages] = [context.isAt(path), context.isAt(messagesPath)];
    if (isStream && context.method === 'GET') return legacy?.open(context);
    if (takesMessages && context.method === 'POST') return legacy?.post(message, context, context.url);
    throw methodNotAllowed([...(isStream ? ['GET'] : []), ...(takesMessages ? ['POST'] : [])].join(', '));
  }
}

function methodNotAllowed(allow: string): HttpError {
  return new HttpError(405, `Method not allowed. Use ${allow}.`, { allow });
}
