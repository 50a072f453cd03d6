import { Type } from 'class-transformer';
import * as cv from 'class-validator';

import { Describe } from '../src/decorators/describe.js';
import { compileShape } from '../src/compile.js';
import type { Checked, SchemaSource, Shape } from '../src/shape.js';

/** A flat DTO. */
export class Query {
  @Describe({ title: 'City', description: 'City, for example "Oslo"', examples: ['Oslo'] })
  @cv.IsString()
  @cv.MaxLength(80)
  city!: string;

  @cv.IsOptional()
  @cv.IsIn(['metric', 'imperial'])
  units?: 'metric' | 'imperial' = 'metric';
}

export class Point {
  @cv.IsNumber() lat!: number;
  @cv.IsNumber() lon!: number;

  sum(): number {
    return this.lat + this.lon;
  }
}

export class Trip {
  @cv.ValidateNested({ each: true }) @Type(() => Point) stops!: Point[];
  @cv.ValidateNested() start!: Point;
  @cv.IsOptional() @cv.ValidateNested() end?: Point;
  @cv.IsOptional() @cv.IsDate() when?: Date;
  @cv.IsOptional() @cv.IsArray() @cv.IsDate({ each: true }) reminders?: Date[];
}

export class Tree {
  @cv.IsString() name!: string;
  @cv.IsOptional() @cv.ValidateNested({ each: true }) @Type(() => Tree) children?: Tree[];
}

type Source = SchemaSource;

export const compile = (source: Source, direction: 'input' | 'output' = 'input'): Shape =>
  compileShape(source, 'Test.member', direction);

export const schemaOf = (source: Source, direction: 'input' | 'output' = 'input') =>
  compile(source, direction).published;

export const fieldsOf = (source: Source, direction: 'input' | 'output' = 'input') =>
  schemaOf(source, direction)['properties'];

/** A class with a field `x` that starts with a value, or with none. */
const withField = (members: object, type: unknown, decorators: readonly unknown[]): Source => {
  class Dto {
    constructor() {
      Object.assign(this, members);
    }
  }
  for (const decorate of [...decorators, Reflect.metadata('design:type', type)]) {
    (decorate as PropertyDecorator)(Dto.prototype, 'x');
  }
  return Dto;
};

/** A class whose field `x` is declared with this type, and decorated. */
export const field = (type: unknown, ...decorators: unknown[]): Source => withField({}, type, decorators);

/** The same, with an initializer. */
export const startingWith = (x: unknown, type: unknown, ...decorators: unknown[]): Source =>
  withField({ x }, type, decorators);

export const check = (source: SchemaSource, value: unknown): Checked => {
  const checked = compileShape(source, 'Test.member').check(value);
  if (checked instanceof Promise) throw new Error('unexpected promise');
  return checked;
};

export const valueOf = <T>(source: SchemaSource, value: unknown): T => {
  const checked = check(source, value);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.value as T;
};

export const problemsOf = (source: SchemaSource, value: unknown): string[] => {
  const checked = check(source, value);
  return checked.ok ? [] : checked.problems.map(({ path, expected }) => `${path} ${expected}`.trim());
};

/** What a result becomes, or its problems. */
export const resultOf = (source: SchemaSource, value: unknown): unknown => {
  const checked = compile(source, 'output').checkOutput(value);
  if (checked instanceof Promise) throw new Error('unexpected promise');
  return checked.ok ? checked.value : checked.problems.map(({ path, expected }) => `${path} ${expected}`.trim());
};

export const point = { lat: 1, lon: 2 };

/** The startup error of a schema, or `none`. */
export const mistakeIn = (source: SchemaSource, direction: 'input' | 'output' = 'input'): string => {
  try {
    compileShape(source, 'Test.member', direction);
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
};

/** @Type with this class. */
export const typed = (cls: unknown) => Type(() => cls as never);
