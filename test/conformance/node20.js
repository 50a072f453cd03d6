/**
 * Preload for Node 20. The published suite imports `globSync` from `fs`, which was added in Node 22. The suite uses it
 * only in a command that we don't run, but doesn't start without it. This hook provides an `fs` with that export.
 */
import fs from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && !('globSync' in fs)) register(import.meta.url);

/**
 * Module hook: redirects the suite's imports of `fs` to `node20-fs.js`.
 * @type {import('node:module').ResolveHook}
 */
export async function resolve(specifier, context, next) {
  const ours = /^(node:)?fs$/.test(specifier) && context.parentURL?.includes('/@modelcontextprotocol/conformance/');
  return await next(ours ? new URL('./node20-fs.js', import.meta.url).href : specifier, context);
}
