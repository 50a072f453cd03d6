// Compiled with standard (TC39) decorators, which emit no parameter types: schemas are named by `input`.
import { describe, expect, it } from '@jest/globals';
import {
  ArrayOf,
  Choices,
  Completion,
  DateOnly,
  Defaults,
  Describe,
  Hidden,
  McpHeader,
  McpServer,
  Nullable,
  Prompt,
  RecordOf,
  Resource,
  Schema,
  Tool,
} from '@decorum/core';
import { connect } from '@decorum/testing';
import { z } from 'zod';

const Text = z.object({ text: z.string().max(5) });

class Speaker {
  @Tool({ description: 'Says it', input: Text })
  say({ text }: { text: string }): string {
    return text;
  }

  @Resource('speech://{id}', { input: z.object({ id: z.string() }) })
  speech({ id }: { id: string }): string {
    return id;
  }

  @Prompt({ input: Text })
  ask({ text }: { text: string }): string {
    return text;
  }

  @Completion({ for: 'ask', argument: 'text' })
  words(typed: string): string[] {
    return [`${typed}!`];
  }
}

class Point {
  @Schema({ type: 'number' }) x!: number;
}

class Fields {
  @ArrayOf(String) words!: string[];
  @RecordOf(Point) points!: Record<string, Point>;
  @Choices({ a: 'A' }) choice!: string;
  @DateOnly() day!: string;
}

class Patch {
  @Nullable() @ArrayOf(String) words!: string[] | null;
  @Nullable() @DateOnly() day: string | null = null;
}

class Fielded {
  @Tool({ input: Fields })
  take({ words, points }: Fields): string {
    return `${words.join()} ${points['p'] instanceof Point}`;
  }

  @Tool({ input: Patch })
  patch(patch: Patch): string {
    return JSON.stringify(patch);
  }
}

class Shy extends Speaker {
  @Hidden()
  override speech(): string {
    return '';
  }

  override say({ text }: { text: string }): string {
    return text.toLowerCase();
  }
}

const connectTo = (cls: new () => object) => connect(new McpServer({ name: 'test', version: '1', providers: [cls] }));

describe('standard decorators', () => {
  it('serve tools, resources, prompts and completions', async () => {
    const client = await connectTo(Speaker);
    expect((await client.callTool('say', { text: 'HI' })).content).toEqual([{ type: 'text', text: 'HI' }]);
    expect((await client.callTool('say', { text: 'too long' })).isError).toBe(true);
    expect((await client.readResource('speech://7')).contents).toMatchObject([{ uri: 'speech://7', text: '7' }]);
    expect((await client.getPrompt('ask', { text: 'hi' })).messages).toHaveLength(1);
    const completion = await client.complete({ prompt: 'ask' }, { name: 'text', value: 'a' });
    expect(completion.values).toEqual(['a!']);
  });

  it('define the fields of a DTO', async () => {
    const client = await connectTo(Fielded);
    const fields = { words: ['a', 'b'], points: { p: { x: 1 } }, choice: 'a', day: '2026-01-31' };
    expect((await client.callTool('take', fields)).content).toEqual([{ type: 'text', text: 'a,b true' }]);
    const { isError, content } = await client.callTool('take', { ...fields, points: { p: {} }, day: 'today' });
    expect(isError).toBe(true);
    expect(JSON.stringify(content)).toMatch(/points\.p\.x: is required.*day: must be a date/);
  });

  it('let a field be null (#22)', async () => {
    const client = await connectTo(Fielded);
    const tools = await client.listTools();
    expect(tools[1]?.inputSchema).toMatchObject({
      properties: { words: { type: ['array', 'null'] }, day: { type: ['string', 'null'], default: null } },
      required: ['words'],
    });
    const { content } = await client.callTool('patch', { words: null });
    expect(content).toEqual([{ type: 'text', text: '{"words":null,"day":null}' }]);
  });

  it('are inherited, kept by overrides, and dropped by @Hidden', async () => {
    const client = await connectTo(Shy);
    expect((await client.callTool('say', { text: 'HI' })).content).toEqual([{ type: 'text', text: 'hi' }]);
    await expect(client.readResource('speech://7')).rejects.toMatchObject({ code: -32601 });
  });
});

type Untyped = (...args: unknown[]) => never;
type Called = (...args: unknown[]) => (...place: unknown[]) => void;

const METHODS = { Tool, Resource, Prompt, Completion, Hidden } as unknown as Record<string, Untyped>;
const FIELDS = { Describe, McpHeader } as unknown as Record<string, Untyped>;
const ARGUMENTS: Record<string, unknown[]> = { Resource: ['x://a'], Describe: ['City'], McpHeader: ['City'] };

function expectMisuse(declare: () => unknown, message: RegExp): void {
  expect(declare).toThrow(expect.objectContaining({ code: 'DECORUM_MISUSED_DECORATOR' }));
  expect(declare).toThrow(message);
}

const onMethod = (decorator: Untyped) => () => {
  class Shop {
    @decorator
    search() {}
  }
  return Shop;
};

const onField = (decorator: Untyped) => () => {
  class Shop {
    @decorator
    city = '';
  }
  return Shop;
};

const onClass = (decorator: Untyped) => () => {
  @decorator
  class Shop {}
  return Shop;
};

// they don't know the class of a member, so the messages name the member
it.each(Object.entries({ ...METHODS, ...FIELDS }))(
  'misused standard decorators need parentheses, and a class is no place for @%s',
  (name, plain) => {
    const called = (plain as unknown as Called)(...(ARGUMENTS[name] ?? [{}])) as Untyped;
    const [member, place] = name in METHODS ? ['search', onMethod] : ['city', onField];
    expectMisuse(place(plain), new RegExp(`^${member}: @${name} needs parentheses. Write @${name}\\(`));
    const message = new RegExp(`^Shop: @${name} is on a class. Write @${name}\\(.*\\) on each (method|field)`);
    for (const decorator of [called, plain]) expectMisuse(onClass(decorator), message);
    if (name in METHODS) return;
    expectMisuse(onMethod(called), new RegExp(`^search: @${name} is for DTO fields, but this is a method`));
  },
);

describe('@Defaults as a standard decorator', () => {
  it('sets options of its class, which a subclass refines', async () => {
    const never = () => new Promise<never>(() => {});
    @Defaults({ timeoutMs: 20, concurrency: 2 })
    class Slow {
      @Tool() wait() {
        return never();
      }
    }
    @Defaults({ timeoutMs: 10 })
    class LessSlow extends Slow {}
    const texts = [Slow, LessSlow].map(async (provider) => {
      const logger = { warn() {}, error() {} };
      const client = await connect(new McpServer({ name: 'test', version: '1', logger, providers: [provider] }));
      return JSON.stringify((await client.callTool('wait')).content);
    });
    expect(await Promise.all(texts)).toEqual([
      expect.stringContaining('within 20 ms'),
      expect.stringContaining('within 10 ms'),
    ]);
  });
});
