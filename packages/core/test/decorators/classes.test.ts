import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type Class, Hidden, link, McpError, McpServer, Prompt, QuestionError, Tool, ToolError } from '@decorum/core';
import { connect } from '@decorum/testing';
import { afterAll, describe, expect, it } from '@jest/globals';
import { IsString } from 'class-validator';

import { textOf } from '../kernel/serving.js';

class Text {
  @IsString() text!: string;
}

class Speaker {
  @Tool({ description: 'Says it', annotations: { readOnlyHint: true } }) say({ text }: Text): string {
    return text;
  }

  @Tool() wave() {}

  @Prompt() ask({ text }: Text): string {
    return text;
  }
}

const serverOf = (...providers: (Class | object)[]) => new McpServer({ name: 'test', version: '1', providers });

const toolsOf = async (server: McpServer) => (await connect(server)).listTools();
const namesOf = async (server: McpServer) => (await toolsOf(server)).map(({ name }) => name);
const call = async (server: McpServer, name: string, args?: Record<string, unknown>) =>
  textOf(await (await connect(server)).callTool(name, args));

describe('a subclass', () => {
  it('inherits decorated members, and does not change its base class', async () => {
    class Polyglot extends Speaker {
      @Tool() whistle() {}

      @Tool({ name: 'shout' }) override say({ text }: Text) {
        return text.toUpperCase();
      }
    }
    expect(await namesOf(serverOf(Polyglot))).toEqual(['shout', 'wave', 'whistle']);
    expect(await namesOf(serverOf(Speaker))).toEqual(['say', 'wave']);
  });

  it('keeps the record of a member that it overrides without decorating it', async () => {
    class Shouter extends Speaker {
      override say({ text }: Text) {
        return text.toUpperCase();
      }
    }
    const server = serverOf(Shouter);
    const [say] = await toolsOf(server);
    expect(say).toMatchObject({ name: 'say', description: 'Says it' });
    expect(await call(server, 'say', { text: 'hi' })).toBe('HI');
  });

  it('refines a member by decorating it again, option by option', async () => {
    class Shouter extends Speaker {
      @Tool({ description: 'Shouts it' }) override say({ text }: Text) {
        return text.toUpperCase();
      }
    }
    const [say] = await toolsOf(serverOf(Shouter));
    expect(say).toMatchObject({ description: 'Shouts it', annotations: { readOnlyHint: true } });
  });

  it('drops a member with @Hidden', async () => {
    class Shy extends Speaker {
      @Hidden() override wave() {
        return '';
      }
    }
    const server = serverOf(Shy);
    expect(await namesOf(server)).toEqual(['say']);
    const client = await connect(server);
    await expect(client.callTool('wave')).rejects.toMatchObject({ code: -32602 });
  });
});

describe('a subclass of McpServer', () => {
  class Desk extends McpServer {
    private readonly greeting = 'Hello';

    constructor() {
      super({ name: 'desk', version: '1' });
    }

    @Tool() greet({ text }: Text) {
      return `${this.greeting}, ${text}`;
    }
  }

  it('serves its own members, with its own fields in place, and can be subclassed again', async () => {
    expect(await call(new Desk(), 'greet', { text: 'Ada' })).toBe('Hello, Ada');
    class Reception extends Desk {
      override greet({ text }: Text) {
        return `${super.greet({ text })}!`;
      }
    }
    expect(await call(new Reception(), 'greet', { text: 'Ada' })).toBe('Hello, Ada!');
  });

  it('may have members with the names of internal methods: open, detach and report', async () => {
    class Shop extends McpServer {
      @Tool() open() {
        return 'open';
      }

      @Tool() detach() {
        return 'detach';
      }

      @Tool() report() {
        return 'report';
      }
    }
    const server = new Shop({ name: 'shop', version: '1' });
    for (const name of ['open', 'detach', 'report']) expect(await call(server, name)).toBe(name);
    await server.close();
  });
});

describe('mixins', () => {
  // TypeScript demands `any` here: https://www.typescriptlang.org/docs/handbook/mixins.html
  // oxlint-disable-next-line typescript/no-explicit-any
  const Counting = <B extends new (...args: any[]) => object>(Base: B) => {
    class Counter extends Base {
      #count = 0;

      @Tool() count() {
        return ++this.#count;
      }
    }
    return Counter;
  };

  it('bring their decorated members', async () => {
    class CountingSpeaker extends Counting(Speaker) {}
    const server = serverOf(CountingSpeaker);
    expect(await namesOf(server)).toEqual(['say', 'wave', 'count']);
    expect(await call(server, 'count')).toBe('1');
  });
});

