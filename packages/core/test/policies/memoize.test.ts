// Which results are kept, for whom, and how long; and calls that wait for equal ones.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import {
  type CallToolResult,
  type Context,
  Defaults,
  type MemoizeOptions,
  mount,
  McpServer,
  NoInput,
  type PolicyOptions,
  type Principal,
  Resource,
  sanitize,
  Tool,
  ToolError,
} from '@decorum/core';
import { connect, type ConnectOptions } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IsString } from 'class-validator';

import { ERAS, reporting, SILENT, textOf, turn } from '../kernel/serving.js';
import { CALLS, type Held, heldServer, KINDS, PAIRS, said } from './held.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

const ANY = { type: 'object' } as const;
const bug = () => new Error('a bug');

/** A server with a tool that counts its runs and does what the test says. */
async function served(memoize: MemoizeOptions | string | number = '30s', options: PolicyOptions = {}) {
  const handler = { runs: 0, run: (_args: object, _ctx: Context): unknown => `run ${handler.runs}` };
  class Shop {
    @Tool({ input: ANY, memoize, ...options, annotations: { readOnlyHint: true } }) tool(args: object, ctx: Context) {
      handler.runs += 1;
      return handler.run(args, ctx);
    }
  }
  const made = reporting({ providers: [Shop] });
  const clientOf = async (more: ConnectOptions = {}) => {
    const client = await connect(made.server, more);
    const call = async (args: object = {}, how = {}) => textOf(await client.callTool('tool', args, how)) as string;
    return { client, call };
  };
  return { ...made, handler, clientOf, ...(await clientOf()) };
}

/** Calls the tool of `heldServer`, and waits until the call runs or waits for another. */
async function begin(answers: Promise<string>[], call: () => Promise<string>, held: Held): Promise<void> {
  const before = held.arrived.count;
  answers.push(said(call()));
  await held.arrived.reaches(before + 1);
}

