import 'reflect-metadata';

import { describe, expect, it } from '@jest/globals';
import { Transform, Type, type TypeOptions } from 'class-transformer';
import * as cv from 'class-validator';

import { Describe } from '../src/decorators/describe.js';
import { RecordOf } from '../src/decorators/record-of.js';
import type { SchemaSource } from '../src/shape.js';
import { compile, mistakeIn, problemsOf, resultOf, valueOf } from './fixtures.js';

abstract class Shape {}
class Circle extends Shape {
  @Describe('What it is') @cv.Equals('circle') readonly kind = 'circle';
  @cv.IsNumber() radius!: number;
}
class Square extends Shape {
  @cv.Equals('square') readonly kind = 'square';
  @cv.IsNumber() side!: number;
}

const by = (
  property: string,
  classes: Readonly<Record<string, unknown>>,
): NonNullable<TypeOptions['discriminator']> => ({
  property,
  subTypes: Object.entries(classes).map(([name, value]) => ({ name, value: value as new () => object })),
});

const shapes = { discriminator: by('kind', { circle: Circle, square: Square }), keepDiscriminatorProperty: true };

class Drawing {
  @cv.ValidateNested() @Type(() => Shape, shapes) main!: Circle | Square;
  @cv.IsOptional() @cv.ValidateNested({ each: true }) @Type(() => Shape, shapes) others?: (Circle | Square)[];
}

const circle = { kind: 'circle', radius: 1 };
const square = { kind: 'square', side: 2 };
const schemaOf = (kind: object, size: string) => ({
  type: 'object',
  properties: { kind: { type: 'string', ...kind }, [size]: { type: 'number' } },
  required: ['kind', size],
  additionalProperties: false,
});
const circleSchema = schemaOf({ description: 'What it is', const: 'circle' }, 'radius');
const squareSchema = schemaOf({ const: 'square' }, 'side');

describe('a union by the discriminator of @Type', () => {
  it('is published as oneOf, each class with its own name', () => {
    const union = { type: 'object', oneOf: [circleSchema, squareSchema] };
    expect(compile(Drawing).published['properties']).toEqual({ main: union, others: { type: 'array', items: union } });
  });

  it('becomes an instance of the right class, also in lists', () => {
    const drawing = valueOf<Drawing>(Drawing, { main: square, others: [circle, square] });
    expect(drawing.main).toBeInstanceOf(Square);
    expect(drawing.main).toEqual(square);
    expect(drawing.others?.map((each) => each.constructor)).toEqual([Circle, Square]);
  });

  it('is checked by the rules of its class only', () => {
    expect(problemsOf(Drawing, { main: { kind: 'square', radius: 1 } })).toEqual([
      'main.side is required',
      'main.radius is not a known field',
    ]);
    expect(problemsOf(Drawing, { main: circle, others: [{ kind: 'circle', radius: 'x' }] })).toEqual([
      'others[0].radius must be a number',
    ]);
  });

  it.each([{ radius: 1 }, { kind: 'triangle' }, { kind: 5 }, { kind: '__proto__' }, { kind: 'toString' }])(
    'reports the valid names to a client that sends %j',
    (main) => {
      expect(problemsOf(Drawing, { main })).toEqual(['main.kind must be one of "circle", "square"']);
    },
  );

  it('may be omitted, and else must be an object', () => {
    class Maybe {
      @cv.IsOptional() @cv.ValidateNested() @Type(() => Shape, shapes) shape?: Shape;
    }
    expect(compile(Maybe).published['properties']).toMatchObject({ shape: { oneOf: [{}, {}] } });
    expect(problemsOf(Maybe, { shape: null })).toEqual([]);
    expect(valueOf<Maybe>(Maybe, { shape: circle }).shape).toBeInstanceOf(Circle);
    expect(problemsOf(Maybe, { shape: { kind: 'x' } })).toEqual(['shape.kind must be one of "circle", "square"']);
    expect(problemsOf(Maybe, { shape: { kind: 'circle' } })).toEqual(['shape.radius is required']);
    for (const main of ['circle', null]) expect(problemsOf(Drawing, { main })).toEqual(['main must be an object']);
  });

  it('replaces the property if the classes do not declare it', () => {
    class Dog {
      @cv.IsString() name!: string;
    }
    class Nothing {}
    const discriminator = by('is', { dog: Dog, nothing: Nothing });
    class Dropped {
      @cv.ValidateNested() @Type(() => Object, { discriminator }) pet!: object;
    }
    class Kept {
      @cv.ValidateNested() @Type(() => Object, { discriminator, keepDiscriminatorProperty: true }) pet!: object;
    }
    const dog = { is: 'dog', name: 'Rex' };
    expect(valueOf<Dropped>(Dropped, { pet: dog }).pet).toEqual({ name: 'Rex' });
    expect(valueOf<Kept>(Kept, { pet: dog }).pet).toEqual(dog);
    expect(valueOf<Kept>(Kept, { pet: dog }).pet).toBeInstanceOf(Dog);
    expect(valueOf<Dropped>(Dropped, { pet: { is: 'nothing' } }).pet).toBeInstanceOf(Nothing);
    expect(problemsOf(Dropped, { pet: { is: 'nothing', name: 'x' } })).toEqual(['pet.name is not a known field']);
  });

  it('may be recursive, and is checked in linear time', () => {
    class Num {
      @cv.IsNumber() value!: number;
    }
    class Not {
      @cv.ValidateNested() @Type(() => Object, { discriminator: operators() }) inner!: object;
    }
    class Neg {
      @cv.ValidateNested() @Type(() => Object, { discriminator: operators() }) inner!: object;
    }
    function operators() {
      // the classes do not exist yet
      const subTypes = () => by('op', { num: Num, not: Not, neg: Neg }).subTypes;
      return Object.defineProperty({ property: 'op', subTypes: [] as never[] }, 'subTypes', { get: subTypes });
    }
    class Sum {
      @cv.ValidateNested() @Type(() => Object, { discriminator: operators() }) root!: object;
    }
    let tree: object = { op: 'num', value: 'x' };
    for (let depth = 0; depth < 100; depth++) tree = { op: depth % 2 ? 'not' : 'neg', inner: tree };
    // trying every class at every level would take 3^100 steps
    expect(problemsOf(Sum, { root: tree })).toHaveLength(1);
    const small = valueOf<Sum>(Sum, { root: { op: 'not', inner: { op: 'num', value: 1 } } });
    expect((small.root as Not).inner).toBeInstanceOf(Num);
    expect(compile(Sum).published['$defs']).toMatchObject({ Not: { required: ['op', 'inner'] } });
  });

  it('runs rules that need the instance, and nests in records', () => {
    class Checked {
      @cv.IsInt() a!: number;
      @cv.ValidateBy({
        name: 'later',
        validator: { validate: (value, { object } = {} as cv.ValidationArguments) => value > (object as Checked).a },
      })
      @cv.IsInt()
      b!: number;
    }
    const discriminator = by('is', { checked: Checked });
    class Holder {
      @cv.ValidateNested() @Type(() => Object, { discriminator }) one!: object;
    }
    class Records {
      @RecordOf(Holder) all!: Record<string, Holder>;
    }
    const good = { is: 'checked', a: 1, b: 2 };
    expect(problemsOf(Holder, { one: good })).toEqual([]);
    expect(problemsOf(Holder, { one: { ...good, b: 0 } })).toHaveLength(1);
    expect(problemsOf(Records, { all: { x: { one: { ...good, b: 0 } } } })[0]).toMatch(/^all\.x\.one\.b/);
  });

  it('does not change the arguments if class-transformer creates it', () => {
    class Named {
      @Transform(({ value }) => String(value).trim()) @cv.IsString() name!: string;
      @cv.ValidateNested() @Type(() => Shape, shapes) shape!: Shape;
      @cv.IsOptional() @cv.ValidateNested({ each: true }) @Type(() => Shape, shapes) more?: Shape[];
    }
    const plain = { name: ' a ', shape: { ...circle }, more: [square] };
    const named = valueOf<Named>(Named, plain);
    expect(named.name).toBe('a');
    expect(named.shape).toBeInstanceOf(Circle);
    expect(named.shape).toEqual(circle);
    expect(named.more?.[0]).toBeInstanceOf(Square);
    expect(plain).toEqual({ name: ' a ', shape: circle, more: [square] });
  });

  it('is checked in results, which contain their discriminator', () => {
    const main = Object.assign(new Circle(), { radius: 1 });
    expect(resultOf(Drawing, { main, others: [square] })).toEqual({ main: circle, others: [square] });
    expect(resultOf(Drawing, { main: { radius: 1 } })).toEqual([expect.stringMatching(/^main\.kind /)]);
  });
});

