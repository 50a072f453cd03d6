// Aliases of tools and prompts: what they reach, for whom, and until when.
import { Completion, McpServer, mount, type Principal, Prompt, Tool, type Context, NoInput } from '@decorum/core';
import { definePlugin, type ObservedRequest } from '@decorum/core/plugin';
import { connect, revisions } from '@decorum/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { IsString } from 'class-validator';

import { reporting, textOf } from './serving.js';

class Query {
  @IsString() text!: string;
}

const isAnn = (principal: Principal | undefined) => principal?.subject === 'ann';

class Billing {
  @Tool({ description: 'Lists invoices', aliases: ['list_bills', { name: '__proto__' }] }) invoices({ text }: Query) {
    return `invoices of ${text}`;
  }

  @Tool({ name: 'pay_invoice', aliases: ['pay'], access: isAnn }) payInvoice() {
    return 'paid';
  }

  @Tool({ aliases: ['drop'], tags: ['admin'] }) purge() {
    return 'purged';
  }

  @Tool({ aliases: ['question'] }) async ask(_input: NoInput, ctx: Context) {
    return (await ctx.confirm('Sure?')) ? 'yes' : 'no';
  }

  @Prompt({ aliases: ['nag'] }) remind({ text }: Query) {
    return `Pay ${text}!`;
  }

  @Completion({ for: 'remind', argument: 'text' }) texts(typed: string) {
    return ['tea', 'toast'].filter((text) => text.startsWith(typed));
  }
}

const matrix = revisions.flatMap((revision) =>
  (['memory', 'stdio', 'http'] as const).map((via) => [revision, via] as const),
);

describe.each(matrix)('an alias in %s over %s', (revision, via) => {
  const open = async (options: object = {}) => {
    const { server } = reporting({ providers: [Billing], hiddenTags: ['admin'], ...options });
    return await connect(server, { revision, via });
  };

  it('calls the tool with its schema, and is on no list', async () => {
    const client = await open();
    expect(textOf(await client.callTool('list_bills', { text: 'ann' }))).toBe('invoices of ann');
    expect(textOf(await client.callTool('__proto__', { text: 'ann' }))).toBe('invoices of ann');
    expect(await client.callTool('list_bills', { text: 7 })).toMatchObject({ isError: true });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['invoices', 'ask']);
    expect((await client.listPrompts()).map(({ name }) => name)).toEqual(['remind']);
    await client.close();
  });

  it('is as unknown as any other name to those who may not know of the tool', async () => {
    const client = await open();
    const errorOf = async (name: string) => {
      const error = (await client.callTool(name).catch((thrown: unknown) => thrown)) as Error & { code: number };
      return { code: error.code, message: error.message.replaceAll(name, '…') };
    };
    const unknown = await errorOf('invented');
    for (const name of ['pay', 'pay_invoice', 'drop', 'purge']) expect(await errorOf(name)).toEqual(unknown);
    await client.close();
  });

  it('gets the prompt and completes its arguments', async () => {
    const client = await open();
    expect(await client.getPrompt('nag', { text: 'now' })).toEqual(await client.getPrompt('remind', { text: 'now' }));
    if (revision !== '2024-11-05' || via === 'memory') {
      expect((await client.complete({ prompt: 'nag' }, { name: 'text', value: 'te' })).values).toEqual(['tea']);
    }
    await client.close();
  });
});