describe('the results of a member', () => {
  it.each(PAIRS)('are kept for a $kind, in $revision over $via', async ({ kind, revision, via }) => {
    jest.useRealTimers();
    const { server, held } = heldServer({ memoize: '1h' });
    const client = await connect(server, { revision, via });
    const first = CALLS[kind]!(client);
    await held.begun.reaches(1);
    held.end(0, 'once');
    expect(await first).toContain('once');
    expect(await CALLS[kind]!(client)).toBe(await first);
    expect(held.begun.count).toBe(1);
    await client.close();
  });

  it.each<[MemoizeOptions['ttl'], number]>([
    [20, 20],
    ['20ms', 20],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['30d', 2_592_000_000],
  ])('are kept for their time: %p', async (ttl, ms) => {
    const { call } = await served(ttl);
    await call();
    jest.setSystemTime(Date.now() + ms - 1);
    expect(await call()).toBe('run 1');
    jest.setSystemTime(Date.now() + 2);
    expect(await call()).toBe('run 2');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('are those of equal arguments, in any order', async () => {
    const { call } = await served();
    expect(await call({ a: 1, b: { c: [1, 2], d: null } })).toBe('run 1');
    expect(await call({ b: { d: null, c: [1, 2] }, a: 1 })).toBe('run 1');
    expect(await call({ b: { d: null, c: [2, 1] }, a: 1 })).toBe('run 2');
    expect(await call({ a: '1', b: { c: [1, 2], d: null } })).toBe('run 3');
  });

  it('are shared by revisions and by anonymous callers, and by servers that mount theirs', async () => {
    const { server, call, clientOf } = await served();
    const outer = new McpServer({
      name: 'outer',
      version: '1',
      logger: SILENT,
      providers: [mount(server, { prefix: 'in' })],
    });
    expect(await call()).toBe('run 1');
    for (const era of ERAS) expect(await (await clientOf({ era })).call()).toBe('run 1');
    expect(textOf(await (await connect(outer)).callTool('in_tool'))).toBe('run 1');
  });

  it('are those of one user, one client and the same scopes', async () => {
    const { call, clientOf } = await served();
    const base: Principal = { subject: 'ann', issuer: 'https://a.example', clientId: 'app', scopes: ['read', 'write'] };
    const run = async (principal: Principal) => await (await clientOf({ principal })).call();
    expect(await call()).toBe('run 1');
    expect(await run(base)).toBe('run 2');
    expect(await run({ ...base, scopes: ['write', 'read'], claims: { exp: 7 } })).toBe('run 2');
    const others = [{ subject: 'bob' }, { issuer: 'https://b.example' }, { clientId: 'other' }, { scopes: ['read'] }];
    for (const [at, other] of others.entries()) expect(await run({ ...base, ...other })).toBe(`run ${at + 3}`);
    expect(handlerOf(await run(base))).toBe(2);
  });

  it('depend on what `vary` returns', async () => {
    const { clientOf } = await served({ ttl: '30s', vary: (ctx: Context) => ctx.client.info?.name ?? '' });
    const run = async (name: string) => await (await clientOf({ clientInfo: { name, version: '1' } })).call();
    expect([await run('one'), await run('two'), await run('one')]).toEqual(['run 1', 'run 2', 'run 1']);
  });

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw bug();
      },
      'a bug',
    ],
    ['returns a promise', () => Promise.resolve('x'), 'Shop.tool (memoize): `vary` returned object. Return a string.'],
  ])('are none if `vary` %s: the call fails', async (_what, vary, message) => {
    const { call, handler, errors } = await served({ ttl: '30s', vary: vary as () => string });
    expect(await call()).toMatch(/^Internal error/);
    expect(errors).toMatchObject([{ message }]);
    expect(handler.runs).toBe(0);
  });

  it('are not errors, results with isError, or what can not be sent', async () => {
    const { call, handler } = await served();
    const answers: (() => unknown)[] = [
      () => {
        throw bug();
      },
      () => new ToolError('no'),
      (): CallToolResult => ({ content: [{ type: 'text', text: 'no' }], isError: true }),
      () => ({ content: [], structuredContent: { price: NaN } }),
      () => 'at last',
      () => 'never',
    ];
    handler.run = () => answers.shift()!();
    for (let each = 0; each < 4; each++) await call().catch(() => {});
    expect([await call(), await call()]).toEqual(['at last', 'at last']);
  });

  it('are not changed by whoever gets them', async () => {
    const list = { items: ['a'] };
    const { server } = reporting({
      interceptors: [
        async (_call, next) => {
          const result = (await next()) as unknown as { content: { text: string }[] };
          result.content[0]!.text += '!';
          return result as never;
        },
        sanitize(),
      ],
    });
    const options = { name: 'tool', input: NoInput, memoize: '30s', annotations: { readOnlyHint: true } };
    server.addTool(options, () => list);
    const client = await connect(server);
    const call = async () => textOf(await client.callTool('tool'));
    const first = await call();
    list.items.push('b');
    expect([first, await call(), await call()]).toEqual(Array(3).fill('{"items":["a"]}!'));
  });

  it('are bounded in number: the one that was used longest ago goes first', async () => {
    const { call } = await served({ ttl: '30s', maxEntries: 2 });
    for (const id of [1, 2, 1, 3]) await call({ id });
    expect([await call({ id: 1 }), await call({ id: 3 }), await call({ id: 2 })]).toEqual(['run 1', 'run 3', 'run 4']);
  });

  it('are bounded in bytes, and one that is too large is not kept', async () => {
    const { call, handler } = await served({ ttl: '30s', maxBytes: 1000 });
    handler.run = ({ id }: { id?: number }) => `${handler.runs} ${'é'.repeat(id === 0 ? 600 : 200)}`;
    const runOf = async (id: number) => handlerOf(await call({ id }));
    expect([await runOf(0), await runOf(0)]).toEqual([1, 2]);
    expect([await runOf(1), await runOf(2), await runOf(3)]).toEqual([3, 4, 5]);
    expect([await runOf(3), await runOf(2), await runOf(1)]).toEqual([5, 4, 6]);
  });

  it('are for those only who may use the member', async () => {
    let runs = 0;
    let isOpen = true;
    const options = { name: 'tool', input: NoInput, memoize: '1h', annotations: { readOnlyHint: true } };
    const { server } = reporting();
    server.addTool({ ...options, access: () => isOpen }, () => `run ${++runs}`);
    server.addTool({ ...options, name: 'scoped', scopes: ['read'] }, () => `run ${++runs}`);
    const ann: Principal = { subject: 'ann', scopes: ['read'] };
    const [reader, other] = [
      await connect(server, { principal: ann }),
      await connect(server, { principal: { ...ann, scopes: [] } }),
    ];
    expect(textOf(await reader.callTool('tool'))).toBe('run 1');
    expect(textOf(await reader.callTool('scoped'))).toBe('run 2');
    isOpen = false;
    await expect(reader.callTool('tool')).rejects.toThrow('Unknown tool');
    await expect(other.callTool('scoped')).rejects.toThrow('lacks scopes');
    expect(textOf(await reader.callTool('scoped'))).toBe('run 2');
  });

  it('are dropped with their member', async () => {
    let runs = 0;
    const { server } = reporting();
    const options = { name: 'tool', input: NoInput, memoize: '1h', annotations: { readOnlyHint: true } };
    const client = await connect(server);
    for (const run of ['run 1', 'run 2']) {
      const registration = server.addTool(options, () => `run ${++runs}`);
      expect(textOf(await client.callTool('tool'))).toBe(run);
      registration.remove();
    }
  });

  it('cost no turn and no time of their member', async () => {
    const { server, held } = heldServer({ memoize: { ttl: '1h' }, concurrency: { max: 1, queue: 0 } });
    const client = await connect(server);
    const answer = CALLS['prompt']!(client);
    await held.begun.reaches(1);
    held.end(0);
    await answer;
    expect(await CALLS['prompt']!(client)).toBe(await answer);
  });

  it('are kept for those members of a class that only read, by @Defaults', async () => {
    let runs = 0;
    @Defaults({ memoize: '1h' })
    class Shop {
      @Tool() write() {
        return `run ${++runs}`;
      }
      @Tool({ annotations: { readOnlyHint: true } }) read() {
        return `run ${++runs}`;
      }
    }
    const client = await connect(reporting({ providers: [Shop] }).server);
    const call = async (name: string) => textOf(await client.callTool(name));
    expect([await call('write'), await call('write'), await call('read'), await call('read')]).toEqual([
      'run 1',
      'run 2',
      'run 3',
      'run 3',
    ]);
  });
});

