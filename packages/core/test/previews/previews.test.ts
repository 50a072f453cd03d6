// The first call shows a plan, and the call with its ticket carries it out, once.
import {
  type Context,
  Defaults,
  McpServer,
  MemoryKeyValueStore,
  mount,
  sanitize,
  Tool,
  ToolError,
} from '@decorum/core';
import { connect, revisions } from '@decorum/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';

import { allText, type Plan, planning, pruning, Search, TICKET, ticketOf } from './planned.js';

afterEach(() => void jest.useRealTimers());

const VIAS = ['memory', 'http'] as const;
const PAIRS = revisions.flatMap((revision) => VIAS.map((via) => ({ revision, via })));

const UNKNOWN = /^The ticket is not valid, or has expired\. Nothing was done\./;

describe('a tool with a preview', () => {
  it.each(PAIRS)('shows its plan first, in $revision over $via', async (client) => {
    const { call, deeds, client: connected } = await pruning(planning(), client);
    const shown = await call();
    expect(deeds).toMatchObject({ made: ['old'], done: [] });
    expect(shown.isError).toBeUndefined();
    expect(ticketOf(shown)).toMatch(/^[a-z2-9]{26}$/);
    expect(shown.content[0]).toEqual({ type: 'text', text: '{"ids":[1]}' });
    expect(allText(shown).split('\n').at(-1)).toBe(`ticket: ${ticketOf(shown)}`);
    await connected.close();
  });

  it.each(PAIRS)('carries out the plan of a ticket that is an argument, in $revision over $via', async (client) => {
    const { call, deeds, client: connected } = await pruning(planning(), client);
    const ticket = ticketOf(await call());
    expect(allText(await call({ ticket }))).toBe('done');
    expect(deeds).toMatchObject({ made: ['old'], done: [{ ids: [1] }] });
    await connected.close();
  });

  it.each(PAIRS)('carries out the plan of a ticket in _meta, in $revision over $via', async (client) => {
    const { call, deeds, client: connected } = await pruning(planning(), client);
    const ticket = ticketOf(await call());
    expect(allText(await call({}, { [TICKET]: ticket }))).toBe('done');
    expect(deeds).toMatchObject({ made: ['old'], done: [{ ids: [1] }] });
    await connected.close();
  });

  it('gets the plan as it was shown, whatever has happened since', async () => {
    const { call, deeds } = await pruning();
    deeds.plan = () => ({ ids: [1], at: new Date(0), secret: undefined });
    const shown = await call();
    deeds.plan = () => ({ ids: [2] });
    await call({ ticket: ticketOf(shown) });
    expect(deeds.done).toEqual([{ ids: [1], at: '1970-01-01T00:00:00.000Z' }]);
    expect(JSON.parse((shown.content[0] as { text: string }).text)).toEqual(deeds.done[0]);
  });

  it.each<[unknown, string, unknown]>([
    ['Deletes 3 files', 'Deletes 3 files', undefined],
    [[1, 2], '[1,2]', undefined],
    [{ a: 1 }, '{"a":1}', { a: 1 }],
    [null, 'null', undefined],
    [0, '0', undefined],
  ])('shows the plan %p', async (plan, text, structuredContent) => {
    const { call, deeds } = await pruning(planning(), { revision: '2025-11-25' });
    deeds.plan = async () => plan;
    const shown = await call();
    expect(shown.content[0]).toEqual({ type: 'text', text });
    expect(shown.structuredContent).toEqual(structuredContent);
    await call({ ticket: ticketOf(shown) });
    expect(deeds.done).toEqual([plan]);
  });

  it('has no plan in the method that makes it, nor has any other handler', async () => {
    const { call, deeds, server } = await pruning();
    const seen: unknown[] = [];
    deeds.plan = (_query, ctx) => {
      seen.push(ctx.plan);
      return 1;
    };
    server.addTool({ name: 'other' }, (_input, ctx: Context) => void seen.push(ctx.plan));
    await call();
    await (await connect(server)).callTool('other');
    expect(seen).toEqual([undefined, undefined]);
  });

  it('checks the arguments before it makes a plan', async () => {
    const { call, deeds } = await pruning();
    const result = await call({ text: 5 });
    expect(result).toMatchObject({ isError: true });
    expect(allText(result)).toBe('The arguments are not valid:\n- text: must be a string');
    expect(deeds.made).toEqual([]);
  });

  it('takes an empty ticket for none, as models fill optional arguments', async () => {
    const { call, deeds } = await pruning();
    for (const ticket of ['', ' ', null]) expect(ticketOf(await call({ ticket }))).toBeDefined();
    expect(deeds.done).toEqual([]);
  });

  it('names its ticket in the schema', async () => {
    const { client } = await pruning();
    const { tools } = (await client.request('tools/list')) as { tools: { inputSchema: object }[] };
    expect(tools[0]?.inputSchema).toMatchObject({
      type: 'object',
      properties: { text: { type: 'string' }, ticket: { type: 'string', description: expect.any(String) } },
      required: ['text'],
    });
  });

  it('fails as its plan does', async () => {
    const { call, deeds, errors } = await pruning();
    deeds.plan = () => {
      throw new ToolError('Nothing to prune.');
    };
    expect(allText(await call())).toBe('Nothing to prune.');
    deeds.plan = () => new ToolError('Nothing to prune, too.');
    expect(allText(await call())).toBe('Nothing to prune, too.');
    deeds.plan = () => {
      throw new Error('secret');
    };
    expect(allText(await call())).not.toContain('secret');
    expect(errors).toHaveLength(1);
    expect(deeds.done).toEqual([]);
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'Files.plan returned no plan. Return a JSON value.'],
    ['a cycle', cycle, 'The plan of Files.plan cannot be written as JSON'],
    ['a function', () => 1, 'The plan of Files.plan cannot be written as JSON'],
    ['a number that JSON lacks', { n: Number.NaN }, 'The plan of Files.plan cannot be written as JSON'],
    ['a generator', (function* () {})(), 'Files.plan returned what is no plan. Return a JSON value.'],
  ])('tells its operator of %s in place of a plan, and masks it', async (_what, plan, problem) => {
    const { call, deeds, errors } = await pruning();
    deeds.plan = () => plan;
    const result = await call();
    expect(result.isError).toBe(true);
    expect(allText(result)).not.toContain('plan');
    expect(errors[0]?.message).toContain(problem);
  });

  it('refuses a plan that is too large', async () => {
    const { call, deeds } = await pruning();
    deeds.plan = () => 'x'.repeat(256 * 1024 - 2);
    expect(ticketOf(await call())).toBeDefined();
    deeds.plan = () => 'x'.repeat(256 * 1024);
    const result = await call();
    expect(result.isError).toBe(true);
    expect(allText(result)).toBe(
      'The plan is too large: it has 262146 bytes, and 262144 are allowed. Nothing was done. Ask for less at once.',
    );
  });

  it('keeps the ticket when the plan is cut', async () => {
    const { call, deeds } = await pruning(planning('plan', { maxResultChars: 1000 }), { revision: '2025-11-25' });
    deeds.plan = () => ({ ids: Array.from({ length: 1000 }, (_, at) => at) });
    const shown = await call();
    expect(allText(shown)).toMatch(/… 3,\d+ of 3,\d+ characters are missing\./);
    expect(allText(shown).split('\n').at(-1)).toBe(`ticket: ${ticketOf(shown)}`);
    expect(shown).not.toHaveProperty('structuredContent');
    expect(shown.isError).toBeUndefined();
    await call({ ticket: ticketOf(shown) });
    expect((deeds.done[0] as Plan).ids).toHaveLength(1000);
  });

  it('keeps the ticket when results are cleaned', async () => {
    const { call, deeds } = await pruning(planning('plan', { interceptors: [sanitize()] }));
    deeds.plan = () => ({ password: 'hunter2' });
    const shown = await call();
    expect(allText(shown)).toContain('[redacted]');
    expect(allText(shown)).toContain(`ticket: ${ticketOf(shown)}`);
    await call({ ticket: ticketOf(shown) });
    expect(deeds.done).toEqual([{ password: 'hunter2' }]);
  });

  it('is inherited, and takes a Standard Schema', async () => {
    class Base {
      async plan({ days }: { days: number }) {
        return { before: days };
      }
    }
    class Files extends Base {
      @Tool({ input: z.object({ days: z.coerce.number<string>() }), preview: 'plan' })
      prune(_input: { days: number }, ctx: Context<{ before: number }>) {
        return `before ${ctx.plan.before}`;
      }
    }
    const client = await connect(new McpServer({ name: 'x', version: '1', providers: [Files] }));
    const ticket = ticketOf(await client.callTool('prune', { days: '7' }));
    expect(allText(await client.callTool('prune', { days: '7', ticket }))).toBe('before 7');
  });

  it('is called by its alias, through a mount, and with fixed arguments', async () => {
    const inner = planning('plan', { tool: { aliases: ['purge'] } });
    const outer = new McpServer({
      name: 'outer',
      version: '1',
      providers: [mount(inner.server, { prefix: 'files', transform: { prune: { fix: { text: 'fixed' } } } })],
    });
    const client = await connect(outer);
    const shown = await client.callTool('files_purge');
    expect(allText(await client.callTool('files_prune', { ticket: ticketOf(shown) }))).toBe('done');
    expect(inner.deeds).toMatchObject({ made: ['fixed'], done: [{ ids: [1] }] });
  });

  it('keeps the results of other tools with the defaults of its class', async () => {
    @Defaults({ memoize: '1h' })
    class Files {
      runs = 0;
      @Tool({ preview: 'plan', annotations: { readOnlyHint: true } }) read(_query: Search) {
        return `${(this.runs += 1)}`;
      }
      plan() {
        return this.runs;
      }
    }
    const client = await connect(new McpServer({ name: 'x', version: '1', providers: [Files] }));
    const [one, two] = [await client.callTool('read', { text: '' }), await client.callTool('read', { text: '' })];
    expect(ticketOf(one)).not.toBe(ticketOf(two));
  });
});

