import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { exceedsValues } from '../src/endpoint/count-values.js';

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

  it.each(['{"x":{%}}', '[%]'])('counts the different names of %s, of which an eighth as many are allowed', (form) => {
    const [allowed, names] = [80_000, 10_000];
    const member = (name: number) => `"n${name.toString(36)}" : 0`;
    const textOf = (total: number, different: number) => {
      const members = Array.from({ length: total }, (_, index) => member(index % different));
      return form.replace('%', (form.includes('{') ? members : members.map((each) => `{${each}}`)).join());
    };
    expect(exceedsValues(textOf(names, names), allowed)).toBe(false);
    // some share a slot
    expect(exceedsValues(textOf(1.2 * names, 1.2 * names), allowed)).toBe(true);
    expect(exceedsValues(textOf(2 * names, names / 2), allowed)).toBe(false);
  });

  it('allows a thousand names, however few values', () => {
    const text = (total: number) => `{${Array.from({ length: total }, (_, name) => `"${name}":0`).join()}}`;
    expect([exceedsValues(text(1000), 2000), exceedsValues(text(1030), 2060)]).toEqual([false, true]);
  });

  it('does not take the strings of lists or values for names', () => {
    const strings = Array.from({ length: 3000 }, (_, index) => `"${index}"`);
    const text = `[${strings.join()},${strings.map((each) => `{"a":${each}}`).join()}]`;
    expect(exceedsValues(text, count(JSON.parse(text)))).toBe(false);
  });
});
