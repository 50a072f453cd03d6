/** The hooks for Node.js without `module.registerHooks`, which runs them in a separate thread. */
import type { InitializeHook, LoadHook, ResolveHook } from 'node:module';
import type { MessagePort } from 'node:worker_threads';

import { loadSource, type OnFile, sourceUrl } from './hooks.js';

let onFile: OnFile = () => {};

/** Receives the port that loaded files are reported to. */
export const initialize: InitializeHook<{ readonly port: MessagePort } | undefined> = (data) => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of worker_threads has no origin
  if (data) onFile = (path) => data.port.postMessage(path);
};

/** Finds the TypeScript file for a specifier. */
export const resolve: ResolveHook = (specifier, context, next) =>
  next(sourceUrl(specifier, context.parentURL) ?? specifier, context);

/** Compiles TypeScript. */
export const load: LoadHook = (url, context, next) => loadSource(url, onFile) ?? next(url, context);
