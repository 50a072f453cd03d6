import type { RouteAnswer, RouteRequest } from '@decorum/core';
import { type HostPort, isPromise, type OwnedRoute, startupError } from '@decorum/core/transport';

import { areHeaders, lowerCased } from '../auth/authenticate.js';
import type { Endpoint } from './endpoint.js';
import { corsHeaders } from './guard.js';
import { HttpError, MaskedError } from './http-error.js';
import { type HttpRequest, type Responder, transportInfo } from './http-context.js';
import type { ResolvedOptions } from './options.js';
import { answerError } from './pipeline.js';

/** The plugin routes at the path of a URL; undefined if there are none. */
export function routesAt({ routes }: Pick<HostPort, 'routes'>, url: string): readonly OwnedRoute[] | undefined {
  if (routes.length === 0) return undefined;
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  const found = routes.filter((route) => route.path === path);
  return found.length === 0 ? undefined : found;
}

/**
 * Rejects plugin routes at paths that belong to the endpoint.
 * @param isWhole whether the endpoint serves every path
 * @throws {DecorumError} `DECORUM_DUPLICATE_ROUTE`
 */
export function requireFreeRoutes(
  { routes }: Pick<HostPort, 'routes'>,
  { path, legacySse, auth }: ResolvedOptions<never>,
  isWhole = false,
): void {
  const owners = new Map<string | undefined, string>([
    ...(auth?.documents ?? []).map((document) => [document.path, '`auth`'] as const),
    [legacySse?.path, '`legacySse`'],
    [legacySse?.messagesPath, '`legacySse`'],
    [isWhole ? '/' : undefined, 'the MCP endpoint'],
    [path === '' ? '/' : path, 'the MCP endpoint'],
  ]);
  for (const route of routes) {
    const owner = owners.get(route.path);
    if (owner === undefined) continue;
    throw startupError('DECORUM_DUPLICATE_ROUTE', `${route.method} ${route.path}`, [
      owner,
      `the plugin "${route.plugin}"`,
    ]);
  }
}

/** A request to a route. */
export interface RouteContext extends HttpRequest, Pick<Responder, 'preset' | 'answer' | 'drop'> {
  /** Path and query. */
  readonly url: string;
  /** The `Vary` header that the response already has. */
  readonly vary: string | undefined;
}

/**
 * Answers a request to the routes of one path, after the guard. The request needs no credentials, and its body isn't
 * read. Never throws.
 */
export function serveRoute<HostRequest>(
  routes: readonly OwnedRoute[],
  context: RouteContext,
  endpoint: Endpoint<HostRequest>,
): void {
  const fail = (error: unknown) => answerError(endpoint, context, error);
  try {
    const { headers } = context;
    endpoint.guard.check(headers, context.localPort);
    if (headers.origin !== undefined) context.preset(corsHeaders(headers.origin, context.vary));
    const route = routeFor(routes, context.method);
    const send = (answer: RouteAnswer) => sendAnswer(context, answer);
    const failed = (cause: unknown) =>
      fail(new MaskedError(new Error(`The plugin "${route.plugin}" failed in its route ${nameOf(route)}.`, { cause })));
    try {
      const answer = route.handle(requestOf(context, endpoint));
      if (isPromise(answer)) void Promise.resolve(answer).then(send).catch(failed);
      else send(answer);
    } catch (error) {
      failed(error);
    }
  } catch (error) {
    fail(error);
  }
}

const nameOf = ({ method, path }: OwnedRoute): string => `${method} ${path}`;

function routeFor(routes: readonly OwnedRoute[], method: string): OwnedRoute {
  const found = routes.find((route) => route.method === (method === 'HEAD' ? 'GET' : method));
  if (found !== undefined) return found;
  const allow = routes.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])).join(', ');
  throw new HttpError(405, `Method not allowed. Use ${allow}.`, { allow });
}

function requestOf<HostRequest>(context: RouteContext, endpoint: Endpoint<HostRequest>): RouteRequest {
  const { method, url, remoteAddress } = context;
  const { headers = {} } = transportInfo(context, endpoint.settings.credentials);
  return {
    method,
    url,
    headers,
    remoteAddress,
    get closing() {
      return endpoint.stopped;
    },
    report: (error) => void endpoint.errorResponse(new MaskedError(error), {}),
  };
}

/** Statuses whose responses have no content (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5). */
const EMPTY: ReadonlySet<unknown> = new Set([204, 205, 304]);

const TEXT_TYPE = 'text/plain; charset=utf-8';

function sendAnswer(context: RouteContext, answer: RouteAnswer): void {
  const { status, headers = {}, body } = (answer ?? {}) as Partial<RouteAnswer>;
  const isStatus = status !== undefined && Number.isInteger(status) && status >= 200 && status <= 599;
  if (!isStatus || !areHeaders(headers) || (body !== undefined && typeof body !== 'string')) {
    throw new TypeError(
      'A route must answer with a `status` from 200 to 599. Its `body` must be a string, and its `headers` must be strings ' +
        'without line breaks or characters outside Latin-1.',
    );
  }
  const sent = EMPTY.has(status) ? undefined : body;
  context.answer(status, sent, { ...(sent !== undefined && { 'content-type': TEXT_TYPE }), ...lowerCased(headers) });
}
