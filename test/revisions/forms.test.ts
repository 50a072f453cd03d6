// Forms from DTO classes with arbitrary rules are valid by the official schema of each revision.
import { describe, expect } from '@jest/globals';
import { type Context, Describe } from '@decorum/core';
import {
  ArrayContains,
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  Contains,
  Equals,
  IsArray,
  IsBoolean,
  IsBooleanString,
  IsDate,
  IsDateString,
  IsDivisibleBy,
  IsEmail,
  IsIn,
  IsInt,
  IsIP,
  IsNotEmpty,
  IsNotIn,
  IsNumber,
  IsOptional,
  IsPositive,
  IsString,
  IsUrl,
  IsUUID,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  NotEquals,
  validateSync,
} from 'class-validator';
import fc from 'fast-check';

import { RawClient, textOf } from '../support/raw-client.js';
import { itShows, REVISIONS } from '../support/requirements.js';
import { serverWith } from './servers.js';

const each = { each: true };
const ANY = [IsOptional(), IsNotEmpty(), Describe({ title: 'Title', description: 'What it is' })];

/** Decorators, optional rules and initial values for each kind of field. */
const KINDS = [
  {
    is: [IsString()],
    rules: [
      IsIn(['a', 'b']),
      IsIn(['b', 'c']),
      Equals('a'),
      NotEquals('b'),
      IsNotIn(['c']),
      MinLength(1),
      MaxLength(9),
      Matches(/^[a-z]$/),
      Contains('a'),
      IsEmail(),
      IsUrl(),
      IsUUID(),
      IsIP(),
      IsDateString(),
      IsBooleanString(),
    ],
    initials: ['a', 'b'],
  },
  {
    is: [IsNumber(), IsInt()],
    rules: [IsIn([1, 2]), Equals(1), NotEquals(3), Min(0.5), Max(9), IsPositive(), IsDivisibleBy(1), IsInt()],
    initials: [1, 1.5],
  },
  { is: [IsBoolean()], rules: [Equals(true), IsIn([true]), NotEquals(false)], initials: [false, true] },
  { is: [IsDate()], rules: [], initials: [] },
  {
    is: [IsIn(['a', 'b'], each)],
    rules: [
      IsArray(),
      ArrayNotEmpty(),
      ArrayMaxSize(2),
      ArrayUnique(),
      ArrayContains(['a']),
      IsString(each),
      MinLength(1, each),
      Matches(/^[ab]$/, each),
      IsNotEmpty(each),
    ],
    initials: [['a'], ['b', 'a']],
  },
] as const;

/** Decorators and initial value of a field. */
interface Field {
  readonly rules: readonly PropertyDecorator[];
  readonly initial: unknown;
}

const aField: fc.Arbitrary<Field> = fc.constantFrom(...KINDS).chain(({ is, rules, initials }) =>
  fc
    .record({
      first: fc.constantFrom<PropertyDecorator[]>(...is),
      more: fc.subarray<PropertyDecorator>([...ANY, ...rules]),
      initial: fc.option(fc.constantFrom<unknown>(undefined, ...initials), { nil: undefined }),
    })
    .map(({ first, more, initial }) => ({ rules: [first, ...more], initial }))
    .filter((field) => isAccepted(field) && !isContradictory(field)),
);

/** Whether Decorum says that no value passes the rules of the field, such as those of a UUID that is "true" or "false". */
function isContradictory(field: Field): boolean {
  try {
    serverWith({}).addTool({ name: 'test', input: dtoOf([field]) }, () => 'ok');
    return false;
  } catch (error) {
    if (/no value passes its rules/.test((error as Error).message)) return true;
    throw error;
  }
}

/** Whether the initial value satisfies the rules of the field. If not, asking throws. */
function isAccepted({ rules, initial }: Field): boolean {
  class Dto {
    field0 = initial;
  }
  for (const rule of rules) rule(Dto.prototype, 'field0');
  return initial === undefined || validateSync(new Dto()).length === 0;
}

/** Creates a class with these fields. */
function dtoOf(fields: readonly Field[]): new () => object {
  class Dto {
    constructor() {
      for (const [index, { initial }] of fields.entries()) {
        if (initial !== undefined) Object.assign(this, { [`field${index}`]: initial });
      }
    }
  }
  for (const [index, { rules }] of fields.entries()) {
    for (const rule of rules) rule(Dto.prototype, `field${index}`);
  }
  return Dto;
}

describe('a form', () => {
  const cells = REVISIONS.slice(2).map((revision) => ['ELIC-05', revision] as const);
  itShows(cells, 'is valid for any rules of its class', async () => {
    let Dto: new () => object = dtoOf([]);
    const server = serverWith({
      ask: async (context: Context) => (await context.elicit(Dto, { message: 'Please' })).action,
    });
    const open = cells.map(([, revision]) =>
      RawClient.connect(server, {
        revision,
        capabilities: { elicitation: {} },
        answers: { 'elicitation/create': () => ({ result: { action: 'decline' } }) },
      }),
    );
    const clients = await Promise.all(open);
    const property = fc.asyncProperty(fc.array(aField, { minLength: 1, maxLength: 3 }), async (fields) => {
      Dto = dtoOf(fields);
      for (const client of clients) {
        const before = client.questions.length;
        expect(textOf(await client.call('ask'))).toBe('decline');
        expect(client.questions).toHaveLength(before + 1);
        // the client has validated the messages
        expect(client.problems.splice(0)).toEqual([]);
      }
    });
    await fc.assert(property, { numRuns: 100 });
  });
});