describe('a ticket', () => {
  it('is good for one call', async () => {
    const { call, deeds } = await pruning();
    const ticket = ticketOf(await call());
    await call({ ticket });
    const again = await call({ ticket });
    expect(again.isError).toBe(true);
    expect(allText(again)).toMatch(/^The ticket has been used before, .* Nothing was done now\./);
    expect(deeds.done).toHaveLength(1);
  });

  it('is used by one of many calls that race', async () => {
    const { call, deeds } = await pruning();
    const ticket = ticketOf(await call());
    const results = await Promise.all(Array.from({ length: 50 }, () => call({ ticket })));
    expect(results.filter(({ isError }) => isError !== true)).toHaveLength(1);
    expect(deeds.done).toHaveLength(1);
  });

  it('stays used if the tool fails', async () => {
    const { call, deeds } = await pruning();
    const ticket = ticketOf(await call());
    deeds.run = () => {
      throw new ToolError('The disk is full.');
    };
    expect(allText(await call({ ticket }))).toBe('The disk is full.');
    expect(allText(await call({ ticket }))).toMatch(/^The ticket has been used before/);
    expect(deeds.done).toHaveLength(1);
  });

  it('is one use for all attempts of a call', async () => {
    const made = planning('plan', { tool: { retry: { times: 2, baseMs: 0 }, annotations: { idempotentHint: true } } });
    const { call, deeds } = await pruning(made);
    const ticket = ticketOf(await call());
    deeds.run = () => {
      if (deeds.done.length < 3) throw new Error('flaky');
      return 'done';
    };
    expect(allText(await call({ ticket }))).toBe('done');
    expect(deeds.done).toEqual([{ ids: [1] }, { ids: [1] }, { ids: [1] }]);
  });

  it.each(revisions.filter((each) => each >= '2025-06-18'))(
    'is one use for all rounds of a call, in %s',
    async (revision) => {
      const { call, deeds, client } = await pruning(planning(), {
        revision,
        onElicit: () => ({ action: 'accept', content: {} }),
      });
      deeds.run = async (_query, ctx) => `${await ctx.confirm('Sure?')} ${await ctx.confirm('Really?')}`;
      const shown = await call();
      const result = await client.callTool('prune', { text: 'old', ticket: ticketOf(shown) });
      expect(allText(result)).toBe('true true');
      expect(deeds.done.at(-1)).toEqual({ ids: [1] });
      expect(allText(await call({ ticket: ticketOf(shown) }))).toMatch(/^The ticket has been used before/);
    },
  );

  it('is not used by other arguments', async () => {
    const { call, deeds } = await pruning();
    const ticket = ticketOf(await call());
    const changed = await call({ text: 'new', ticket });
    expect(changed.isError).toBe(true);
    expect(allText(changed)).toMatch(/^The arguments are not those of the plan\. Nothing was done\./);
    expect(deeds.done).toEqual([]);
    expect(allText(await call({ ticket }))).toBe('done');
  });

  it('is not used by a call whose arguments are refused', async () => {
    const { call, deeds } = await pruning();
    const ticket = ticketOf(await call());
    expect(allText(await call({ text: 5, ticket }))).toContain('The arguments are not valid');
    expect(allText(await call({ ticket }))).toBe('done');
    expect(deeds.done).toHaveLength(1);
  });

  it('does not depend on the order of arguments', async () => {
    class Files {
      @Tool({ input: { type: 'object' }, preview: 'plan' }) prune(args: object, ctx: Context) {
        return { args, plan: ctx.plan };
      }
      plan = (args: object) => args;
    }
    const client = await connect(new McpServer({ name: 'x', version: '1', providers: [new Files()] }));
    const ticket = ticketOf(await client.callTool('prune', { a: 1, b: { c: [2], d: 3 } }));
    const args = { ticket, b: { d: 3, c: [2] }, a: 1 };
    expect(JSON.parse(allText(await client.callTool('prune', args)))).toMatchObject({ plan: { a: 1 } });
  });

  it.each([
    [undefined, 600_000],
    [{ by: 'plan', ttlMs: 5000 }, 5000],
  ])('expires: %p', async (preview, ms) => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const { call, deeds } = await pruning(planning(preview));
    const [early, late] = [ticketOf(await call()), ticketOf(await call())];
    jest.setSystemTime(Date.now() + ms - 1);
    expect(allText(await call({ ticket: early }))).toBe('done');
    jest.setSystemTime(Date.now() + 1);
    expect(allText(await call({ ticket: late }))).toMatch(UNKNOWN);
    expect(deeds.done).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['a number', 7],
    ['an array', ['abcdefghijkmnpqrstuvwxyz22']],
    ['an object', { toString: 1 }],
    ['true', true],
    ['a made-up one', 'abcdefghijkmnpqrstuvwxyz22'],
    ['a huge one', 'x'.repeat(1_000_000)],
    ['the name of a prototype', '__proto__'],
    ['a name of another record', '["memory"]'],
  ])('that is %p is refused', async (_what, ticket) => {
    const { call, deeds } = await pruning();
    await call();
    for (const result of [await call({ ticket }), await call({}, { [TICKET]: ticket })]) {
      expect(result.isError).toBe(true);
      expect(allText(result)).toMatch(UNKNOWN);
    }
    expect(deeds.done).toEqual([]);
  });

  it('in _meta goes before that of the arguments', async () => {
    const { call } = await pruning();
    const ticket = ticketOf(await call());
    expect(allText(await call({ ticket }, { [TICKET]: 'other' }))).toMatch(UNKNOWN);
    expect(allText(await call({ ticket: 'other' }, { [TICKET]: ticket }))).toBe('done');
  });

  it.each(revisions)('of another user looks like one that does not exist, in %s', async (revision) => {
    const made = planning();
    const ada = await pruning(made, { revision, principal: { subject: 'ada' } });
    const eve = await pruning(made, { revision, principal: { subject: 'eve' } });
    const nobody = await pruning(made, { revision });
    const ticket = ticketOf(await ada.call());
    expect(allText(await eve.call({ ticket }))).toMatch(UNKNOWN);
    expect(allText(await nobody.call({ ticket }))).toMatch(UNKNOWN);
    await ada.call({ ticket });
    expect(await eve.call({ ticket })).toEqual(await eve.call({ ticket: 'made up' }));
    expect(made.deeds.done).toHaveLength(1);
  });

  it('of a user is good in another session of theirs', async () => {
    const made = planning();
    const principal = { subject: 'ada', issuer: 'https://id.example' };
    const one = await pruning(made, { via: 'http', principal });
    const two = await pruning(made, { via: 'http', principal });
    expect(allText(await two.call({ ticket: ticketOf(await one.call()) }))).toBe('done');
  });

  it('of an anonymous session is good in this session only', async () => {
    const made = planning();
    const [one, two] = [await pruning(made, { via: 'http' }), await pruning(made, { via: 'http' })];
    const ticket = ticketOf(await one.call());
    expect(allText(await two.call({ ticket }))).toMatch(UNKNOWN);
    expect(allText(await one.call({ ticket }))).toBe('done');
    await Promise.all([one.client.close(), two.client.close()]);
  });

  it('of callers that nothing tells apart is good for whoever has it', async () => {
    const { call, client } = await pruning(planning(), { via: 'http', era: 'stateless' });
    expect(allText(await call({ ticket: ticketOf(await call()) }))).toBe('done');
    await client.close();
  });

  it('of a tool is not good for its twin on another mount', async () => {
    const [a, b] = [planning(), planning()];
    const providers = [mount(a.server, { prefix: 'a' }), mount(b.server, { prefix: 'b' })];
    const client = await connect(new McpServer({ name: 'outer', version: '1', providers }));
    const ticket = ticketOf(await client.callTool('a_prune', { text: 'old' }));
    expect(allText(await client.callTool('b_prune', { text: 'old', ticket }))).toMatch(UNKNOWN);
    expect(allText(await client.callTool('a_prune', { text: 'old', ticket }))).toBe('done');
    expect(b.deeds.done).toEqual([]);
  });
});

