/**
 * Preload for Node 20. The published suite imports `globSync` from `fs`, which Node has since 22, and needs it in a
 * command that we do not run: without the name it does not even start. Here the suite's `fs` becomes one that has it.
 */
import fs from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && !('globSync' in fs)) register(import.meta.url);

/**
 * Module hook: the suite's own imports of `fs` get `node20-fs.js`.
 * @type {import('node:module').ResolveHook}
 */
export async function resolve(specifier, context, next) {
  const ours = /^(node:)?fs$/.test(specifier) && context.parentURL?.includes('/@modelcontextprotocol/conformance/');
  return await next(ours ? new URL('./node20-fs.js', import.meta.url).href : specifier, context);
}
