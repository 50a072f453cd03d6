import type { RouteAnswer, RouteRequest } from '@decorum/core/plugin';
import { isPromise, type OwnedRoute } from '@decorum/core/internal';
import type { HostPort } from '@decorum/core/transport';

import { startupError } from '../errors.js';
import type { AuthMount } from '../hosts/node/auth-mount.js';
import { covers } from '../auth/mount.js';
import { cardPathOf } from '../card/card-option.js';
import { lowerCased, requireSendable } from '../auth/authenticate.js';
import type { ExchangeParts } from '../exchange/exchange-parts.js';
import { HttpError, MaskedError } from './http-error.js';
import { type HttpRequest, type Responder, transportInfo } from './http-context.js';
import type { ResolvedOptions } from './options.js';

/**
 * Rejects plugin routes at paths that belong to the endpoint or its `auth`, and an endpoint at a path of its `auth`.
 * @param isWhole whether the endpoint serves every path
 * @throws {DecorumError} `DECORUM_DUPLICATE_ROUTE`
 */
export function requireFreeRoutes(
  { routes }: Pick<HostPort, 'routes'>,
  settings: ResolvedOptions<never>,
  isWhole = false,
): void {
  const { path, legacySse, auth, card } = settings;
  const owners = new Map<string | undefined, string>([
    ...(auth?.documents ?? []).map((document) => [document.path, '`auth`'] as const),
    [legacySse?.path, '`legacySse`'],
    [legacySse?.messagesPath, '`legacySse`'],
    [card && cardPathOf(path), '`card`'],
    [isWhole ? '/' : undefined, 'the MCP endpoint'],
    [path === '' ? '/' : path, 'the MCP endpoint'],
  ]);
  const { mount } = auth ?? {};
  requireFreeEndpoint(mount, settings);
  for (const route of routes) {
    const owner = owners.get(route.path) ?? (mount && covers(mount, route.path) ? '`auth`' : undefined);
    if (owner === undefined) continue;
    throw startupError('DECORUM_DUPLICATE_ROUTE', `${route.method} ${route.path}`, [
      owner,
      `the plugin "${route.plugin}"`,
    ]);
  }
}

/** Rejects an endpoint at a path of its own `auth`. */
function requireFreeEndpoint(
  mount: AuthMount | undefined,
  { path, servedPath, legacySse, card }: ResolvedOptions<never>,
): void {
  if (mount === undefined || servedPath === undefined) return;
  // the prefix that an application has added
  const prefix = servedPath.slice(0, servedPath.length - path.length);
  for (const own of [path, card && cardPathOf(path), legacySse?.path, legacySse?.messagesPath]) {
    if (own === undefined || !covers(mount, prefix + own)) continue;
    throw startupError('DECORUM_DUPLICATE_ROUTE', prefix + own, ['`auth`', 'the MCP endpoint']);
  }
}

/** A request to a route, and the means to answer it. */
export interface RouteContext extends HttpRequest, Pick<Responder, 'answer'> {
  /** Path and query. */
  readonly url: string;
}

/**
 * Answers a request to the routes of one path. The request needs no credentials, and its body isn't read.
 * @throws {HttpError} 405
 * @throws {MaskedError} if the route fails
 */
export function serveRoute(
  routes: readonly OwnedRoute[],
  context: RouteContext,
  parts: ExchangeParts,
): void | Promise<void> {
  const route = routeFor(routes, context.method);
  const failed = (cause: unknown): never => {
    throw new MaskedError(new Error(`The plugin "${route.plugin}" failed in its route ${nameOf(route)}.`, { cause }));
  };
  try {
    const answer = route.handle(requestOf(context, parts));
    if (!isPromise(answer)) return sendAnswer(context, answer);
    return Promise.resolve(answer)
      .then((late) => sendAnswer(context, late))
      .catch(failed);
  } catch (error) {
    return failed(error);
  }
}

const nameOf = ({ method, path }: OwnedRoute): string => `${method} ${path}`;

function routeFor(routes: readonly OwnedRoute[], method: string): OwnedRoute {
  const found = routes.find((route) => route.method === (method === 'HEAD' ? 'GET' : method));
  if (found !== undefined) return found;
  const allow = routes.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])).join(', ');
  throw new HttpError(405, `Method not allowed. Use ${allow}.`, { allow });
}

function requestOf(context: RouteContext, parts: ExchangeParts): RouteRequest {
  const { method, url, remoteAddress } = context;
  const { headers = {} } = transportInfo(context, parts.credentials);
  return {
    method,
    url,
    headers,
    remoteAddress,
    get closing() {
      return parts.stopped;
    },
    report: (error) => parts.report(error),
  };
}

/** Statuses whose responses have no content (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5). */
const EMPTY: ReadonlySet<unknown> = new Set([204, 205, 304]);

const TEXT_TYPE = 'text/plain; charset=utf-8';

function sendAnswer(context: RouteContext, answer: RouteAnswer): void {
  const { status, headers = {}, body } = requireSendable(answer, 'A route');
  const sent = EMPTY.has(status) ? undefined : body;
  context.answer(status, sent, { ...(sent !== undefined && { 'content-type': TEXT_TYPE }), ...lowerCased(headers) });
}
