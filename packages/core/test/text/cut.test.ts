// Where a text is cut that is too long.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { cutText } from '../../src/text/cut.js';

describe('a text that is too long', () => {
  it.each([
    ['a paragraph', 'One. Two.\n\nThree. Four', 'One. Two.', 15],
    ['a paragraph of Windows', 'One. Two.\r\n\r\nThree. Four', 'One. Two.', 15],
    ['a line', 'One. Two\nThree. Four', 'One. Two', 12],
    ['a line that ends right there', 'One two\nthree', 'One two', 7],
    ['a sentence', 'One two. Three four', 'One two.', 14],
    ['a sentence in quotes', 'He said "One." Two three four', 'He said "One."', 22],
    ['a Chinese sentence', '一二三。四五六七八', '一二三。', 6],
    ['a word', 'one two three', 'one two', 10],
    ['a word that ends right there', 'one two three', 'one two', 7],
    ['an element of JSON', '[{"a":1},{"b":2},{"c":3}]', '[{"a":1},{"b":2},', 20],
    ['a line of JSON', '[\n  1,\n  2,\n  3\n]', '[\n  1,\n  2,', 14],
    ['a value of JSON', '["a b c","d e f","g"]', '["a b c",', 14],
    ['anything, if the text has no places to end', 'x'.repeat(20), 'x'.repeat(12), 12],
  ])('ends after %s', (_place, text, expected, max) => {
    expect(cutText(text, max)).toBe(expected);
  });

  it('ends later than the first half, even if the only paragraph ends earlier', () => {
    expect(cutText(`a\n\n${'word '.repeat(10)}`, 40)).toBe(`a\n\n${'word '.repeat(7)}`.trimEnd());
  });

  it.each([
    ['a pair of surrogates', `${'a'.repeat(9)}😀`, 10, 'a'.repeat(9)],
    ['a letter and its accent', `${'a'.repeat(9)}e\u0301`, 10, 'a'.repeat(9)],
    ['a family', `ab👨‍👩‍👧`, 5, 'ab'],
    ['a flag', '🇳🇴🇸🇪', 6, '🇳🇴'],
  ])('does not end inside of %s', (_what, text, max, expected) => {
    expect(cutText(text, max)).toBe(expected);
  });

  it('does not end inside of a flag after many others', () => {
    const flags = '🇳🇴'.repeat(200);
    for (let max = 0; max < flags.length; max++) expect(cutText(flags, max)).toHaveLength(max - (max % 4));
    expect(cutText(`a${flags}`, 500)).toHaveLength(497);
  });

  it('ends somewhere in a letter with more accents than anybody reads, but not in a pair of surrogates', () => {
    expect(cutText(`a${'\u0301'.repeat(5000)}`, 1000)).toHaveLength(1000);
    const marks = '\u{1E000}'.repeat(5000); // each is two units
    expect(cutText(`a${marks}`, 1000)).toHaveLength(999);
  });

  it('is a beginning of any text, no longer than the maximum, of whole characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.nat({ max: 300 }), (text, max) => {
        const cut = cutText(text, max);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(max);
        expect(cut).toBe(Buffer.from(cut).toString());
        if (text.length <= max) expect(cut).toBe(text);
        const ends = [...new Intl.Segmenter().segment(text)].map(({ index }) => index);
        if (text.length > max) expect(ends).toContain(cut.length);
      }),
    );
  });

  it('takes no longer for a text of a million lines than for one of a thousand', () => {
    const [short, long] = [1000, 1_000_000].map((lines) => 'a\n'.repeat(lines)) as [string, string];
    expect(cutText(long, long.length - 1)).toHaveLength(long.length - 1);
    expect(cutText(short, short.length - 2)).toHaveLength(short.length - 3);
  });
});
