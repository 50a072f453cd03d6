import type { IncomingMessage, ServerResponse } from 'node:http';

type Next = (error?: unknown) => void;

/** A middleware of Express. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: Next) => void;

/** The part of Nest's adapter for Express that middleware is added to. */
export interface ExpressAdapter {
  use(...args: unknown[]): unknown;
}

/** Names of the middleware in the body-parser package. */
const PARSERS = /^(?:json|urlencoded|text|raw)Parser$/;

/** The path of a request, whatever it is mounted at. */
export function pathOf(request: IncomingMessage): string {
  const { originalUrl, url = '' } = request as IncomingMessage & { readonly originalUrl?: string };
  return (originalUrl ?? url).split('?', 1)[0] as string;
}

/**
 * Keeps body parsers from the requests of an endpoint, which reads its bodies itself, with limits of its own. Nest adds
 * its parsers through the same method as the application.
 */
export function skipParsers(adapter: ExpressAdapter, isServed: (path: string) => boolean): void {
  const use = adapter.use.bind(adapter);
  const skipping = (argument: unknown): unknown => {
    if (typeof argument !== 'function' || !PARSERS.test(argument.name)) return argument;
    const parser = argument as Middleware;
    const skip: Middleware = (request, response, next) =>
      isServed(pathOf(request)) ? next() : parser(request, response, next);
    // Nest looks for the name, to add each parser once
    return Object.defineProperty(skip, 'name', { value: parser.name });
  };
  adapter.use = (...args) => use(...args.map(skipping));
}
