import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { Failures, WINDOW_MS } from '../../src/users/failures.js';

const MAX_KEYS = 10;
let failures: Failures;
beforeEach(() => {
  failures = new Failures({ limit: 3, maxKeys: MAX_KEYS });
});

const add = (key: string, now: number, count = 1) => {
  for (let each = 0; each < count; each++) failures.add(key, now);
};
/** Failures of keys that nobody has used before. */
const flood = (now: number, keys: number, count = 1) => {
  for (let each = 0; each < keys; each++) add(`flood ${now} ${each}`, now, count);
};
const sizeOf = () => {
  const { open, full } = failures as unknown as Record<'open' | 'full', ReadonlyMap<string, unknown>>;
  return open.size + full.size;
};

describe('a flood of keys', () => {
  it('is remembered up to a number of keys', () => {
    flood(0, 1000);
    expect(sizeOf()).toBe(MAX_KEYS);
    flood(1, 1000, 3);
    expect(sizeOf()).toBe(MAX_KEYS);
  });

  it('frees no key that is full', () => {
    add('guesser', 0, 3);
    flood(1, 1000, 3);
    expect(failures.fullFor('guesser', 2)).toBe(WINDOW_MS - 2);
  });

  it('frees no key that has failures: what is forgotten counts for all new keys', () => {
    add('guesser', 0, 2);
    flood(1, MAX_KEYS);
    expect(failures.count('guesser', 2)).toBe(2);
    expect(failures.count('anybody', 2)).toBe(2);
    // for as long as what was forgotten would have counted
    expect(failures.count('guesser', WINDOW_MS + 1)).toBe(0);
  });

  it('of full keys leaves no room for others, until the first of them has expired', () => {
    flood(0, MAX_KEYS, 3);
    expect(failures.fullFor('new', 1)).toBe(WINDOW_MS - 1);
    add('new', 1);
    expect(sizeOf()).toBe(MAX_KEYS);
    expect(failures.fullFor('new', WINDOW_MS)).toBe(0);
    expect(failures.count('new', WINDOW_MS)).toBe(0);
  });
});

describe('a key', () => {
  it('has no trace of what was taken back', () => {
    add('key', 0, 3);
    failures.takeBack('key', 0);
    expect([failures.count('key', 0), failures.fullFor('key', 0)]).toEqual([2, 0]);
    failures.takeBack('key', 0);
    failures.takeBack('key', 0);
    failures.takeBack('key', 0);
    expect(sizeOf()).toBe(0);
  });

  it('never has more failures within 15 minutes than allowed, whatever the clock and other keys do', () => {
    const step = fc.record({ key: fc.nat({ max: 20 }), moved: fc.integer({ min: -1000, max: WINDOW_MS / 2 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const each = new Failures({ limit: 3, maxKeys: MAX_KEYS });
        const counted: { key: string; at: number }[] = [];
        let now = 0;
        for (const { key, moved } of steps) {
          now += moved;
          const name = `${key}`;
          if (each.fullFor(name, now) > 0) continue;
          each.add(name, now);
          counted.push({ key: name, at: now });
          const recent = counted.filter((one) => one.key === name && one.at > now - WINDOW_MS && one.at <= now);
          expect(recent.length).toBeLessThanOrEqual(3);
        }
      }),
    );
  });
});
