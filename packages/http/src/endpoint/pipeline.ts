import type { Principal } from '@decorum/core';
import { isPromise } from '@decorum/core/transport';

import type { RequestHead } from '../auth/auth.js';
import type { Bodies, BodyReceiver } from './body.js';
import type { HttpContext } from './http-context.js';
import type { Endpoint, PostEndpoint } from './endpoint.js';
import { corsHeaders } from './guard.js';
import { expectsBody } from './headers.js';
import type { ResolvedOptions } from './options.js';
import { HttpError, MaskedError } from './http-error.js';
import { normalEncoding } from './paths.js';

/** A request whose body has not been read yet. */
export interface UnreadContext extends HttpContext {
  /** Path and query. */
  readonly url: string;
  /** The part of the request that `auth` gets. */
  readonly head: RequestHead;
  /** Whether the host expects a body. */
  readonly hasBody: boolean;
  /** The `Vary` header that the response already has. */
  readonly vary: string | undefined;
  /** Reads the body. */
  read(bodies: Bodies, receiver: BodyReceiver): void;
  /** Handles a POST once the client has taken the answers to all earlier requests on the connection. */
  post(endpoint: PostEndpoint, message: unknown): void;
}

/**
 * Whether the endpoint serves a URL. Compares the exact spelling, as Express does. Otherwise, another spelling could
 * bypass middleware mounted at the same path.
 * @param path path of the endpoint; undefined if it serves every path
 * @param url path and query of the request
 */
export function isServed({ legacySse }: ResolvedOptions<never>, path: string | undefined, url: string): boolean {
  if (path === undefined) return true;
  const [found] = url.split('?', 1);
  if (found === path || (path === '' && found === '/')) return true;
  return legacySse !== undefined && (found === legacySse.path || found === legacySse.messagesPath);
}

/** Whether the path of a URL is `path`, in any percent-encoding. */
export function isAt(path: string, url: string): boolean {
  const [found = ''] = url.split(/[?#]/, 1);
  return found === path || (found.includes('%') && normalEncoding(found) === path);
}

/** Answers a request with an error that a step has thrown. Never throws. */
export function answerError<HostRequest>(
  endpoint: Endpoint<HostRequest>,
  context: Pick<HttpContext, 'remoteAddress' | 'answer' | 'drop'> & { readonly principal?: Principal | undefined },
  error: unknown,
): void {
  try {
    const { status, body, headers } = endpoint.errorResponse(error, context);
    context.answer(status, body, headers);
  } catch (unsent) {
    // something else has already answered, such as the application's timeout
    endpoint.errorResponse(new MaskedError(unsent), context);
    context.drop();
  }
}

/**
 * Runs one request through all steps of an endpoint, for hosts without hooks for these steps: guard → authenticate →
 * body → admit → dispatch → answer. It runs synchronously unless a step returns a promise.
 */
export class Pipeline<HostRequest> implements BodyReceiver {
  constructor(
    private readonly endpoint: Endpoint<HostRequest>,
    private readonly context: UnreadContext,
    private readonly request: HostRequest,
  ) {}

  /** Answers the request. Never throws. */
  run(): void {
    try {
      this.guard();
      const principal = this.authenticate();
      if (isPromise(principal)) this.readAfter(principal);
      else this.read(principal);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Continues once the caller is authenticated. Never throws. */
  readAfter(principal: Promise<Principal | undefined>): void {
    void principal.then((found) => this.read(found)).catch((error: unknown) => this.fail(error));
  }

  /** Continues with the parsed body. Never throws. */
  body(failure: unknown, message?: unknown): void {
    if (failure !== null) return this.fail(failure);
    try {
      const answered = this.dispatch(message);
      if (answered) void answered.catch((error: unknown) => this.fail(error));
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    answerError(this.endpoint, this.context, error);
  }

  private guard(): void {
    const { endpoint, context } = this;
    const { method, headers } = context;
    endpoint.guard.check(headers, context.localPort);
    if (headers.origin !== undefined) context.preset(corsHeaders(headers.origin, context.vary));
    endpoint.requireMethod(method);
  }

  private authenticate(): Principal | undefined | Promise<Principal | undefined> {
    const { endpoint, context, request } = this;
    return endpoint.gate?.enter(context.head, request, context);
  }

  private read(principal: Principal | undefined): void {
    const { context, endpoint } = this;
    if (endpoint.gate) context.principal = principal;
    if (expectsBody(context, context.hasBody)) context.read(endpoint.bodies, this);
    else this.body(null);
  }

  private dispatch(message: unknown): void | Promise<void> {
    const { endpoint, context, request } = this;
    const { method } = context;
    const { principal, legacySse } = endpoint.settings;
    if (method === 'OPTIONS') return endpoint.preflight(context);
    if (principal !== undefined) context.principal = principal(request);
    if (legacySse !== undefined) {
      const path = [legacySse.path, legacySse.messagesPath].find((each) => isAt(each, context.url));
      if (path !== undefined) return this.dispatchLegacy(path, message);
    }
    if (method === 'POST') return context.post(endpoint, message);
    return method === 'GET' ? endpoint.get(context) : endpoint.delete(context);
  }

  private dispatchLegacy(path: string, message: unknown): void {
    const { endpoint, context } = this;
    const { path: streamPath, messagesPath } = endpoint.settings.legacySse ?? {};
    if (path === streamPath && context.method === 'GET') return endpoint.legacy?.open(context);
    if (path === messagesPath && context.method === 'POST') return endpoint.legacy?.post(message, context, context.url);
    const allow = [...(path === streamPath ? ['GET'] : []), ...(path === messagesPath ? ['POST'] : [])].join(', ');
    throw new HttpError(405, `Method not allowed. Use ${allow}.`, { allow });
  }
}
