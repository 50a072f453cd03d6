import { describe, expect, it } from '@jest/globals';

import { BLIND_QUESTIONS, DRAWN_QUESTIONS } from './more-questions.js';
import { QUESTIONS } from './questions.js';

describe.each([
  ['questions', QUESTIONS],
  ['blind questions', BLIND_QUESTIONS],
  ['drawn questions', DRAWN_QUESTIONS],
])('the %s to the search', (_, questions) => {
  it('are 50 different ones', () => {
    expect(new Set(questions.map(({ question }) => question)).size).toBe(50);
  });

  it('have answers in at least 20 groups of operations', () => {
    const groups = questions.flatMap(({ tools }) => tools.map((name) => name.slice(0, name.indexOf('/'))));
    expect(new Set(groups).size).toBeGreaterThanOrEqual(20);
  });

  it('have answers that look like operation ids', () => {
    const strange = questions.filter(({ tools }) => !tools.every((name) => /^[a-z-]+\/[a-z-]+$/.test(name)));
    expect(strange).toEqual([]);
    expect(questions.every(({ tools }) => tools.length > 0)).toBe(true);
  });
});

describe('the blind questions', () => {
  it('have answers that no other question has', () => {
    const others = new Set(QUESTIONS.flatMap(({ tools }) => tools));
    expect(BLIND_QUESTIONS.flatMap(({ tools }) => tools).filter((name) => others.has(name))).toEqual([]);
  });
});
