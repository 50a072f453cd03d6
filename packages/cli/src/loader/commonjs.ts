/**
 * Compiles TypeScript for `require`. Module hooks can't do this: those that run in a thread don't see `require` calls.
 * With those that run in the process, Node.js 22 doesn't link what a CommonJS module requires if a hook supplied the
 * source of that module.
 */
import { readFileSync } from 'node:fs';
import Module from 'node:module';

import { compileFile, type OnFile } from './hooks.js';
import { isOwn, resolveSource } from './resolve.js';
import { awaitError } from './top-level-await.js';

type Resolve = (request: string, parent: NodeModule | undefined, ...rest: unknown[]) => string;

/** Functions that Node.js lets tools replace, but doesn't type. */
interface Replaceable {
  ['_resolveFilename']: Resolve;
  ['_extensions']: Record<string, (module: NodeModule & Compilable, file: string) => void>;
}

interface Compilable {
  ['_compile'](code: string, file: string, format?: string): void;
}

/** Resolves and compiles files that are loaded with `require`. */
export function hookRequire(onFile: OnFile): void {
  const loader = Module as unknown as Replaceable;
  const resolveFilename = loader['_resolveFilename'];
  loader['_resolveFilename'] = (request, parent, ...rest) => {
    const source = parent?.filename ? resolveSource(request, parent.filename) : undefined;
    const file = resolveFilename.call(loader, source ?? request, parent, ...rest);
    if (/^[/\\]|^\w:/.test(file) && isOwn(file)) onFile(file);
    return file;
  };
  for (const extension of ['.ts', '.tsx', '.mts', '.cts']) {
    loader['_extensions'][extension] = (module, file) => {
      const { code, format } = compileFile(file, onFile);
      try {
        module['_compile'](code, file, format);
      } catch (error) {
        throw awaitError(file, readFileSync(file, 'utf8'), error) ?? error;
      }
    };
  }
}
