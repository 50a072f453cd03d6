import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { cleanName } from '../../src/pages/clean-name.js';

describe('a name on a page', () => {
  it.each([
    ['an ordinary name', 'Ünïcode 名前 😀', 'Ünïcode 名前 😀'],
    ['line breaks and runs of spaces', ' a\r\n\t b\u2028c\u3000d ', 'a b c d'],
    ['control characters', 'a\0b\u001B[2Jc\u0085d\u007F', 'ab[2Jcd'],
    ['bidirectional marks', '\u202Eevil\u202C \u2066a\u2069\u200F\u061C', 'evil a'],
    ['zero-width characters', 'pay\u200Bpal\uFEFF\u2060\u00AD\u200D', 'paypal'],
    ['other invisible characters', '\u3164\u115F\u2800\u{E0041}\uFE0F\u034F', ''],
    ['private and unpaired characters', 'a\uE000\uD800b\uFFFF', 'ab'],
    ['piles of marks', `z${'\u0301'.repeat(50)}`, `z${'\u0301'.repeat(4)}`],
    ['markup, which the page escapes', '<b>&amp;', '<b>&amp;'],
  ])('is shown without what hides or reorders text: %s', (_what, name, shown) => {
    expect(cleanName(name)).toBe(shown);
  });

  it('has at most 80 characters, none of them cut in half', () => {
    expect(cleanName('😀'.repeat(80))).toBe('😀'.repeat(80));
    expect(cleanName('😀'.repeat(81))).toBe(`${'😀'.repeat(79)}…`);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
        const shown = cleanName(name);
        expect([...shown].length).toBeLessThanOrEqual(80);
        expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u202A-\u202E\u2066-\u2069]/u);
        expect(cleanName(shown)).toBe(shown);
      }),
    );
  });

  it('is found quickly in megabytes', () => {
    expect(cleanName(`${'\u200B'.repeat(2_000_000)}a`)).toBe('');
  });
});
