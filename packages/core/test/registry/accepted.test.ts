// What startup accepts, although it resembles what it rejects. What it rejects is in test/startup-errors.
import { EventEmitter } from 'node:events';

import {
  Choices,
  type Class,
  Completion,
  type CompletionContext,
  type Context,
  DateOnly,
  DecorumError,
  type JsonObject,
  McpHeader,
  McpServer,
  type McpServerOptions,
  NoInput,
  Nullable,
  Prompt,
  Resource,
  type SchemaSource,
  Tool,
} from '@decorum/core';
import { compileShape } from '@decorum/schema/internal';
import { connect } from '@decorum/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { IsNumber, IsOptional, IsString } from 'class-validator';
import fc from 'fast-check';
import { z } from 'zod';

import { formOf } from '../../src/kernel/question-rules.js';
import { reporting } from '../kernel/serving.js';

class Query {
  @IsString() text!: string;
}

class Lenient {
  @IsOptional() @IsString() text?: string;
}

class Clock {
  @Tool() now() {
    return 'noon';
  }

  @Resource('clock://now') face() {
    return 'noon';
  }
}

class Zoned {
  constructor(readonly zone: string) {}

  @Tool() zoneName() {
    return this.zone;
  }
}

const start = (providers: readonly unknown[], options: Partial<McpServerOptions> = {}) =>
  new McpServer({ name: 'test', version: '1', ...options, providers: providers as Class[] });

const circle = { type: 'object', properties: { radius: { type: 'number' } }, required: ['radius'] };
const square = { type: 'object', properties: { side: { type: 'number' } }, required: ['side'] };

const Shape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('circle'), radius: z.number() }),
  z.object({ kind: z.literal('square'), side: z.number() }),
]);

async function serve(input: SchemaSource, output?: SchemaSource) {
  const server = start([]);
  const options = { name: 'draw', input, ...(output && { output }) };
  server.addTool(options as { name: string; input: JsonObject }, (args: unknown) => args);
  return await connect(server);
}

describe('a schema of objects without a type at its root', () => {
  it.each<[string, SchemaSource, object]>([
    ['a union of zod', Shape, { kind: 'circle', radius: 1 }],
    ['a zod object with an id', z.object({ radius: z.number() }).meta({ id: 'Circle' }), { radius: 1 }],
    ['anyOf', { anyOf: [circle, square] }, { radius: 1 }],
    ['allOf', { allOf: [circle, { properties: { name: { type: 'string' } } }] }, { radius: 1 }],
    ['a reference', { $ref: '#/$defs/circle', $defs: { circle } }, { radius: 1 }],
  ])('is a schema of arguments and results: %s', async (_, schema, value) => {
    const client = await serve(schema, schema);
    const [tool] = await client.listTools();
    expect(tool).toMatchObject({ inputSchema: { type: 'object' }, outputSchema: { type: 'object' } });
    expect(await client.callTool('draw', { ...value })).toMatchObject({ structuredContent: value });
    expect(await client.callTool('draw', {})).toMatchObject({ isError: true });
  });

  it.each([
    ['a union with a string', { anyOf: [circle, { type: 'string' }] }],
    ['a reference to a list', { $ref: '#/$defs/list', $defs: { list: { type: 'array' } } }],
    ['an object or null', { anyOf: [circle, { type: 'null' }] }],
  ])('is no schema of arguments if it allows other values: %s', async (_, schema) => {
    await expect(serve(schema)).rejects.toThrow(/its root must have "type": "object"/);
  });

  it('names the arguments of a prompt behind a reference', async () => {
    class Prompts {
      @Prompt({ input: z.object({ city: z.string() }).meta({ id: 'City' }) }) pack({ city }: { city: string }) {
        return `What should I pack for ${city}?`;
      }
    }
    const client = await connect(start([Prompts]));
    const [prompt] = await client.listPrompts();
    expect(prompt?.arguments).toEqual([expect.objectContaining({ name: 'city', required: true })]);
  });
});

