import { describe, expect, it } from '@jest/globals';

import { readArguments } from '../src/inspect/arguments.js';

describe('The arguments of inspect', () => {
  it('are read by schemas that extend others', () => {
    const schema = {
      type: 'object',
      properties: {
        count: { allOf: [{ $ref: '#/$defs/Count' }], default: 1 },
        place: { allOf: [{ type: 'object', properties: { floor: { type: 'integer' } } }] },
      },
      $defs: { Count: { type: 'integer' } },
    };
    expect(readArguments(['count=2', 'place.floor=3'], schema)).toEqual({ count: 2, place: { floor: 3 } });
  });

  it('are no integers that would lose digits', () => {
    const schema = { type: 'object', properties: { id: { type: 'integer' } } };
    expect(readArguments(['id=9007199254740991'], schema)).toEqual({ id: Number.MAX_SAFE_INTEGER });
    expect(() => readArguments(['id=9007199254740993'], schema)).toThrow(
      'id is of type integer, so it can\'t be "9007199254740993".',
    );
  });
});
