/** The hooks as Node.js runs them in a thread of their own, where it has no `module.registerHooks`. */
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';
import type { MessagePort } from 'node:worker_threads';

import { loadSource, type OnFile, sourceUrl } from './hooks.js';

let onFile: OnFile = () => {};

/** Receives the port that is told which files are loaded. */
export const initialize: InitializeHook<{ readonly port: MessagePort } | undefined> = (data) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of worker_threads has no origin
  if (data) onFile = (path) => data.port.postMessage(path);
};

/** Finds the TypeScript file that a specifier means. */
export const resolve: ResolveHook = (specifier, context, next) =>
  next(sourceUrl(specifier, context.parentURL) ?? specifier, context);

/** Compiles TypeScript. */
export const load: LoadHook = (url, context, next) => loadSource(url, onFile) ?? next(url, context);
