import { describe, expect, it } from '@jest/globals';

import { textAt, withText } from '../src/dev/json-text.js';

const TEXT = String.raw`
{ "a\"}": [1, {"x": "]\\"}], "\u0069d" :  12345678901234567890 ,"n":1e400,
  "params" : {"list":[ {} , [],"," , -0.10 ],"empty":{ },"last":true} }
`;

describe('the text of JSON', () => {
  it.each([
    [['id'], '12345678901234567890'],
    [['n'], '1e400'],
    [['a"}', '1', 'x'], String.raw`"]\\"`],
    [['params', 'list', '2'], '","'],
    [['params', 'list', '3'], '-0.10'],
    [['params', 'empty'], '{ }'],
    [['params', 'last'], 'true'],
    [['params', 'list', '4'], undefined],
    [['params', 'none', 'id'], undefined],
    [['n', 'id'], undefined],
  ])('has the value at %j as it was written', (path, expected) => {
    expect(textAt(TEXT, path)).toBe(expected);
  });

  it('changes nothing but the value', () => {
    expect(withText(TEXT, ['id'], '"dev-1"')).toBe(TEXT.replace('12345678901234567890', '"dev-1"'));
    expect(withText('1', [], '2')).toBe('2');
  });

  it('takes the last of two values with one name, as JSON.parse does', () => {
    const text = '{"id":1,"params":{"n":1},"id":2,"params":{"n":2}}';
    expect(withText(text, ['id'], '3')).toBe('{"id":1,"params":{"n":1},"id":3,"params":{"n":2}}');
    expect(textAt(text, ['params', 'n'])).toBe('2');
  });

  it.each([
    ['{}', '{"a":{"b":true}}'],
    ['{ "n": 1e400 }', '{"a":{"b":true}, "n": 1e400 }'],
    ['{"a":{"c":[]}}', '{"a":{"b":true,"c":[]}}'],
    ['{"a":null,"n":1}', '{"a":{"b":true},"n":1}'],
    ['{"a":[{"b":1}]}', '{"a":{"b":true}}'],
  ])('adds a value to %s, with the objects around it', (text, expected) => {
    expect(withText(text, ['a', 'b'], 'true')).toBe(expected);
  });
});
