import { createRequire } from 'node:module';

import { isSourceError, placeAt, type SourceError, sourceError } from './source-error.js';

/** Functions run later, and class members have no top level. */
const INNER = /Function|^(?:PropertyDefinition|AccessorProperty|StaticBlock)/;

/** The offset of the first `await` that runs while the file loads. */
function offsetOf(node: unknown): number | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  const { type = '', start, ...rest } = node as { type?: string; start?: number; await?: boolean; kind?: string };
  if (INNER.test(type)) return undefined;
  const awaits = type === 'AwaitExpression' || (type === 'ForOfStatement' && rest.await === true);
  if (awaits || rest.kind === 'await using') return start;
  for (const child of Object.values(rest)) {
    const found = offsetOf(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Explains why a CommonJS file didn't load, if it has an `await` at the top level.
 * @param error thrown while the file was loaded
 * @returns undefined if the error has another reason
 */
export function awaitError(file: string, source: string, error: unknown): SourceError | undefined {
  if (!(error instanceof Error) || isSourceError(error)) return undefined;
  // `await (…)` is a call of a function, if nothing in the file says otherwise
  if (error.name !== 'SyntaxError' && error.message !== 'await is not defined') return undefined;
  const { parseSync } = createRequire(import.meta.url)('oxc-parser') as typeof import('oxc-parser');
  const offset = offsetOf(parseSync(file, source, { sourceType: 'module' }).program.body);
  if (offset === undefined) return undefined;
  const esm = file.endsWith('.cts') ? 'Rename the file to .mts' : 'Set `"type": "module"` in package.json';
  const reason = `CommonJS has no \`await\` at the top level. ${esm}, or move the \`await\` into an async function.`;
  return sourceError(reason, source, placeAt(file, source, offset));
}