describe('the plans that are kept for a caller', () => {
  it.each([
    { what: 'large', plan: 'x'.repeat(250_000), count: 5 },
    { what: 'small', plan: 'x', count: 101 },
  ])('are the newest ones, if there are many $what ones', async ({ plan, count }) => {
    const made = planning();
    made.deeds.plan = () => plan;
    const [ann, bob] = [
      await pruning(made, { principal: { subject: 'ann' } }),
      await pruning(made, { principal: { subject: 'bob' } }),
    ];
    const others = ticketOf(await bob.call());
    const tickets: string[] = [];
    for (let index = 0; index < count; index += 1) tickets.push(ticketOf(await ann.call()));
    const [first, second] = tickets as [string, string];
    expect(allText(await ann.call({ ticket: first }))).toMatch(UNKNOWN);
    expect(allText(await ann.call({ ticket: second }))).toBe('done');
    expect(allText(await bob.call({ ticket: others }))).toBe('done');
  });

  it('leave the store room, however many a caller asks for', async () => {
    const store = new MemoryKeyValueStore({ maxChars: 3_000_000 });
    const made = planning('plan', { store });
    made.deeds.plan = () => 'x'.repeat(250_000);
    const { call } = await pruning(made);
    for (let index = 0; index < 20; index += 1) expect(ticketOf(await call())).toBeDefined();
  });
});
