import { beforeAll, describe, expect, it } from '@jest/globals';
import * as cv from 'class-validator';

import type { Checked, SchemaSource, Shape } from '../src/shape.js';
import type * as Early from './early-dto.js';

let early: typeof Early;
let compileShape: (source: SchemaSource, where: string) => Shape;

beforeAll(async () => {
  early = await import('./early-dto.js');
  // imported only now, so the types of the classes above are lost
  ({ compileShape } = await import('../src/compile.js'));
});

const compile = (source: SchemaSource): Shape => compileShape(source, 'Test.member');
const isOk = (checked: Checked | Promise<Checked>): boolean => 'ok' in checked && checked.ok;

describe('a DTO that was evaluated before Decorum', () => {
  it('is rejected if the rules of a field do not determine its type, or the class of a nested object is lost', () => {
    const unknown =
      /EarlyQuery\.count: .*before Decorum.*esbuild, tsx.*@IsInt\(\).*@Type\(\(\) => Number\).*UNKNOWN_FIELD_TYPE/;
    expect(() => compile(early.EarlyQuery)).toThrow(unknown);
    const lost = /EarlyRoute\.start: .*before Decorum.*@Type\(\(\) => TheClass\).*DECORUM_UNKNOWN_FIELD_TYPE/;
    expect(() => compile(early.EarlyRoute)).toThrow(lost);
  });

  it('works if the rules determine the types', () => {
    expect(compile(early.EarlyPage).published).toMatchObject({
      properties: {
        query: { type: 'string' },
        limit: { type: 'integer', default: 10 },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['query'],
    });
    expect(isOk(compile(early.EarlyPage).check({ query: 'a', limit: '5' }))).toBe(false);
  });
});

describe('a compiler that emits no types', () => {
  /** A class as emitted by esbuild and tsx: with decorators, but without types. */
  const untyped = (...decorators: PropertyDecorator[]): SchemaSource => {
    class Untyped {
      x: unknown;
    }
    for (const decorate of decorators) decorate(Untyped.prototype, 'x');
    return Untyped;
  };
  const custom = cv.ValidateBy({ name: 'custom', validator: { validate: () => true } });

  const unclear = [cv.Allow(), cv.IsOptional(), cv.IsDefined(), cv.IsNotIn(['a']), cv.ValidateIf(() => true), custom];
  // takes numbers and strings
  it.each([...unclear, cv.IsLatitude()])(
    'is detected by a field with only a rule that fits several types (%#)',
    (rule) => {
      expect(() => compile(untyped(rule))).toThrow(/Untyped\.x: .*DECORUM_UNKNOWN_FIELD_TYPE/);
    },
  );

  const clear = [cv.IsInt(), cv.Min(1), cv.IsIn(['a', 'b']), cv.IsEmail(), cv.IsDate(), cv.MinDate(new Date(0))];
  it.each([...clear, cv.IsObject(), cv.IsEmpty(), cv.IsString()])(
    'does no harm to a field with a rule of one type (%#)',
    (rule) => {
      expect(() => compile(untyped(rule))).not.toThrow();
      expect(() => compile(untyped(custom, rule))).not.toThrow();
    },
  );
});