describe('a class with resources', () => {
  it('can be served twice with two URI prefixes, which also apply to its templates and their entries', async () => {
    class Cities extends Clock {
      @Resource('city://{name}', { list: 'all', input: { type: 'object', properties: { name: { type: 'string' } } } })
      one({ name }: { name: string }) {
        return `of ${name}`;
      }
      all() {
        return [{ variables: { name: 'Oslo' } }];
      }
    }
    const eu = { provider: Cities, prefix: 'eu_', uriPrefix: 'eu+' };
    const client = await connect(start([Cities, { provider: eu, prefix: 'x_', uriPrefix: 'x-' }]));
    const uris = ['clock://now', 'x-eu+clock://now', 'city://Oslo', 'x-eu+city://Oslo'];
    expect((await client.listResources()).map(({ uri }) => uri)).toEqual(uris);
    const templates = await client.listResourceTemplates();
    expect(templates.map(({ name, uriTemplate }) => [name, uriTemplate])).toEqual([
      ['one', 'city://{name}'],
      ['x_eu_one', 'x-eu+city://{name}'],
    ]);
    expect((await client.readResource('x-eu+city://Rome')).contents).toMatchObject([
      { uri: 'x-eu+city://Rome', text: 'of Rome' },
    ]);
  });

  it('may have optional fields that its template lacks', () => {
    class More extends Query {
      @IsOptional() @IsString() more?: string;
    }
    class Docs {
      @Resource('x://{text}') one(_input: More) {}
    }
    expect(() => start([Docs])).not.toThrow();
  });
});

describe('a constructor', () => {
  it('may have arguments with defaults, or that a subclass passes, or a base class that is built in', () => {
    class Utc {
      constructor(readonly zone = 'UTC') {}
      @Tool() utc() {
        return this.zone;
      }
    }
    class Local extends Zoned {
      constructor() {
        super('CET');
      }
    }
    class Feed extends EventEmitter {
      @Tool() subscribers() {
        return this.listenerCount('news');
      }
    }
    expect(() => start([Utc, Local, Feed])).not.toThrow();
  });

  it('may have any arguments with `resolve`, or if its class is listed as an instance', () => {
    expect(() => start([Zoned], { resolve: () => new Zoned('CET') })).not.toThrow();
    expect(() => start([new Zoned('CET')])).not.toThrow();
  });
});

it('treats an undefined `prefix` as none', async () => {
  const client = await connect(start([{ provider: Clock, prefix: undefined }]));
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['now']);
});

it('adds no member of an invalid provider, and ignores it in the capabilities', async () => {
  class HalfGood {
    @Tool() more() {}
    @Tool({ name: 'now' }) again() {}
  }
  class Late {
    @Tool() more() {}
  }
  const server = start([Clock]);
  expect(() => server.addProvider(HalfGood)).toThrow(DecorumError);
  expect(() => server.addProvider(Late)).not.toThrow();
  class Wrong {
    @Prompt() write(_query: Query) {}
    @Completion({ for: 'write', argument: 'from' }) others() {
      return [];
    }
  }
  const empty = start([]);
  expect(() => empty.addProvider(Wrong)).toThrow('DECORUM_UNKNOWN_ARGUMENT');
  expect((await connect(empty)).initialized?.capabilities).toEqual({ logging: {} });
});

it('serves a method without parameters that another decorator has wrapped', async () => {
  const Wrapped = (_target: object, _key: string, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as (...args: unknown[]) => unknown;
    descriptor.value = function wrapped(this: unknown, ...args: unknown[]) {
      return method.apply(this, args);
    };
  };
  class Shop {
    @Wrapped
    @Tool()
    open() {
      return 'yes';
    }
  }
  expect(await (await connect(start([Shop]))).callTool('open')).toMatchObject({ content: [{ text: 'yes' }] });
});

// the types that compilers emit for `import type { Context }` and `import { type Context }`
it.each([Function, Object])('takes a context that is emitted as %p (#23)', async (emitted) => {
  class Shop {
    @Tool() find({ text }: Query, ctx: Context) {
      return `${text} ${typeof ctx.log}`;
    }

    @Prompt() ask({ text }: Query) {
      return text;
    }

    @Completion({ for: 'ask', argument: 'text' }) texts(value: string, ctx: CompletionContext) {
      return [`${value} ${typeof ctx.signal}`];
    }
  }
  const { defineMetadata } = Reflect as unknown as { defineMetadata(...args: unknown[]): void };
  defineMetadata('design:paramtypes', [Query, emitted], Shop.prototype, 'find');
  defineMetadata('design:paramtypes', [String, emitted], Shop.prototype, 'texts');
  const client = await connect(start([Shop]));
  expect(await client.callTool('find', { text: 'a' })).toMatchObject({ content: [{ text: 'a object' }] });
  expect(await client.complete({ prompt: 'ask' }, { name: 'text', value: 'b' })).toMatchObject({
    values: ['b object'],
  });
});

