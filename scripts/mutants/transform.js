/** A jest transformer: puts the mutants into the sources in `MUTANTS_PLAN`, and leaves the rest to @swc/jest. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

import swc from '@swc/jest';

import { ROOT } from '../workspace.js';
import { instrument } from './mutators.js';

const { sources } = JSON.parse(readFileSync(process.env['MUTANTS_PLAN'] ?? '', 'utf8'));

/** @param {Parameters<typeof swc.createTransformer>[0]} options */
export function createTransformer(options) {
  const inner = swc.createTransformer(options);
  /** @type {(text: string, path: string) => string} */
  const prepare = (text, path) => {
    const file = relative(ROOT, path);
    return file in sources ? instrument(file, sources[file]) : text;
  };
  return {
    ...inner,
    process: (/** @type {string} */ text, /** @type {string} */ path, /** @type {any} */ jest) =>
      inner.process(prepare(text, path), path, jest),
    getCacheKey: (/** @type {string} */ text, /** @type {string} */ path, /** @type {any} */ jest) =>
      inner.getCacheKey?.(prepare(text, path), path, jest),
    processAsync: undefined,
  };
}