it('one class in two servers has an instance in each, and tools in both', async () => {
  class Counter {
    private count = 0;

    @Tool() next() {
      return ++this.count;
    }
  }
  const [first, second] = [serverOf(Counter), serverOf(Counter)];
  expect(await call(first, 'next')).toBe('1');
  expect(await call(first, 'next')).toBe('2');
  expect(await call(second, 'next')).toBe('1');
});

it('providers may have a prefix for their names, twice with different prefixes on one instance', async () => {
  let built = 0;
  class Clock {
    constructor() {
      built += 1;
    }

    @Tool() now() {
      return 'noon';
    }
  }
  const server = serverOf({ provider: Clock, prefix: 'eu_' }, { provider: Clock, prefix: 'us_' });
  expect(await namesOf(server)).toEqual(['eu_now', 'us_now']);
  expect(built).toBe(1);
});

const packages = fileURLToPath(new URL('../../../', import.meta.url));
const copy = mkdtempSync(join(tmpdir(), 'second-copy-'));

afterAll(() => rmSync(copy, { recursive: true }));

it('two copies of the packages agree: one decorates, throws and describes, the other serves', () => {
  const modules = join(copy, 'node_modules');
  for (const path of ['core/dist', 'core/package.json', 'schema/dist', 'schema/package.json'])
    cpSync(join(packages, path), join(modules, '@decorum', path), { recursive: true });
  symlinkSync(join(packages, 'uri-template'), join(modules, '@decorum/uri-template'));
  for (const library of ['ajv', 'ajv-formats', 'class-transformer', 'class-validator', 'reflect-metadata'])
    symlinkSync(join(packages, 'schema/node_modules', library), join(modules, library));
  const script = `
    import * as one from '${packages}core/dist/index.js';
    import * as two from '${modules}/@decorum/core/dist/index.js';
    if (one.Tool === two.Tool || one.ArrayOf === two.ArrayOf) throw new Error('There is only one copy.');
    class Sale {}
    two.ArrayOf(String)(Sale.prototype, 'wares');
    class Shop {
      sell() { throw new two.ToolError('Sold out'); }
      ask() { throw new two.McpError('invalid-params', 'Which one?'); }
    }
    for (const key of ['sell', 'ask']) {
      two.Tool({ description: key, ...(key === 'sell' && { input: Sale }) })(Shop.prototype, key, Object.getOwnPropertyDescriptor(Shop.prototype, key));
    }
    const server = new one.McpServer({ name: 'shop', version: '1', providers: [Shop] });
    const said = [];
    try { new two.McpServer({}); } catch (error) { said.push({ isOurs: error instanceof one.DecorumError }); }
    const client = await one.connectMemory(server, { receive: (message) => said.push(message.result ?? message.error) });
    const send = (id, method, params) => client.send({ jsonrpc: '2.0', id, method, params });
    await send(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } });
    await send(2, 'tools/list', {});
    await send(3, 'tools/call', { name: 'sell', arguments: { wares: ['tea'] } });
    await send(4, 'tools/call', { name: 'ask' });
    console.log(JSON.stringify(said.filter((each) => each.protocolVersion === undefined)));
  `;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(JSON.parse(printed)).toMatchObject([
    { isOurs: true },
    {
      tools: [
        { name: 'sell', description: 'sell', inputSchema: { properties: { wares: { items: { type: 'string' } } } } },
        { name: 'ask', description: 'ask' },
      ],
    },
    { isError: true, content: [{ text: 'Sold out' }] },
    { code: -32602, message: 'Which one?' },
  ]);
});

it('the subclass of an error that a user writes is an instance of its base, and of no other class', () => {
  class PaymentError extends ToolError {}
  class QuotaError extends McpError {}
  expect(new ToolError('No')).not.toBeInstanceOf(PaymentError);
  expect(new QuestionError('No')).not.toBeInstanceOf(PaymentError);
  expect(new McpError('invalid-params', 'No')).not.toBeInstanceOf(QuotaError);
  const error = new PaymentError('No');
  expect(error).toBeInstanceOf(PaymentError);
  expect(error).toBeInstanceOf(ToolError);
  expect(error).not.toBeInstanceOf(QuestionError);
});

it('names a link after its URI if the option `name` is undefined', () => {
  const title: { name?: string; title: string } = JSON.parse('{"title":"A"}');
  expect(link('x://a', { ...title, ...({ name: undefined } as object) })).toMatchObject({ name: 'x://a', title: 'A' });
});
