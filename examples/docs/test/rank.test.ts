import { describe, expect, it } from '@jest/globals';

import { rank } from '../src/rank.js';

describe('Ranking', () => {
  it('sorts prefixes first, then word prefixes, then other matches', () => {
    const candidates = ['upstart.md', 'guide/start.md', 'state/art.md', 'other.md', 'start.md'];
    expect(rank('START', candidates)).toEqual(['start.md', 'guide/start.md', 'upstart.md', 'state/art.md']);
  });

  it('returns everything, shortest first, for empty input', () => {
    expect(rank('', ['bb', 'c', 'aa'])).toEqual(['c', 'aa', 'bb']);
  });
});