/** The number of the run that a text names. */
const handlerOf = (text: string) => Number(/\d+/.exec(text)?.[0]);

describe('a resource', () => {
  class Id {
    @IsString() id!: string;
  }

  it.each(['inner', 'outer'] as const)('is read again after the %s server has told that it changed', async (which) => {
    let runs = 0;
    class Shop {
      @Resource('shop://{id}', { memoize: '1h' }) item({ id }: Id) {
        return `${id} ${++runs}`;
      }
    }
    const { server: inner } = reporting({ providers: [Shop] });
    const outer = new McpServer({
      name: 'outer',
      version: '1',
      logger: SILENT,
      providers: [mount(inner, { prefix: 'in' })],
    });
    const client = await connect(outer);
    const read = async (id: string) => (await client.readResource(`shop://in/${id}`)).contents[0] as { text: string };
    await read('a');
    await read('b');
    if (which === 'inner') inner.notify.resourceUpdated('shop://a');
    else outer.notify.resourceUpdated('shop://in/a');
    expect([await read('a'), await read('b')]).toMatchObject([{ text: 'a 3' }, { text: 'b 2' }]);
  });

  it('counts its URI among the bytes that are kept', async () => {
    let runs = 0;
    class Shop {
      @Resource('shop://{id}', { memoize: { ttl: '1h', maxBytes: 4000 } }) item(_id: Id) {
        return `run ${++runs}`;
      }
    }
    const client = await connect(reporting({ providers: [Shop] }).server);
    const read = async (id: string) => (await client.readResource(`shop://${id}`)).contents;
    for (let each = 0; each < 2; each++) await read('x'.repeat(100));
    expect(runs).toBe(1);
    for (let each = 0; each < 2; each++) await read('x'.repeat(2500));
    expect(runs).toBe(3);
  });

  it('is not kept if it changes while it is read, and is read anew by whoever asks after the change', async () => {
    const { server, held } = heldServer({ memoize: '1h' });
    const client = await connect(server);
    const answers: Promise<string>[] = [];
    const read = () => CALLS['resource']!(client);
    await begin(answers, read, held);
    server.notify.resourceUpdated('shop://stock');
    await begin(answers, read, held);
    await held.begun.reaches(2);
    held.end(1, 'new');
    held.end(0, 'old');
    expect(await Promise.all(answers)).toEqual([expect.stringContaining('old'), expect.stringContaining('new')]);
    expect(await read()).toContain('new');
  });
});