it.each([' LONG ', 'LONG,LONG', 'LONG , LONG\n'])('accepts %j as DECORUM_SECRET (#22)', (pattern) => {
  process.env['DECORUM_SECRET'] = pattern.replaceAll('LONG', 'a'.repeat(32));
  try {
    expect(() => start([])).not.toThrow();
  } finally {
    delete process.env['DECORUM_SECRET'];
  }
});

it('accepts a comma in the option `secret`, because a list is an array (#22)', () => {
  expect(() => start([], { secret: `${'a'.repeat(32)},short` })).not.toThrow();
});

it('finds `x-mcp-header` as a keyword of schemas, and leaves it in values', async () => {
  const data = { 'x-mcp-header': 'A' };
  const properties = {
    a: { type: 'string', 'x-mcp-header': 'A' },
    b: { type: 'object', default: data, examples: [data] },
    c: { const: data },
    d: { enum: [data] },
    default: { type: 'string', 'x-mcp-header': 'D' },
    'x-mcp-header': { type: 'string' },
  };
  const server = start([]);
  const input = { type: 'object', properties, $defs: { 'x-mcp-header': { type: 'string' } } };
  server.addTool({ name: 'tool', input }, () => '');
  const [[stateless], [session]] = await Promise.all([
    (await connect(server, { era: 'stateless' })).listTools(),
    (await connect(server)).listTools(),
  ]);
  expect(stateless?.inputSchema).toEqual(input);
  const plain = { a: { type: 'string' }, default: { type: 'string' } };
  expect(session?.inputSchema).toEqual({ ...input, properties: { ...properties, ...plain } });
  const hidden = { type: 'object', $defs: { default: { type: 'string', 'x-mcp-header': 'A' } } };
  expect(() => server.addTool({ name: 'other', input: hidden }, () => '')).toThrow(/DECORUM_INVALID_HEADER/);
});

it('accepts prompts with numbers, lists and recursive lists', () => {
  const nested = { type: 'array', items: { $ref: '#/properties/nested' } };
  class Prompts {
    @Prompt({
      input: { type: 'object', properties: { nested, numbers: { type: 'array', items: { type: 'integer' } } } },
    })
    ask() {}
  }
  expect(() => start([Prompts])).not.toThrow();
});

/** The code of the startup error for a class with this member; undefined if it starts. */
function codeOf(member: string, name = 'search'): string | undefined {
  // oxlint-disable-next-line no-new-func -- the source of the method is what the test is about
  const Shop = new Function(`const NAME = (of) => of; return class Shop { ${member} };`)() as Class;
  const decorate = Tool({ input: Lenient, name: 'search' }) as (...place: unknown[]) => void;
  const prototype = Shop.prototype as object;
  decorate(prototype, name, Object.getOwnPropertyDescriptor(prototype, name));
  try {
    new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] });
    return undefined;
  } catch (error) {
    return (error as DecorumError).code;
  }
}

/** What hid brackets and commas from a reader of the source. */
const noise = fc.constantFrom('', ' ', '/* ) */', '/* = ( */ ', '// ({[\n', '/* "*/', "/* it's */");
const several = (text: string) => fc.constantFrom(...text.split(/ {2,}/));
const value = several("'('  \"]\"  `}`  '//'  '/*'  '\\')'  (1, 2)  [{}]  /[)]/  () => ({})  { a: \")\" }");
const pattern = fc
  .array(
    fc.tuple(fc.constantFrom('text', `'a)b': text`, '["x(" + 1]: text', 'text: { length }', 'text: [first]'), value),
  )
  .map((fields) =>
    fields.map(([field, initial], at) => `${field.replace(/text$|length|first/g, `$&${at}`)} = ${initial}`),
  )
  .map((fields) => `{ ${fields.join(', ')} }`);
const parameter = fc.oneof(fc.constantFrom('input', '_', '$in'), pattern);
const head = several(`search  async search  *search  async *search  'search'  ["search"]  [NAME('search')]`);
const rest = fc.constantFrom('', ', ctx', ', ctx = {}', ', ...more');

