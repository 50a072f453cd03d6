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
  it('is rejected if the rules of a field do not determine its type', () => {
    expect(() => compile(early.EarlyQuery)).toThrow(
      /EarlyQuery\.count: .*before Decorum.*esbuild, tsx.*@IsInt\(\).*@Type\(\(\) => Number\).*DECORUM_UNKNOWN_FIELD_TYPE/,
    );
  });

  it('is rejected if the class of a nested object is lost', () => {
    expect(() => compile(early.EarlyRoute)).toThrow(
      /EarlyRoute\.start: .*before Decorum.*@Type\(\(\) => TheClass\).*DECORUM_UNKNOWN_FIELD_TYPE/,
    );
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
  const custom: PropertyDecorator = (target, key) =>
    cv.registerDecorator({
      target: target.constructor,
      propertyName: key as string,
      validator: { validate: () => true },
    });

  it.each([
    ['@Allow', [cv.Allow()]],
    ['@IsOptional', [cv.IsOptional()]],
    ['@IsDefined', [cv.IsDefined()]],
    ['@IsNotIn', [cv.IsNotIn(['a'])]],
    ['@ValidateIf', [cv.ValidateIf(() => true)]],
    ['@IsLatitude, which takes numbers and strings', [cv.IsLatitude()]],
    ['a rule of the author', [custom]],
  ])('is detected by a field with only %s', (_, decorators) => {
    expect(() => compile(untyped(...decorators))).toThrow(/Untyped\.x: .*DECORUM_UNKNOWN_FIELD_TYPE/);
  });

  it.each([
    ['@IsInt', [cv.IsInt()]],
    ['@Min', [cv.Min(1)]],
    ['@IsIn', [cv.IsIn(['a', 'b'])]],
    ['@IsEmail', [cv.IsEmail()]],
    ['@IsDate', [cv.IsDate()]],
    ['@MinDate', [cv.MinDate(new Date(0))]],
    ['@IsObject', [cv.IsObject()]],
    ['@IsEmpty', [cv.IsEmpty()]],
    ['a rule of the author beside one that names the type', [custom, cv.IsString()]],
  ])('does no harm to a field with %s', (_, decorators) => {
    expect(() => compile(untyped(...decorators))).not.toThrow();
  });
});
