import { describe, expect, it } from '@jest/globals';

import { breakingBetween } from '../../packages/cli/test/contract/contracts.js';
import { BREAKING } from './breaking.js';
import { HARMLESS } from './harmless.js';
import type { SeededChange } from './seeded-change.js';

const breaking = ({ before, after }: SeededChange): readonly string[] => breakingBetween(before, after);

describe('decorum diff', () => {
  it.each(BREAKING.map((change) => [change.title, change] as const))('finds that %s', (_title, change) => {
    expect(breaking(change)).toContainEqual(expect.stringContaining(change.member));
  });

  it.each(HARMLESS.map((change) => [change.title, change] as const))('raises no alarm if %s', (_title, change) => {
    expect(breaking(change)).toEqual([]);
  });
});
