import { createRequire } from 'node:module';

import { placeAt, type SourceError, sourceError } from './source-error.js';

/** What a decorator before a private name looks like. Other code may look the same, so the file is then parsed. */
const SUSPECT = /(?:\)|@[\w$.]+)\s+(?:(?:async|static|readonly|get|set)\s+|\*\s*)*#[\w$]/;

interface Member {
  readonly type?: string;
  readonly decorators?: readonly unknown[];
  readonly key?: { readonly type?: string; readonly name?: string; readonly start: number };
}

/** The first decorated member with a private name, below a node. */
function decoratedIn(node: unknown): Member['key'] {
  if (typeof node !== 'object' || node === null) return undefined;
  const { decorators = [], key } = node as Member;
  if (decorators.length > 0 && key?.type === 'PrivateIdentifier') return key;
  for (const child of Object.values(node)) {
    const found = decoratedIn(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The error for a decorator on a private name. With legacy decorators, the compiler would drop it in silence, although tsc
 * rejects it.
 */
export function privateDecoratorError(file: string, source: string): SourceError | undefined {
  if (!SUSPECT.test(source)) return undefined;
  const { parseSync } = createRequire(import.meta.url)('oxc-parser') as typeof import('oxc-parser');
  const key = decoratedIn(parseSync(file, source).program.body);
  if (key === undefined) return undefined;
  const reason = `A private name can't be decorated. Rename #${key.name} to ${key.name}, or remove its decorators.`;
  return sourceError(reason, source, placeAt(file, source, key.start));
}
