// What the first hour promises, line by line. What startup refuses is in mistakes.test.ts.
import { describe, expect, it } from '@jest/globals';

import { PART_1 } from './part-1.js';
import { PART_2 } from './part-2.js';
import { PART_3 } from './part-3.js';
import type { Behaviour } from './table.js';

describe.each<readonly [string, readonly Behaviour[]]>([
  ['The schema follows the class, or startup says why not', PART_1],
  ['What a handler returns is sent as its author meant', PART_2],
  ['What startup cannot refuse is said as soon as it shows', PART_3],
])('%s:', (_part, rows) => {
  it.each(rows)('%s', async (_sees, show, shown) => {
    expect(await show()).toEqual(shown);
  });
});
