// When what a handler has written is stored: once its run has completed, and for no run that fails, asks or is late.
import { describe, expect, it, jest } from '@jest/globals';

import {
  type AnyInterceptor,
  type CallToolResult,
  type Context,
  InputSignal,
  McpServer,
  mount,
  needInput,
  NoInput,
  type PolicyOptions,
  Tool,
  ToolError,
} from '@decorum/core';
import { tasks } from '@decorum/tasks';
import { connect, elicits, rehearse, type Rehearsal } from '@decorum/testing';

import { ERAS, reporting, serveTool, textOf } from '../kernel/serving.js';
import { CountingStore } from './remembering.js';

const count = (ctx: Context) => ctx.memory<number>('count').update((now = 0) => now + 1);

/** A server whose tool does what the test says, and a client. `kept` is the count that other calls see. */
async function counting(
  handler: (ctx: Context) => unknown,
  options: PolicyOptions & { interceptors?: AnyInterceptor[]; era?: 'stateful' | 'stateless' } = {},
) {
  const { interceptors = [], era = 'stateful', ...policies } = options;
  const store = new CountingStore();
  const made = reporting({ store, interceptors });
  class Shop {
    @Tool({ ...policies, annotations: { readOnlyHint: true } }) tool(_input: NoInput, ctx: Context) {
      return handler(ctx) as string;
    }
    @Tool() async read(_input: NoInput, ctx: Context) {
      return String((await ctx.memory<number>('count').get()) ?? 0);
    }
  }
  made.server.addProvider(Shop);
  const client = await connect(made.server, { era });
  const call = async () => textOf(await client.callTool('tool')) as string;
  const kept = async () => Number(textOf(await client.callTool('read')));
  return { ...made, store, client, call, kept };
}

