import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import type { MessagePort } from 'node:worker_threads';

import { warmCompiler } from './compiler.js';

// Module hooks (Node.js, "Modules: node:module API"). They run in their own thread, registered after the loader's.

/** A specifier with this prefix is resolved as if the entry had imported it. */
export const AS_ENTRY = 'decorum-dev:';

/** Packages that are safe to load in advance: loading them only defines things, whatever the environment. */
const PURE =
  /^(?:@decorum\/[\w/-]+|fastify|express|@nestjs\/[\w/-]+|rxjs|zod|valibot|arktype|jose|reflect-metadata|class-(?:validator|transformer))$/;

let port: MessagePort;
let entry: string;

interface Data {
  readonly port: MessagePort;
  readonly entry: string;
}

type Next<C, R> = (specifier: string, context: C) => Promise<R>;

/** Receives what `register` passes. */
export function initialize(data: Data): void {
  ({ port, entry } = data);
  if (!('registerHooks' in nodeModule)) warmCompiler(fileURLToPath(entry));
}

/** Resolves imports with the `AS_ENTRY` prefix. Reports paths that don't resolve, because the file may appear later. */
export async function resolve(
  specifier: string,
  context: { parentURL?: string },
  next: Next<{ parentURL?: string }, object>,
): Promise<object> {
  if (specifier.startsWith(AS_ENTRY)) return next(specifier.slice(AS_ENTRY.length), { ...context, parentURL: entry });
  if (PURE.test(specifier) && !context.parentURL?.includes('/node_modules/')) port.postMessage({ name: specifier });
  try {
    return await next(specifier, context);
  } catch (error) {
    if (/^\.{0,2}\//.test(specifier)) port.postMessage(new URL(specifier, context.parentURL).href);
    throw error;
  }
}

/** Reports each file, including files that the loader rejects. */
export function load(url: string, context: object, next: Next<object, object>): Promise<object> {
  if (url.startsWith('file:') && !url.includes('/node_modules/')) port.postMessage(url);
  return next(url, context);
}