describe('the first parameter of a method', () => {
  it('is rejected with a default value, and accepted without one, in all ways to write them (#23)', () => {
    fc.assert(
      fc.property(head, noise, parameter, value, rest, (begin, gap, name, initial, more) => {
        const method = (input: string) => `${begin}${gap}(${gap}${input}${gap}${more}) {}`;
        expect([method(name), codeOf(method(name))]).toEqual([method(name), undefined]);
        const wrong = method(`${name} ${gap}= ${initial}`);
        expect([wrong, codeOf(wrong)]).toEqual([wrong, 'DECORUM_INVALID_PARAMETER']);
      }),
    );
  });

  it.each([
    ['is missing', 'search() {}'],
    ['is missing, with a comment in its place', 'search(/* no = input */) {}'],
    ['is a rest parameter', 'search(...all) {}'],
    ['belongs to a method that wraps another one', 'search() { return Reflect.apply((a = 1) => a, this, arguments); }'],
  ])('may be left out: %s (#23)', (_, member) => {
    expect(codeOf(member)).toBeUndefined();
  });

  it('is found behind a name with a bracket (#23)', () => {
    expect(codeOf(`'a(b'(input = {}) {}`, 'a(b')).toBe('DECORUM_INVALID_PARAMETER');
    expect(codeOf(`'a(b'(input) {}`, 'a(b')).toBeUndefined();
  });
});

class Point {
  @IsNumber() x!: number;
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

it('the option `coerce` is off by default, and the tool overrides the server', async () => {
  const called = async (options: { readonly coerce?: boolean }) => {
    const client = await connect(start([Counter], options));
    const results = await Promise.all(['plain', 'lenient', 'strict'].map((name) => client.callTool(name, { x: '5' })));
    return results.map(({ isError }) => isError !== true);
  };
  expect(await called({})).toEqual([false, true, false]);
  expect(await called({ coerce: true })).toEqual([true, true, false]);
  expect(await called({ coerce: false })).toEqual([false, true, false]);
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
    @Nullable() @McpHeader('Region') @IsString() region!: string | null;
  }
  const add = () => start([]).addTool({ name: 'mirrored', input: Mirrored }, () => '');
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
  const client = await connect(start([Cities]));
  const result = await client.callTool('find', { city: ' Oslo ' });
  expect(result.content).toEqual([{ type: 'text', text: '<Oslo>' }]);
});

class Undescribed {
  @Tool({ description: 'Finds an article' }) find() {}
  @Tool() buy() {}
  @Tool({ description: 'TODO: say what it does' }) sell() {}
  @Prompt({ description: 'todo' }) ask() {}
  @Prompt() greet() {}
  @Resource('docs://readme') readme() {}
}

const { NODE_ENV } = process.env;
afterEach(() => {
  process.env['NODE_ENV'] = NODE_ENV;
});

/** What a server tells its author when its transports open. */
async function warnings(
  environment: string | undefined,
  providers: object[] = [Undescribed],
  more: readonly string[] = [],
) {
  if (environment === undefined) delete process.env['NODE_ENV'];
  else process.env['NODE_ENV'] = environment;
  const { server, warnings: warned } = reporting({ providers });
  for (const name of more) server.addTool({ name, input: NoInput }, () => {});
  await connect(server);
  await connect(server);
  await server.close();
  return warned;
}

it('warns once of tools without a description, and of descriptions to do (#23)', async () => {
  const warning =
    'Members with no description: Undescribed.buy; with a description that begins with TODO: Undescribed.sell, Undescribed.ask. Models choose tools by their descriptions. Set `description` in the decorator.';
  expect(await warnings(undefined)).toEqual([warning]);
  expect(await warnings('development')).toEqual([warning]);
});

it('names a few of many members without a description (#23)', async () => {
  const [warning] = await warnings('development', [], ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  expect(warning).toMatch(/no description: addTool\.a, addTool\.b, .*addTool\.e and 2 more\./);
});

it('does not ask for descriptions of members of other servers', async () => {
  process.env['NODE_ENV'] = 'development';
  const { server, warnings: warned } = reporting({});
  server.addMembers([{ kind: 'tool', key: 'a', entry: { name: 'a', inputSchema: { type: 'object' } } }], {
    a: () => ({}),
  });
  await connect(server);
  expect(warned).toEqual([]);
});

it('is silent about descriptions in production and in tests, and if all is described (#23)', async () => {
  for (const environment of ['production', 'test']) expect(await warnings(environment)).toEqual([]);
  class Described {
    @Tool({ description: 'Tells the time' }) now() {}
  }
  expect(await warnings('development', [Described])).toEqual([]);
});