describe('what a handler has written to memory', () => {
  it('is seen by its own reads at once, and by others once it has completed', async () => {
    const { call, kept, store } = await counting(async (ctx) => {
      const seen = [await count(ctx), await count(ctx), await ctx.memory('count').get()];
      return JSON.stringify([...seen, store.writes, await kept()]);
    });
    expect(await call()).toBe('[1,2,2,0,0]');
    expect([await kept(), store.writes]).toEqual([2, 1]);
  });

  it('is stored in one step for all names', async () => {
    const { call, store, client } = await counting(async (ctx) => {
      await Promise.all(['a', 'b', 'c'].map((name) => ctx.memory(name).set(name)));
      return 'ok';
    });
    await call();
    expect(store.writes).toBe(1);
    await client.close();
  });

  it('is stored for a synchronous handler that does not wait for it', async () => {
    const { call, kept } = await counting((ctx) => {
      void ctx.memory('count').set(7);
      return 'ok';
    });
    expect([await call(), await kept()]).toEqual(['ok', 7]);
  });

  it('is not written by a handler that throws or returns an error', async () => {
    for (const fail of [
      () => Promise.reject(new ToolError('no')),
      () => ({ content: [{ type: 'text', text: 'no' }], isError: true }),
    ]) {
      const { call, kept, store } = await counting(async (ctx) => {
        await count(ctx);
        return (await fail()) as unknown;
      });
      expect([await call(), await kept(), store.writes]).toEqual(['no', 0, 0]);
    }
  });

  it('is stored once a generator has ended, and not if it fails', async () => {
    const { call, kept } = await counting(async function* (ctx) {
      await count(ctx);
      yield 'a';
      if ((await count(ctx)) > 2) throw new ToolError('no');
      yield 'b';
    });
    expect([await call(), await kept(), await call(), await kept()]).toEqual(['a', 2, 'no', 2]);
  });

  it('is stored for the attempt that succeeded, and for no other', async () => {
    let runs = 0;
    const late: (() => unknown)[] = [];
    const { call, kept } = await counting(
      async (ctx) => {
        late.push(() => count(ctx));
        await count(ctx);
        if ((runs += 1) < 3) throw new Error('again');
        return String(await ctx.memory('count').get());
      },
      { retry: { times: 3, baseMs: 0 } },
    );
    expect([await call(), await kept()]).toEqual(['1', 1]);
    for (const write of late) expect(write).toThrow(/writes nothing more|over/);
  });

  it('is refused to an attempt that goes on beside the next one', async () => {
    let runs = 0;
    const outcomes: unknown[] = [];
    let first!: Context;
    const { call, kept } = await counting(
      async (ctx) => {
        if ((runs += 1) === 1) {
          first = ctx;
          throw new Error('again');
        }
        try {
          await count(first);
        } catch (error) {
          outcomes.push((error as Error).message);
        }
        return String(await count(ctx));
      },
      { retry: { times: 1, baseMs: 0 } },
    );
    expect([await call(), await kept()]).toEqual(['1', 1]);
    expect(outcomes).toEqual([expect.stringContaining('writes nothing more')]);
  });

  it('is not written by a handler whose time is over, and is refused to it afterwards', async () => {
    let ended!: (outcome: unknown) => void;
    const outcome = new Promise((resolve) => (ended = resolve));
    const { call, kept } = await counting(
      async (ctx) => {
        await count(ctx);
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
        try {
          await count(ctx);
        } catch (error) {
          ended(error);
        }
        return 'late';
      },
      { timeoutMs: 5 },
    );
    expect(await call()).toMatch(/did not finish/);
    expect(await outcome).toMatchObject({ name: 'TimeoutError' });
    expect(await kept()).toBe(0);
  });

  it('is not written if the time is over and an interceptor answers', async () => {
    const { call, kept } = await counting(
      async (ctx) => {
        await count(ctx);
        return await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
      },
      {
        timeoutMs: 5,
        interceptors: [
          async (_call, next) => await next().catch(() => ({ content: [{ type: 'text', text: 'sorry' }] })),
        ],
      },
    );
    expect([await call(), await kept()]).toEqual(['sorry', 0]);
  });

  it('is not written by a call that was cancelled, and is refused to it afterwards', async () => {
    let ended!: (outcome: unknown) => void;
    const outcome = new Promise((resolve) => (ended = resolve));
    const controller = new AbortController();
    const { client, kept } = await counting(async (ctx) => {
      await count(ctx);
      const aborted = new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
      controller.abort();
      await aborted;
      try {
        await count(ctx);
      } catch (error) {
        ended(error);
      }
      return 'late';
    });
    await expect(client.callTool('tool', {}, { signal: controller.signal })).rejects.toThrow('abort');
    expect(await outcome).toMatchObject({ name: 'AbortError' });
    expect(await kept()).toBe(0);
  });

  it('is refused once the call has ended', async () => {
    let late!: () => unknown;
    const { call, kept } = await counting(async (ctx) => {
      late = () => ctx.memory('count').set(9);
      return String(await count(ctx));
    });
    expect(await call()).toBe('1');
    expect(late).toThrow(/over|ended/);
    expect(await kept()).toBe(1);
  });

  it.each(ERAS)('is written once by a handler that asks nine times, and so runs up to ten times (%s)', async (era) => {
    const store = new CountingStore();
    const asking = async (ctx: Context) => {
      await count(ctx);
      for (let index = 0; index < 9; index += 1) await ctx.confirm(`Go on after ${index}?`);
      return String(await count(ctx));
    };
    const onElicit = () => ({ action: 'accept' }) as const;
    const { client } = await serveTool(asking, { era, onElicit }, { store });
    expect(textOf(await client.callTool('tool'))).toBe('2');
    expect(store.writes).toBe(1);
  });

  it.each(ERAS)('is written once by a handler that returns needInput (%s)', async (era) => {
    const asking = async (ctx: Context) => {
      await count(ctx);
      if (ctx.answers !== undefined) return String(await ctx.memory('count').get());
      return needInput({ ok: { method: 'elicitation/create', params: FORM } });
    };
    const store = new CountingStore();
    const onElicit = () => ({ action: 'accept', content: { ok: true } }) as never;
    const interceptor: AnyInterceptor = async ({ ctx }, next) => {
      await ctx.memory('before').set(1);
      const result = (await next()) as CallToolResult;
      return {
        ...result,
        content: [...result.content, { type: 'text', text: String(await ctx.memory('before').get()) }],
      };
    };
    const { client } = await serveTool(asking, { era, onElicit }, { store, interceptors: [interceptor] });
    expect((await client.callTool('tool')).content).toMatchObject([{ text: '1' }, { text: '1' }]);
    expect(store.writes).toBe(1);
  });

  it('is not written in a round that ends with a question, even if the handler goes on', async () => {
    const { server, errors } = reporting();
    const seen: unknown[] = [];
    server.addTool({ name: 'tool', input: NoInput }, async (_input, ctx) => {
      await count(ctx);
      try {
        return String(await ctx.confirm('Go on?'));
      } catch (error) {
        seen.push(error instanceof InputSignal);
        await count(ctx);
        return 'swallowed';
      }
    });
    server.addTool({ name: 'read', input: NoInput }, async (_input, ctx) => String(await ctx.memory('count').get()));
    const client = await connect(server, { era: 'stateless', capabilities: { elicitation: { form: {} } } });
    expect(await client.request('tools/call', { name: 'tool', arguments: {} })).toMatchObject({
      resultType: 'input_required',
    });
    expect([seen, errors]).toEqual([[true], []]);
    expect(textOf(await client.callTool('read'))).toBe('undefined');
  });

  it('is not written twice if a client sends the last round again', async () => {
    const store = new CountingStore();
    const asking = async (ctx: Context) => {
      await ctx.confirm('Go on?');
      return String(await count(ctx));
    };
    const { call } = await serveTool(
      asking,
      { era: 'stateless', capabilities: { elicitation: { form: {} } } },
      { store },
    );
    const { inputRequests, requestState } = (await call()) as never as { inputRequests: object; requestState: string };
    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: { confirm: true } }]),
    );
    await call({ requestState, inputResponses });
    await call({ requestState, inputResponses });
    expect(store.writes).toBe(1);
  });

  it('is part of the run of an interceptor, which may answer for a handler that failed', async () => {
    const { call, kept } = await counting(
      async (ctx) => {
        await ctx.memory('count').set(100);
        throw new Error('no');
      },
      {
        interceptors: [
          async ({ ctx, name }, next) => {
            if (name === 'read') return await next();
            await count(ctx);
            await next().catch(() => {});
            await count(ctx);
            return { content: [{ type: 'text', text: String(await ctx.memory('count').get()) }] };
          },
        ],
      },
    );
    expect([await call(), await kept()]).toEqual(['2', 2]);
  });

  it('is stored for the runs of a repeating interceptor that did not fail', async () => {
    let runs = 0;
    const twice: AnyInterceptor = {
      repeats: true,
      intercept: async (_call, next) => {
        try {
          return await next();
        } catch {
          return await next();
        }
      },
    };
    const { call, kept } = await counting(
      async (ctx) => {
        await count(ctx);
        if ((runs += 1) === 1) throw new Error('again');
        return String(await ctx.memory('count').get());
      },
      { interceptors: [twice] },
    );
    expect([await call(), await kept()]).toEqual(['1', 1]);
  });

  it('is not stored if an interceptor fails the call afterwards', async () => {
    const failing: AnyInterceptor = async ({ name }, next) => {
      const result = await next();
      if (name === 'tool') throw new ToolError('no');
      return result;
    };
    const { call, kept } = await counting(count, { interceptors: [failing] });
    expect([await call(), await kept()]).toEqual(['no', 0]);
  });

  it('is written by no call that gets a kept result', async () => {
    const { call, kept } = await counting(async (ctx) => String(await count(ctx)), { memoize: '1h' });
    expect([await call(), await call(), await kept()]).toEqual(['1', '1', 1]);
  });

  it('fails the call if it cannot be stored', async () => {
    const { call, store, errors } = await counting(async (ctx) => String(await count(ctx)));
    jest.spyOn(store, 'set').mockImplementation(() => {
      throw new Error('disk full');
    });
    await expect(call()).rejects.toThrow('cannot reach its data');
    expect(errors.map(({ message }) => message)).toEqual(['disk full']);
  });

  it('fails the call if a change fails when it is made again', async () => {
    let runs = 0;
    const { call, kept, errors } = await counting(async (ctx) => {
      await ctx.memory('count').update(() => {
        if ((runs += 1) > 1) throw new Error('not again');
        return 1;
      });
      return 'ok';
    });
    expect(await call()).toMatch(/Internal error/);
    expect([await kept(), errors.map(({ message }) => message)]).toEqual([0, ['not again']]);
  });

  it('of a mounted server is kept by the server that is called, under the same names', async () => {
    const [inner, outer] = [new CountingStore(), new CountingStore()];
    class Cart {
      @Tool() async add(_input: NoInput, ctx: Context) {
        return String(await count(ctx));
      }
    }
    const pass: AnyInterceptor = async (_call, next) => await next();
    const mounted = (name: string, more: object = {}) =>
      new McpServer({ name, version: '1', providers: [Cart], store: inner, ...more });
    const server = new McpServer({ name: 'outer', version: '1', store: outer, providers: [Cart] });
    server.addProvider(mount(mounted('plain'), { prefix: 'plain' }));
    server.addProvider(mount(mounted('intercepted', { interceptors: [pass] }), { prefix: 'intercepted' }));
    const client = await connect(server);
    const texts = [];
    for (const name of ['add', 'plain_add', 'intercepted_add']) texts.push(textOf(await client.callTool(name)));
    expect([texts, inner.writes, outer.writes]).toEqual([['1', '2', '3'], 0, 3]);
  });
});

