// What startup accepts, although it resembles what it rejects. What it rejects is in test/startup-errors.
import { EventEmitter } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import {
  type Class,
  Completion,
  type CompletionContext,
  type Context,
  DecorumError,
  type JsonObject,
  McpServer,
  type McpServerOptions,
  Prompt,
  Resource,
  type SchemaSource,
  Tool,
} from '@decorum/core';
import { connect } from '@decorum/testing';
import { IsOptional, IsString } from 'class-validator';
import { z } from 'zod';

class Query {
  @IsString() text!: string;
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
  const server = new McpServer({ name: 'test', version: '1' });
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
    const client = await connect(new McpServer({ name: 'test', version: '1', providers: [Prompts] }));
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
    class Lenient extends Query {
      @IsOptional() @IsString() more?: string;
    }
    class Docs {
      @Resource('x://{text}') one(_input: Lenient) {}
    }
    expect(() => start([Docs])).not.toThrow();
  });
});

describe('a constructor', () => {
  it('may have arguments with defaults, or that a subclass passes, or a base class that is built in', () => {
    class Lenient {
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
    expect(() => start([Lenient, Local, Feed])).not.toThrow();
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

it('adds no member of an invalid provider', () => {
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
  const server = new McpServer({ name: 'test', version: '1' });
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
    ask() {
      return '';
    }
  }
  expect(() => start([Prompts])).not.toThrow();
});
