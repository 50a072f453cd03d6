import { invalidOption, isObject, requireOptions } from '@decorum/schema/internal';

import { startupError } from '../protocol/errors.js';
import type { RequestHeaders } from '../protocol/wire.js';

/** A request to a route of a plugin. Its body isn't read. */
export interface RouteRequest {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  /** The headers, without those that hold credentials. */
  readonly headers: RequestHeaders;
  /** The client's IP address, if it is known. */
  readonly remoteAddress: string | undefined;
  /** Whether the endpoint, or its server, has begun to close. */
  readonly closing: boolean;
  /** Reports an error, which no client sees, to the server's logger and `onError`. */
  report(error: unknown): void;
}

/** The response of a route. */
export interface RouteAnswer {
  /** HTTP status from 200 to 599. */
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as `text/plain`, unless `headers` has another `content-type`. */
  readonly body?: string;
}

/** A path that a plugin serves over HTTP. */
export interface Route {
  /** GET routes also serve HEAD. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The whole path, such as `/metrics`. It has no parameters. */
  readonly path: string;
  /**
   * Handles a request from anybody who can reach the port. If `handle` throws, the error is reported, and the client
   * gets a 500.
   */
  handle(request: RouteRequest): RouteAnswer | Promise<RouteAnswer>;
}

/** A route and the name of its plugin. */
export interface OwnedRoute extends Route {
  readonly plugin: string;
}

interface Routing {
  readonly name: string;
  readonly routes?: readonly Route[];
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** A path whose characters every web framework takes literally. */
const PATH = /^\/(?:[\w.~!$&'(),;=@-]|%[\da-f]{2}|\/)*$/i;

/** Whether clients send a path exactly as it is written, and all frameworks decode it to the same path. */
function isPlain(path: string): boolean {
  try {
    const { pathname } = new URL(path, 'http://localhost');
    return PATH.test(path) && pathname === path && decodeURI(path) === decodeURIComponent(path);
  } catch {
    return false;
  }
}

/** The routes of plugins. `handle` is called as a method of the plugin's own route object. */
export function routesOf(plugins: readonly Routing[]): readonly OwnedRoute[] {
  return plugins.flatMap(({ name, routes = [] }) =>
    routes.map((route) => ({
      plugin: name,
      method: route.method,
      path: route.path,
      handle: (request: RouteRequest) => route.handle(request),
    })),
  );
}

/**
 * Rejects routes that can't be served.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, `DECORUM_DUPLICATE_ROUTE`
 */
export function checkRoutes(plugins: readonly Routing[]): void {
  const owners = new Map<string, string>();
  for (const { name, routes = [] } of plugins) {
    for (const [index, route] of routes.entries()) {
      requireRoute(`The plugin "${name}"`, `routes[${index}]`, route);
      const key = `${route.method} ${route.path}`;
      const [owner, own] = [owners.get(key), `the plugin "${name}"`];
      if (owner !== undefined) throw startupError('DECORUM_DUPLICATE_ROUTE', key, [owner, own]);
      owners.set(key, own);
    }
  }
}

function requireRoute(where: string, option: string, route: unknown): void {
  const wrong = (problem: string) => invalidOption(where, option, problem);
  if (!isObject(route)) throw wrong("is not a route. Write `{ method: 'GET', path: '/status', handle: () => … }`");
  requireOptions(`${where}, ${option}`, route, { method: 'string', path: 'string', handle: 'function' });
  const { method, path, handle } = route;
  if (typeof handle !== 'function') throw wrong('has no `handle`. Add a function that returns `{ status, body }`');
  if (!METHODS.includes(method as string)) throw wrong(`has no \`method\` that it can be. Use ${METHODS.join(', ')}`);
  if (!isServable(path)) throw wrong(`has the path ${JSON.stringify(path)}. ${remedyFor(path, '/status')}`);
}

const isServable = (path: unknown): boolean => typeof path === 'string' && isPlain(path);

function remedyFor(path: unknown, example: string): string {
  const meant = isServable(`/${String(path)}`) ? `/${String(path)}` : example;
  return `A path begins with "/", and has no parameters, query, ".." or encoded "/". Write "${meant}"`;
}

/**
 * Rejects an option of a plugin that isn't the path of a route.
 * @param where the function that has the option
 * @param example a path that could be meant
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example requireRoutePath('metrics', ['path', options.path], '/metrics');
 */
export function requireRoutePath(where: string, [option, path]: readonly [string, unknown], example: string): void {
  if (isServable(path)) return;
  const problem = `is ${JSON.stringify(path)}. ${remedyFor(path, example)}`;
  throw invalidOption(where, option, problem);
}
