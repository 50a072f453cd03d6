import 'reflect-metadata';

import { describe, expect, it } from '@jest/globals';
import { DateOnly } from '../src/index.js';
import { Exclude, Expose, Type } from 'class-transformer';
import * as cv from 'class-validator';
import { compile, mistakeIn, problemsOf, schemaOf, valueOf } from './fixtures.js';

class Named {
  @cv.IsString() first!: string;
  @cv.IsString() get shout(): string {
    return this.first.toUpperCase();
  }
}

class Trimmed {
  #name = '';
  @cv.IsString() get name(): string {
    return this.#name;
  }
  set name(value: string) {
    this.#name = value.trim();
  }
}

describe('an accessor with rules', () => {
  it('that clients could not set is an error at startup', () => {
    expect(mistakeIn(Named)).toMatch(/^Named\.shout: it has a getter but no setter.*Remove its rules.*INVALID_FIELD/);
  });

  it('sets what clients send', () => {
    expect(schemaOf(Trimmed)['properties']).toEqual({ name: { type: 'string', default: '' } });
    expect(valueOf<Trimmed>(Trimmed, { name: ' Ada ' }).name).toBe('Ada');
  });

  it('that results would leave out is an error at startup', () => {
    expect(mistakeIn(Named, 'output')).toMatch(/^Named\.shout: JSON omits .*@Expose\(\).*INVALID_FIELD/);
    expect(mistakeIn(Trimmed, 'output')).toMatch(/^Trimmed\.name: JSON omits/);
  });

  it('is sent where it is exposed, and is no default', () => {
    class Person {
      @cv.IsString() first!: string;
      @Expose() @cv.IsString() get shout(): string {
        return this.first.toUpperCase();
      }
    }
    expect(schemaOf(Person, 'output')).toMatchObject({
      properties: { shout: { type: 'string' } },
      required: ['first', 'shout'],
    });
    const sent = compile(Person, 'output').checkOutput(Object.assign(new Person(), { first: 'Ada' }));
    expect(sent).toEqual({ ok: true, value: { first: 'Ada', shout: 'ADA' } });
  });

  it('may tell the classes of a union apart', () => {
    class Circle {
      @cv.Equals('circle') get kind() {
        return 'circle';
      }
      @cv.IsPositive() radius!: number;
    }
    class Drawing {
      @cv.ValidateNested()
      @Type(() => Object, { discriminator: { property: 'kind', subTypes: [{ value: Circle, name: 'circle' }] } })
      shape!: Circle;
    }
    const { shape } = valueOf<Drawing>(Drawing, { shape: { kind: 'circle', radius: 1 } });
    expect(shape).toEqual(Object.assign(new Circle(), { radius: 1 }));
    expect(shape.kind).toBe('circle');
    expect(mistakeIn(Drawing, 'output')).toMatch(/^Circle\.kind: JSON omits/);
  });

  it('may be left out of arguments', () => {
    class Person {
      @cv.IsString() first!: string;
      @Exclude({ toClassOnly: true }) @Expose() @cv.IsString() get shout(): string {
        return this.first.toUpperCase();
      }
    }
    expect(Object.keys(schemaOf(Person)['properties'] as object)).toEqual(['first']);
    expect(valueOf<Person>(Person, { first: 'Ada' }).shout).toBe('ADA');
  });
});

describe('an initializer', () => {
  it('is no default where each instance has another', () => {
    let made = 0;
    class Order {
      @cv.IsInt() id = ++made;
      @cv.IsOptional() @cv.IsString({ each: true }) tags: string[] = ['new'];
    }
    const { properties, required } = schemaOf(Order);
    expect(properties).toEqual({
      id: { type: 'integer' },
      tags: { type: 'array', items: { type: 'string' }, default: ['new'] },
    });
    expect(required).toBeUndefined();
    expect(valueOf<Order>(Order, {}).id).toBe(made);
  });
});

describe('a date', () => {
  class Meeting {
    @cv.IsDate() at!: Date;
  }
  it('must be in the calendar', () => {
    expect(problemsOf(Meeting, { at: '2026-02-30T00:00:00Z' })).toEqual([
      'at must be a date and time such as "2026-01-31T12:00:00Z"',
    ]);
    expect(problemsOf(Meeting, { at: '2026-04-31T23:59:59+02:00' })).toHaveLength(1);
    expect(valueOf<Meeting>(Meeting, { at: '2028-02-29T23:00:00-05:00' }).at).toEqual(new Date('2028-03-01T04:00:00Z'));
  });

  it('is compared with a limit that the message names, and not its source', () => {
    class Future {
      @cv.MinDate(() => new Date(0)) at!: Date;
    }
    expect(problemsOf(Future, { at: '1960-01-01T00:00:00Z' })).toEqual([expect.stringMatching(/1970/)]);
  });
});

it('says that a value is not valid where a rule has no message', () => {
  class Pair {
    @cv.ValidateBy({ name: 'even', validator: { validate: (value) => Number(value) % 2 === 0 } })
    @cv.IsInt()
    a!: number;
  }
  expect(problemsOf(Pair, { a: 1 })).toEqual(['a is not valid']);
});

describe('a date without a time', () => {
  class Trip {
    @DateOnly() from = new Date('2026-01-01');
    @DateOnly({ each: true }) @Type(() => Date) stops!: Date[];
    @DateOnly({ each: true }) seen!: string[];
  }

  it('is a Date where the initializer or @Type says so', () => {
    const trip = valueOf<Trip>(Trip, { from: '2026-02-01', stops: ['2026-02-02'], seen: ['2026-02-03'] });
    expect(trip).toEqual(
      Object.assign(new Trip(), {
        from: new Date('2026-02-01'),
        stops: [new Date('2026-02-02')],
        seen: ['2026-02-03'],
      }),
    );
  });

  it('is sent as a day where the initializer says that it is a Date', () => {
    const trip = Object.assign(new Trip(), { stops: [new Date('2026-02-02')], seen: [] });
    expect(compile(Trip, 'output').checkOutput(trip)).toEqual({
      ok: true,
      value: { from: '2026-01-01', stops: ['2026-02-02'], seen: [] },
    });
  });
});
