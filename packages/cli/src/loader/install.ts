import * as nodeModule from 'node:module';
import { setSourceMapsEnabled } from 'node:process';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';

import { hookRequire } from './commonjs.js';
import { loadSource, type OnFile, sourceUrl } from './hooks.js';

/** The files that have been loaded. */
export interface Loaded {
  /** Paths of the project's own files so far: sources, JSON and tsconfig files, even if they failed to compile. */
  files(): ReadonlySet<string>;
  /** Calls a listener once for each further file. */
  onFile(listener: OnFile): void;
}

type Hooks = {
  readonly resolve: (specifier: string, context: { parentURL?: string; conditions?: string[] }, next: Next) => unknown;
  readonly load: (url: string, context: object, next: Next) => unknown;
};
type Next = (target: string, context: object) => unknown;

/** Typed here, because the oldest supported Node.js lacks it. */
const { registerHooks } = nodeModule as { registerHooks?: (hooks: Hooks) => void };

function registerInProcess(register: (hooks: Hooks) => void, onFile: OnFile): void {
  register({
    resolve(specifier, context, next) {
      // `hookRequire` has already resolved these
      const source = context.conditions?.includes('require') ? undefined : sourceUrl(specifier, context.parentURL);
      return next(source ?? specifier, context);
    },
    load: (url, context, next) => loadSource(url, onFile) ?? next(url, context),
  });
}

function registerInThread(onFile: OnFile): () => void {
  const { port1, port2 } = new MessageChannel();
  nodeModule.register('./thread.js', import.meta.url, { data: { port: port2 }, transferList: [port2] });
  port1.on('message', onFile).unref();
  return () => {
    for (let sent = receiveMessageOnPort(port1); sent; sent = receiveMessageOnPort(port1)) onFile(sent.message);
  };
}

const INSTALLED = Symbol.for('decorum.loader');

function install(): Loaded {
  setSourceMapsEnabled(true);
  const files = new Set<string>();
  const listeners = new Set<OnFile>();
  const onFile: OnFile = (path) => {
    if (files.has(path)) return;
    files.add(path);
    for (const listener of listeners) listener(path);
  };
  hookRequire(onFile);
  let collect = () => {};
  if (registerHooks) registerInProcess(registerHooks, onFile);
  else collect = registerInThread(onFile);
  return {
    files() {
      collect();
      return files;
    },
    onFile: (listener) => void listeners.add(listener),
  };
}

/** Makes this process run TypeScript. Further calls only return the same object. */
export function installLoader(): Loaded {
  const shared = globalThis as { [INSTALLED]?: Loaded };
  return (shared[INSTALLED] ??= install());
}
