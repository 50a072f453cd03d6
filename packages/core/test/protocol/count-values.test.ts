import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { exceedsValues } from '../../src/protocol/count-values.js';

/** Names, values and items, over all levels. */
const count = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const weight = Array.isArray(value) ? 1 : 2;
  return Object.values(value).reduce<number>((sum, each) => sum + weight + count(each), 0);
};

describe('the number of values in a text', () => {
  it('is known without parsing it, however it is spaced and whatever its strings contain', () => {
    const json = fc.jsonValue({ depthSize: 'large' });
    fc.assert(
      fc.property(json, fc.constantFrom('', ' ', '\t', '\n\n'), fc.string({ unit: 'binary' }), (value, space, text) => {
        const all = { value, [text]: text };
        const written = JSON.stringify(all, undefined, space) + ' '.repeat(10_000);
        const values = count(all);
        expect([exceedsValues(written, values - 1), exceedsValues(written, values)]).toEqual([true, false]);
      }),
    );
  });

  it.each([
    String.raw`["\"", "\\", "\\\"", ","]`,
    String.raw`{"a\"],{": "[[,", "b": [[], {}, [ ], { }]}`,
    '[ [ [ ] , [ 1 ] ] ]',
  ])('is exact for %s', (text) => {
    const values = count(JSON.parse(text));
    const written = text + ' '.repeat(100);
    expect([exceedsValues(written, values - 1), exceedsValues(written, values)]).toEqual([true, false]);
  });

  it.each(['"', '["', '["\\', '[,,', '{{', ']]'])('is not looked for beyond the end of %s', (text) => {
    expect(exceedsValues(text + ' '.repeat(100), 40)).toBe(false);
  });
});
