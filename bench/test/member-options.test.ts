import { readFileSync } from 'node:fs';

import type { PolicyOptions } from '@decorum/core';
import { expect, test } from '@jest/globals';

import { ROWS } from '../src/prices/member-options.js';

/** A new option is a compile error here. */
const OPTIONS: Required<Record<keyof PolicyOptions | 'maxResultChars' | 'idempotent', true>> = {
  timeoutMs: true,
  concurrency: true,
  retry: true,
  breaker: true,
  memoize: true,
  maxResultChars: true,
  idempotent: true,
};

test('each option of members has a price, and docs/operate/performance.md lists what is measured', () => {
  const measured = new Set(Object.values(ROWS).flatMap(({ options }) => Object.keys(options)));
  expect(measured).toEqual(new Set(Object.keys(OPTIONS)));
  const page = readFileSync(new URL('../../docs/operate/performance.md', import.meta.url), 'utf8');
  const rows = Object.keys(ROWS).map((name) => `| ${name} |`);
  expect(rows.filter((row) => !page.includes(row))).toEqual([]);
});
