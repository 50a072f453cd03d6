import { describe, expect, it } from '@jest/globals';

import { QUESTIONS } from './questions.js';

describe('the questions to the search', () => {
  it('are 50 different ones', () => {
    expect(new Set(QUESTIONS.map(({ question }) => question)).size).toBe(50);
  });

  it('have answers in at least 25 groups of operations', () => {
    const groups = QUESTIONS.flatMap(({ tools }) => tools.map((name) => name.slice(0, name.indexOf('/'))));
    expect(new Set(groups).size).toBeGreaterThanOrEqual(25);
  });

  it('have answers that look like operation ids', () => {
    const strange = QUESTIONS.filter(({ tools }) => !tools.every((name) => /^[a-z-]+\/[a-z-]+$/.test(name)));
    expect(strange).toEqual([]);
    expect(QUESTIONS.every(({ tools }) => tools.length > 0)).toBe(true);
  });
});