describe.each(revisions)('an alias in %s', (revision) => {
  it('is seen by plugins, with the name of its target, and by interceptors as that name', async () => {
    const seen: unknown[] = [];
    const watch = definePlugin(() => ({
      name: 'watch',
      ended: ({ method, target, alias }: ObservedRequest) => {
        if (/call|get|complete/.test(method)) seen.push([method, target, alias]);
      },
    }));
    const names: string[] = [];
    const { server } = reporting({
      providers: [Billing],
      plugins: [watch()],
      interceptors: [
        (call, next) => {
          names.push(call.name);
          return next();
        },
      ],
    });
    const client = await connect(server, { revision });
    await client.callTool('list_bills', { text: 'a' });
    await client.callTool('invoices', { text: 'a' });
    await client.getPrompt('nag', { text: 'a' });
    await client.callTool('invented').catch(() => {});
    await client.complete({ prompt: 'nag' }, { name: 'text', value: '' });
    expect(seen).toEqual([
      ['tools/call', 'invoices', 'list_bills'],
      ['tools/call', 'invoices', undefined],
      ['prompts/get', 'remind', 'nag'],
      ['tools/call', undefined, undefined],
      ['completion/complete', 'remind', 'nag'],
    ]);
    expect(names).toEqual(['invoices', 'invoices', 'remind', 'remind']);
    await client.close();
  });

  it('needs the access of its tool', async () => {
    const { server } = reporting({ providers: [Billing] });
    const client = await connect(server, { revision, principal: { subject: 'ann' } });
    expect(textOf(await client.callTool('pay'))).toBe('paid');
    await client.close();
  });

  it('takes the prefixes of its provider and of all servers that mount it', async () => {
    const inner = reporting({ providers: [{ provider: Billing, prefix: 'a_' }] }).server;
    const middle = reporting({ providers: [mount(inner, { prefix: 'b' })] }).server;
    const transform = { b_a_invoices: { name: 'bills' }, b_a_ask: { name: 'b_a_question' } };
    const { server } = reporting({ providers: [mount(middle, { prefix: 'c', transform })] });
    const client = await connect(server, { revision });
    expect((await client.listTools()).map(({ name }) => name)).toContain('c_bills');
    for (const name of ['c_bills', 'c_b_a_list_bills'])
      expect(textOf(await client.callTool(name, { text: 'b' }))).toBe('invoices of b');
    await expect(client.callTool('list_bills', { text: 'b' })).rejects.toThrow('Unknown tool: list_bills');
    expect((await client.complete({ prompt: 'c_b_a_nag' }, { name: 'text', value: 'to' })).values).toEqual(['toast']);
    await client.close();
  });
});

describe.each(revisions.filter((revision) => revision >= '2025-06-18'))('a call by an alias in %s', (revision) => {
  it('asks the client, and goes on with the answer', async () => {
    const { server } = reporting({ providers: [Billing] });
    const onElicit = () => ({ action: 'accept' as const, content: { answer: true } });
    const client = await connect(server, { revision, onElicit });
    expect(textOf(await client.callTool('question'))).toBe('yes');
    await client.close();
  });
});

describe('a transform', () => {
  const transform = {
    ask: { name: 'confirm', aliases: ['ask', { name: 'sure', until: '9999-12-31' }] },
    invoices: { name: 'list_bills', listed: false },
  };

  it('adds aliases, leaves out of lists, and may make a former name the name again', async () => {
    const { server } = reporting({ providers: [{ provider: Billing, transform, prefix: 'x_' }] });
    const client = await connect(server, { revision: '2025-11-25' });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['x_purge', 'x_confirm']);
    for (const name of ['x_ask', 'x_sure', 'x_confirm', 'x_question'])
      expect(textOf(await client.callTool(name))).toContain('client');
    expect(textOf(await client.callTool('x_list_bills', { text: 'a' }))).toBe('invoices of a');
    await expect(client.callTool('x_invoices', { text: 'a' })).rejects.toThrow('Unknown tool');
    await client.close();
  });

  it('does so for members of live sources', async () => {
    const entry = { name: 'now', inputSchema: { type: 'object' as const } };
    const tool = { entry, run: () => ({ content: [{ type: 'text' as const, text: 'noon' }] }) };
    const source = {
      kinds: ['tool'],
      list: () => [tool],
      find: (_kind: string, key: string) => (key === 'now' ? tool : undefined),
    };
    const { server } = reporting({ providers: [Billing] });
    server.addLive(source as never, { transform: { now: { aliases: ['time'], listed: false } } });
    const client = await connect(server, {});
    expect((await client.listTools()).map(({ name }) => name)).not.toContain('now');
    for (const name of ['now', 'time']) expect(textOf(await client.callTool(name))).toBe('noon');
    await client.close();
  });

  it.each([
    [{ ask: { aliases: ['ask'] } }, '`aliases` has "ask", which is the member\'s own name. Remove it'],
    [{ ask: { aliases: ['a b'] } }, '"a b" is not a valid name'],
    [{ ask: { aliases: 'a' } }, '`aliases` is "a", but must be an array'],
    [{ ask: { listed: 'no' } }, '`listed` is "no", but must be true or false'],
    [{ ask: { aliases: ['question'] } }, 'Two tools are called "question"'],
  ])('fails at startup with %j', (wrong, problem) => {
    expect(() => reporting({ providers: [{ provider: Billing, transform: wrong as never }] })).toThrow(problem);
  });
});

