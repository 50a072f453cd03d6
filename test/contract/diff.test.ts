import { describe, expect, it } from '@jest/globals';

import type { Contract } from '../../packages/cli/src/contract/contract.js';
import { type Difference, differences } from '../../packages/cli/src/contract/differences.js';
import { BREAKING } from './breaking.js';
import { HARMLESS } from './harmless.js';
import type { SeededChange } from './seeded-change.js';

const between = ({ before, after }: SeededChange): readonly Difference[] =>
  differences(before as Contract, after as Contract);

const breaking = (change: SeededChange): readonly string[] =>
  between(change).flatMap(({ class: kind, member, why }) => (kind === 'breaking' ? [`${member}: ${why}`] : []));

describe('decorum diff', () => {
  it.each(BREAKING.map((change) => [change.title, change] as const))('finds that %s', (_title, change) => {
    expect(breaking(change)).toContainEqual(expect.stringContaining(change.member));
  });

  it.each(HARMLESS.map((change) => [change.title, change] as const))('raises no alarm if %s', (_title, change) => {
    expect(breaking(change)).toEqual([]);
  });
});