describe('calls that are equal', () => {
  it.each(KINDS)('of a %s run once while one of them runs', async (kind) => {
    const { server, held } = heldServer({ memoize: '1h' });
    const client = await connect(server);
    const answers: Promise<string>[] = [];
    for (let each = 0; each < 20; each++) await begin(answers, () => CALLS[kind]!(client), held);
    held.end(0, 'once');
    const texts = new Set(await Promise.all(answers));
    expect([held.begun.count, texts.size]).toEqual([1, 1]);
  });

  it.each<[string, (held: Held, stop: AbortController) => void]>([
    ['is cancelled', (_held, stop) => stop.abort(new Error('enough'))],
    ['fails', (held) => held.runs[0]!.reject(bug())],
  ])('run one after the other if the first %s', async (_what, end) => {
    const { server, held } = heldServer({ memoize: '1h' });
    const [one, two] = [await connect(server), await connect(server)];
    const stop = new AbortController();
    const answers: Promise<string>[] = [];
    const call = (client: typeof one, signal?: AbortSignal) => async () =>
      textOf(await client.callTool('tool', {}, signal && { signal })) as string;
    await begin(answers, call(one, stop.signal), held);
    for (let each = 0; each < 3; each++) await begin(answers, call(two), held);
    end(held, stop);
    await held.begun.reaches(2);
    held.end(1, 'second');
    expect(await Promise.all(answers.slice(1))).toEqual(['second', 'second', 'second']);
    expect(await answers[0]).toMatch(/enough|Internal error/);
    expect(held.begun.count).toBe(2);
  });

  it('run one after the other if the first exceeds its time limit', async () => {
    const { server, held } = heldServer({ memoize: '1h', timeoutMs: 1000 });
    const client = await connect(server);
    const answers: Promise<string>[] = [];
    const call = async () => textOf(await client.callTool('tool')) as string;
    await begin(answers, call, held);
    await begin(answers, call, held);
    await jest.advanceTimersByTimeAsync(1000);
    expect(await answers[0]).toContain('did not finish within 1 s');
    await held.begun.reaches(2);
    held.end(1);
    expect(await answers[1]).toBe('done');
  });

  it('wait for no more than two others', async () => {
    const { server, held } = heldServer({ memoize: '1h' });
    const client = await connect(server);
    const answers: Promise<string>[] = [];
    for (let each = 0; each < 10; each++) await begin(answers, () => CALLS['tool']!(client), held);
    held.runs[0]!.reject(bug());
    await held.begun.reaches(2);
    held.runs[1]!.reject(bug());
    await held.begun.reaches(10);
  });

  it('stop waiting when they are cancelled themselves, thousands of times', async () => {
    const { server, held } = heldServer({ memoize: '1h' });
    const client = await connect(server);
    void said(CALLS['tool']!(client));
    await held.begun.reaches(1);
    for (let round = 0; round < 2000; round++) {
      const stop = new AbortController();
      const answer = said(client.callTool('tool', {}, { signal: stop.signal }) as never);
      await held.arrived.reaches(round + 2);
      stop.abort(new Error('enough'));
      expect(await answer).toBe('enough');
    }
    expect(held.begun.count).toBe(1);
  });

  it('send progress to the first only', async () => {
    const { server, held } = heldServer({ memoize: '1h' });
    const client = await connect(server);
    const heard: number[][] = [[], []];
    const answers = heard.map((list) => client.callTool('tool', {}, { onProgress: (value) => void list.push(value) }));
    await held.arrived.reaches(2);
    held.runs[0]!.ctx.progress(1);
    held.end(0);
    await Promise.all(answers);
    expect(heard).toEqual([[1], []]);
  });

  it('keep nothing of a cancelled call whose handler ends with a part', async () => {
    const { call, handler } = await served();
    const stop = new AbortController();
    let end = () => {};
    handler.run = async function* () {
      yield 'a part';
      await new Promise<void>((resolve) => (end = resolve));
      yield 'the rest';
    };
    const cancelled = said(call({}, { signal: stop.signal }));
    await turn();
    stop.abort(bug());
    await cancelled;
    await turn();
    end();
    await turn();
    handler.run = () => 'whole';
    expect(await call()).toBe('whole');
  });

  it('are not kept from running by one that waits for its client, and get no answer of another client', async () => {
    for (const era of ERAS) {
      const { handler, clientOf } = await served();
      handler.run = async (_args, ctx) => String(await ctx.confirm('Really?'));
      const yes = await clientOf({ era, onElicit: () => ({ action: 'accept', content: { confirmed: true } }) });
      let other: Promise<string> | undefined;
      const no = await clientOf({
        era,
        onElicit: async () => {
          other = yes.call();
          await other;
          return { action: 'decline' };
        },
      });
      expect(await no.call()).toBe('false');
      expect(await other).toBe('true');
      const before = handler.runs;
      await yes.call();
      expect(handler.runs).toBeGreaterThan(before);
    }
  });
});

describe('the library that keeps results', () => {
  const run = promisify(execFile);
  const program = (memoize: string) => `
    import { McpServer, NoInput } from '@decorum/core';
    import { createRequire } from 'node:module';
    const server = new McpServer({ name: 'test', version: '1' });
    server.addTool({ name: 'tool', input: NoInput, ${memoize} annotations: { readOnlyHint: true } }, () => 'done');
    console.log(Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('lru-cache')));
  `;

  it.each([
    ["memoize: '1h',", 'true'],
    ['', 'false'],
  ])('is loaded only for a member that needs it: %s', async (memoize, isLoaded) => {
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program(memoize)], {
      cwd: new URL('../..', import.meta.url),
    });
    expect(stdout.trim()).toBe(isLoaded);
  });
});
