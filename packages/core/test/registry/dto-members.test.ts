// What a server does with schemas beyond what `@decorum/schema` does.
import { describe, expect, it } from '@jest/globals';
import { Choices, DateOnly, McpHeader, McpServer, Nullable, Tool } from '@decorum/core';
import { compileShape } from '@decorum/schema/internal';
import { connect } from '@decorum/testing';
import * as cv from 'class-validator';
import { z } from 'zod';

import { formOf } from '../../src/kernel/question-rules.js';

class Point {
  @cv.IsNumber() x!: number;
}

class Counter {
  @Tool() plain({ x }: Point) {
    return x + 1;
  }
  @Tool({ coerce: true }) lenient({ x }: Point) {
    return x + 1;
  }
  @Tool({ coerce: false }) strict({ x }: Point) {
    return x + 1;
  }
}

const called = async (options: { readonly coerce?: boolean }) => {
  const client = await connect(new McpServer({ name: 'test', version: '1', providers: [Counter], ...options }));
  const results = await Promise.all(['plain', 'lenient', 'strict'].map((name) => client.callTool(name, { x: '5' })));
  return results.map(({ isError }) => isError !== true);
};

describe('the option `coerce`', () => {
  it('is off by default, and the tool overrides the server', async () => {
    expect(await called({})).toEqual([false, true, false]);
    expect(await called({ coerce: true })).toEqual([true, true, false]);
    expect(await called({ coerce: false })).toEqual([false, true, false]);
  });
});

it('a form has the keywords that clients know for choices', () => {
  class Form {
    @Choices({ c: 'Celsius' }) unit!: string;
    @Choices({ a: 'A' }, { each: true }) several!: string[];
    @DateOnly() day!: string;
  }
  expect(formOf(compileShape(Form, 'Test.member').published)['properties']).toEqual({
    unit: { type: 'string', oneOf: [{ const: 'c', title: 'Celsius' }] },
    several: { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } },
    day: { type: 'string', format: 'date' },
  });
});

it('an argument that is mirrored in a header cannot be null (#22)', () => {
  class Mirrored {
    @Nullable() @McpHeader('Region') @cv.IsString() region!: string | null;
  }
  const server = new McpServer({ name: 'test', version: '1' });
  const add = () => server.addTool({ name: 'mirrored', input: Mirrored }, () => '');
  expect(add).toThrow(/the header "Region" is on an argument that is not a string, integer or boolean/);
});

it('a class with a Standard Schema as its static `schema`, as nestjs-zod creates it, may be inferred (#23)', async () => {
  class CityDto {
    static readonly isZodDto = true;
    static readonly schema = z.object({ city: z.string().trim().min(2) });
    city!: string;
  }
  class Cities {
    @Tool() find(input: CityDto): string {
      return `<${input.city}>`;
    }
  }
  await using client = await connect(new McpServer({ name: 'cities', version: '1.0.0', providers: [Cities] }));
  const result = await client.callTool('find', { city: ' Oslo ' });
  expect(result.content).toEqual([{ type: 'text', text: '<Oslo>' }]);
});