describe('an invalid union is an error at startup:', () => {
  const union = (discriminator: unknown): SchemaSource => {
    class Dto {
      @cv.ValidateNested() @Type(() => Shape, { discriminator: discriminator as never }) x!: object;
    }
    return Dto;
  };
  const bare = by('is', { circle: Circle });
  const again = { value: Square, name: 'circle' };
  class Undeclared {
    @cv.IsString() text!: string;
  }
  class Unchecked {
    @cv.IsObject() @Type(() => Object, { discriminator: bare }) x!: object;
  }
  class Removed {
    @Transform(({ value }) => value as unknown) @cv.IsString() name!: string;
    @cv.ValidateNested() @Type(() => Shape, { discriminator: shapes.discriminator }) shape!: Shape;
  }
  it.each<[string, SchemaSource, RegExp]>([
    ['no property', union({ subTypes: bare.subTypes }), /Dto\.x: @Type has a discriminator without a usable property/],
    ['a harmful property', union({ ...bare, property: '__proto__' }), /without a usable property/],
    ['no classes', union({ property: 'is', subTypes: [] }), /without classes\. Write `subTypes: \[\{ value: Circle/],
    ['a class that is missing', union({ ...bare, subTypes: [{ name: 'a' }] }), /a subtype without a class/],
    ['no name', union({ ...bare, subTypes: [{ value: Circle }] }), /gives Circle the name undefined/],
    ['a name twice', union({ ...bare, subTypes: [...bare.subTypes, again] }), /gives Square the name "circle"/],
    ['a property that every object has', union(by('is', { toString: Circle })), /Circle the name "toString"/],
    ['a class that rejects its own name', union(by('kind', { disc: Circle })), /Circle\.kind: .* class "disc".*agree/],
    ['no @ValidateNested', Unchecked, /Unchecked\.x: .*@ValidateNested\(\)/],
    ['a property that class-transformer removes', Removed, /Circle\.kind: .*keepDiscriminatorProperty: true/],
  ])('%s', (_, source, message) => {
    expect(mistakeIn(source)).toMatch(message);
  });

  it('results without a discriminator', () => {
    const source = union(by('is', { text: Undeclared }));
    expect(mistakeIn(source)).toBe('none');
    expect(mistakeIn(source, 'output')).toMatch(/Undeclared\.is: .*@Equals\('text'\) readonly is = 'text'/);
  });
});