describe('the memory of a call with an idempotency key', () => {
  it('is stored once, and before the outcome is recorded', async () => {
    const order: string[] = [];
    class Watched extends CountingStore {
      override set(...args: Parameters<CountingStore['set']>): boolean {
        order.push(args[0].split(':')[0] as string);
        return super.set(...args);
      }
    }
    const { server } = reporting({ store: new Watched() });
    server.addTool({ name: 'pay', input: NoInput, idempotent: '1h' }, async (_input, ctx) => String(await count(ctx)));
    const client = await connect(server);
    const pay = async (idempotencyKey: string) => textOf(await client.callTool('pay', {}, { idempotencyKey }));
    expect([await pay('a'), await pay('a'), await pay('b')]).toEqual(['1', '1', '2']);
    expect(order).toEqual(['outcome', 'memory', 'outcome', 'outcome', 'memory', 'outcome']);
  });
});

describe('the memory of a task', () => {
  it('is written once, whenever the task is killed and run again', async () => {
    const stores = new Map<string, CountingStore>();
    const storeOf = (run: string) => stores.get(run) ?? stores.set(run, new CountingStore()).get(run)!;
    class Shop {
      constructor(private readonly record: (effect: string) => void) {}
      @Tool({ task: 'optional' }) async pay(_input: NoInput, ctx: Context) {
        await ctx.memory<string[]>('orders').update((now = []) => [...now, 'an order']);
        await ctx.once('hold', () => this.record('hold'));
        if (!(await ctx.confirm('Pay?'))) return 'Kept.';
        await ctx.sleep('rest', 1);
        await ctx.once('pay', () => this.record('pay'));
        return 'Paid.';
      }
    }
    const server = ({ record, secret, store, run }: Rehearsal) =>
      new McpServer({
        name: 'shop',
        version: '1',
        secret,
        store: storeOf(run),
        providers: [new Shop(record)],
        plugins: [tasks({ store })],
      });
    const { problems, crashes } = await rehearse({ server, tool: 'pay', onElicit: elicits('accept') });
    expect(problems).toEqual([]);
    // changes in quick succession are recorded together, so there may be more or fewer
    expect(crashes).not.toHaveLength(0);
    expect([...stores].map(([run, { writes }]) => `${run}: ${writes}`)).toEqual(
      [...stores.keys()].map((run) => `${run}: 1`),
    );
  });
});

const FORM = {
  message: 'OK?',
  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
};
