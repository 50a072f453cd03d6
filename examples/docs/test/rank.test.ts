import { describe, expect, it } from '@jest/globals';

import { rank } from '../src/rank.js';

describe('Ranking', () => {
  it('puts beginnings first, then beginnings of words, then the rest of what fits', () => {
    const candidates = ['upstart.md', 'guide/start.md', 'state/art.md', 'other.md', 'start.md'];
    expect(rank('START', candidates)).toEqual(['start.md', 'guide/start.md', 'upstart.md', 'state/art.md']);
  });

  it('gives everything, shortest first, when nothing is typed', () => {
    expect(rank('', ['bb', 'c', 'aa'])).toEqual(['c', 'aa', 'bb']);
  });
});