describe('the name of an alias', () => {
  const shop = (...tools: readonly object[]) => {
    const server = new McpServer({ name: 'shop', version: '1' });
    for (const options of tools) server.addTool(options as never, () => '');
    return server;
  };

  it('is free again when its tool is removed, or when adding it has failed', async () => {
    const server = shop();
    const registration = server.addTool({ name: 'now', aliases: ['time'] }, () => 'noon');
    expect(() => server.addTool({ name: 'clock', aliases: ['hour', 'time'] }, () => '')).toThrow(
      'Two tools are called "time": addTool.now (aliases) and addTool.clock (aliases). Remove the alias',
    );
    registration.remove();
    server.addTool({ name: 'hour', aliases: ['time'] }, () => 'one');
    const client = await connect(server, {});
    expect(textOf(await client.callTool('time'))).toBe('one');
    await expect(client.callTool('now')).rejects.toThrow('Unknown tool');
    await client.close();
  });

  it('is not that of another tool, whichever comes first', () => {
    expect(() => shop({ name: 'a' }, { name: 'b', aliases: ['a'] })).toThrow('addTool.a and addTool.b (aliases)');
    expect(() => shop({ name: 'b', aliases: ['a'] }, { name: 'a' })).toThrow('addTool.b (aliases) and addTool.a');
  });

  it('may be that of a prompt', () => {
    class Both {
      @Tool({ aliases: ['old'] }) one() {}
      @Prompt({ name: 'old' }) two() {
        return '';
      }
    }
    expect(() => new McpServer({ name: 'both', version: '1', providers: [Both] })).not.toThrow();
  });

  it('is given up by a subclass that sets others', async () => {
    class Cards extends Billing {
      @Tool({ aliases: ['cards'] }) override invoices(query: Query) {
        return super.invoices(query);
      }
    }
    const client = await connect(reporting({ providers: [Cards] }).server, {});
    expect(textOf(await client.callTool('cards', { text: 'c' }))).toBe('invoices of c');
    await expect(client.callTool('list_bills', { text: 'c' })).rejects.toThrow('Unknown tool');
    await client.close();
  });
});

describe('an alias with an end', () => {
  afterEach(() => void jest.restoreAllMocks());
  const at = (time: string) => void jest.spyOn(Date, 'now').mockReturnValue(Date.parse(time));

  class Dated {
    @Tool({ aliases: [{ name: 'bills', until: '2027-01-31' }] }) invoices() {
      return 'invoices';
    }
    @Tool({ aliases: [{ name: 'settle', until: '2027-01-31' }], access: isAnn }) pay() {
      return 'paid';
    }
    @Prompt({ aliases: [{ name: 'nag', until: '2027-01-31' }] }) remind() {
      return 'Pay!';
    }
  }

  it.each(revisions)('is known until its last day is over, and then says what replaces it (%s)', async (revision) => {
    at('2027-01-31T23:59:59.999Z');
    const { server, warnings } = reporting({ providers: [Dated] });
    const client = await connect(server, { revision });
    expect(textOf(await client.callTool('bills'))).toBe('invoices');
    expect(warnings).toEqual([]);
    at('2027-02-01T00:00:00Z');
    await expect(client.callTool('bills')).rejects.toThrow('Unknown tool: bills. Its name is now "invoices".');
    await expect(client.getPrompt('nag')).rejects.toThrow('Unknown prompt: nag. Its name is now "remind".');
    await client.close();
  });

  it('says nothing of a replacement to those who may not know of it', async () => {
    at('2027-02-01T00:00:00Z');
    const { server } = reporting({ providers: [Dated] });
    const client = await connect(server, {});
    await expect(client.callTool('settle')).rejects.toThrow(/^Unknown tool: settle$/);
    const ann = await connect(server, { principal: { subject: 'ann' } });
    await expect(ann.callTool('settle')).rejects.toThrow('Its name is now "pay".');
    await client.close();
    await ann.close();
  });

  it('is warned of at startup once it is over', async () => {
    at('2027-03-01T12:00:00Z');
    const { server, warnings } = reporting({ providers: [Dated] });
    const [one, two] = [await connect(server, {}), await connect(server, {})];
    expect(warnings).toEqual(
      ['Dated.invoices: the alias "bills"', 'Dated.pay: the alias "settle"', 'Dated.remind: the alias "nag"'].map(
        (start) => `${start} was known until 2027-01-31. Remove it from \`aliases\`.`,
      ),
    );
    await one.close();
    await two.close();
  });
});
