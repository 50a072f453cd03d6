import type { IncomingMessage, ServerResponse } from 'node:http';

type Next = (error?: unknown) => void;

/** An Express middleware. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: Next) => void;

/** The router of an Express application. */
interface Router {
  readonly strict?: boolean;
  readonly caseSensitive?: boolean;
  readonly stack?: readonly { readonly route?: { readonly path: unknown } | undefined }[];
}

/** The parts of Nest's Express adapter that an endpoint needs. */
export interface ExpressAdapter {
  use(...args: unknown[]): unknown;
  getInstance(): { readonly router?: Router };
}

/** Names of the middleware in the body-parser package. */
const PARSERS = /^(?:json|urlencoded|text|raw)Parser$/;

/** The path of a request, including any mount path. */
export function pathOf(request: IncomingMessage): string {
  const { originalUrl, url = '' } = request as IncomingMessage & { readonly originalUrl?: string };
  return (originalUrl ?? url).split('?', 1)[0] as string;
}

/**
 * Finds the path that matches a request by Express's rules. By default, Express ignores case and a trailing slash.
 * @param paths the paths of an endpoint
 */
export function matchedPath(
  adapter: ExpressAdapter,
  paths: readonly string[],
  request: IncomingMessage,
): string | undefined {
  const { strict = false, caseSensitive = false } = adapter.getInstance().router ?? {};
  const loose = (path: string) => {
    const whole = strict ? path : path.replace(/(?<=.)\/$/, '');
    return caseSensitive ? whole : whole.toLowerCase();
  };
  const asked = loose(pathOf(request));
  return paths.find((path) => loose(path) === asked);
}

/** Replaces the path of a request. */
export function rewritePath(request: IncomingMessage, path: string): void {
  const { url = '' } = request;
  const query = url.indexOf('?');
  request.url = query === -1 ? path : `${path}${url.slice(query)}`;
}

/** The path of a route of the application that is one of `paths`, or below one that ends with `/`. */
export function takenPath(adapter: ExpressAdapter, paths: readonly string[]): string | undefined {
  const { stack = [] } = adapter.getInstance().router ?? {};
  const routes = stack.flatMap(({ route }) => route?.path ?? []).filter((path) => typeof path === 'string');
  return routes.find((route) => paths.some((path) => (path.endsWith('/') ? route.startsWith(path) : route === path)));
}

/**
 * Makes body parsers skip requests to an endpoint, which reads bodies itself, with its own limits. Nest adds its
 * parsers through the same method as the application.
 */
export function skipParsers(adapter: ExpressAdapter, isServed: (request: IncomingMessage) => boolean): void {
  const use = adapter.use.bind(adapter);
  const skipping = (argument: unknown): unknown => {
    if (typeof argument !== 'function' || !PARSERS.test(argument.name)) return argument;
    const parser = argument as Middleware;
    const skip: Middleware = (request, response, next) =>
      isServed(request) ? next() : parser(request, response, next);
    // Nest looks for the name, to add each parser once
    return Object.defineProperty(skip, 'name', { value: parser.name });
  };
  adapter.use = (...args) => use(...args.map(skipping));
}
