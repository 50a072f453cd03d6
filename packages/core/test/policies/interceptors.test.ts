import { getEventListeners } from 'node:events';

import {
  type Call,
  type Context,
  type Interceptor,
  McpServer,
  mount,
  NoInput,
  rateLimit,
  ToolError,
} from '@decorum/core';
import { connect } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';

import { ERAS, reporting, serveTool, SILENT, textOf, turn } from '../kernel/serving.js';

/** Settles when a signal aborts, with its reason. */
const endOf = async (signal: AbortSignal) =>
  await new Promise<unknown>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));

const reasonOf = async ({ signal }: Context) => String(await endOf(signal));

describe('next({ signal })', () => {
  it('ends the handler and inner interceptors, and nothing outside', async () => {
    const ending = new AbortController();
    const seen: AbortSignal[] = [];
    const outer: Interceptor = async ({ ctx }, next) => {
      seen.push(ctx.signal);
      return await next({ signal: ending.signal });
    };
    const inner: Interceptor = async ({ ctx }, next) => {
      seen.push(ctx.signal);
      return await next();
    };
    const { call } = await serveTool(reasonOf, {}, { interceptors: [outer, inner] });
    const answer = call();
    await turn();
    ending.abort('enough');
    expect(textOf(await answer)).toBe('enough');
    expect(seen.map(({ aborted }) => aborted)).toEqual([false, true]);
  });

  it('ends the handler when the request is cancelled, too', async () => {
    const given = new AbortController().signal;
    let reason: unknown;
    const handler = async ({ signal }: Context) => void (reason = await endOf(signal));
    const { client } = await serveTool(
      handler,
      {},
      { interceptors: [async (_call, next) => await next({ signal: given })] },
    );
    const cancelling = new AbortController();
    const answer = client.callTool('tool', {}, { signal: cancelling.signal }).catch(() => {});
    await turn();
    cancelling.abort();
    await answer;
    await turn();
    expect(reason).toMatchObject({ name: 'AbortError' });
  });

  it('ends what waits in ctx.sleep', async () => {
    const ending = new AbortController();
    const handler = async (ctx: Context) => {
      const slept = ctx.sleep('long', 60_000);
      ending.abort();
      return await slept.catch((error: Error) => error.name);
    };
    const interceptor: Interceptor = async (_call, next) => await next({ signal: ending.signal });
    const { call } = await serveTool(handler, {}, { interceptors: [interceptor] });
    expect(textOf(await call())).toBe('AbortError');
  });

  it('does not begin what is over already', async () => {
    let runs = 0;
    const interceptor: Interceptor = async (_call, next) =>
      await next({ signal: AbortSignal.abort(new ToolError('Too late.')) });
    const { call } = await serveTool(() => `run ${++runs}`, {}, { interceptors: [interceptor] });
    expect([textOf(await call()), runs]).toEqual(['Too late.', 0]);
  });

  it('keeps listening to a signal only while calls run', async () => {
    const { signal } = new AbortController();
    const listeners = { added: 0, removed: 0 };
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    Object.assign(signal, {
      addEventListener: (...all: Parameters<typeof add>) => ((listeners.added += 1), add(...all)),
      removeEventListener: (...all: Parameters<typeof remove>) => ((listeners.removed += 1), remove(...all)),
    });
    const interceptor: Interceptor = async (_call, next) => await next({ signal });
    const { call } = await serveTool(({ signal: own }) => String(own.aborted), {}, { interceptors: [interceptor] });
    for (let calls = 0; calls < 10; calls += 1) await call();
    expect(listeners).toEqual({ added: 10, removed: 10 });
  });

  it.each<[string, Interceptor]>([
    ['a signal itself', async (_call, next) => await next(AbortSignal.abort() as never)],
    ['another option', async (_call, next) => await next({ timeoutMs: 5 } as never)],
    ['anything but options', async (_call, next) => await next('call' as never)],
    ['anything but a signal', async (_call, next) => await next({ signal: 5 as never })],
  ])('says what to write instead of %s', async (_what, interceptor) => {
    const { call, errors } = await serveTool(() => 'done', {}, { interceptors: [interceptor] });
    await call();
    expect(errors).toEqual([new TypeError('`next` takes an AbortSignal as an option: write `next({ signal })`.')]);
  });

  it('reaches the members of a mounted server', async () => {
    const ending = new AbortController();
    const inner = new McpServer({
      name: 'inner',
      version: '1',
      logger: SILENT,
      interceptors: [async (_call, next) => await next()],
    });
    inner.addTool({ name: 'tool', input: NoInput }, (_input, ctx) => reasonOf(ctx));
    const { server } = reporting({
      providers: [mount(inner)],
      interceptors: [async (_call, next) => await next({ signal: ending.signal })],
    });
    const answer = (await connect(server)).callTool('tool');
    await turn();
    ending.abort('enough');
    expect(textOf(await answer)).toBe('enough');
  });
});

/** Calls `next` until it succeeds, up to three times. */
const again = async (_call: Call, next: Parameters<Interceptor>[1]) => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await next();
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
};

const flaky = () => {
  let runs = 0;
  return () => {
    if (++runs < 3) throw new Error(`failure ${runs}`);
    return `run ${runs}`;
  };
};

describe('Interceptors that call next again', () => {
  it('run the rest of the chain each time, if they are declared', async () => {
    const inner: string[] = [];
    const counting: Interceptor = async ({ name }, next) => (inner.push(name), await next());
    const { call, errors } = await serveTool(
      flaky(),
      {},
      { interceptors: [{ repeats: true, intercept: again }, counting] },
    );
    expect(textOf(await call())).toBe('run 3');
    expect({ inner, errors }).toEqual({ inner: ['tool', 'tool', 'tool'], errors: [] });
  });

  it('may be instances of a class', async () => {
    class Repeater {
      readonly repeats = true;
      attempts = 0;
      readonly intercept: Interceptor = async (call, next) => {
        this.attempts += 1;
        return await again(call, next);
      };
    }
    const repeater = new Repeater();
    const { call } = await serveTool(flaky(), {}, { interceptors: [repeater] });
    expect([textOf(await call()), repeater.attempts]).toEqual(['run 3', 1]);
  });

  it.each([
    ['a function', again],
    ['an object', { repeats: false, intercept: again }],
  ])('must be declared, and the error says how: %s', async (_kind, interceptor) => {
    const { call, errors } = await serveTool(flaky(), {}, { interceptors: [interceptor] });
    await call();
    expect(errors.map(({ message }) => message)).toEqual([
      'The interceptor again called next() twice. Call it once, or declare it as `{ repeats: true, intercept(call, next) { … } }`.',
    ]);
  });

  it.each(ERAS)('are refused once the client has been asked (%s)', async (era) => {
    let runs = 0;
    const handler = async (ctx: Context) => {
      await ctx.confirm('Sure?');
      throw new Error(`failure ${++runs}`);
    };
    const onElicit = () => ({ action: 'accept' as const, content: { confirmed: true } });
    const { client, errors } = await serveTool(
      handler,
      { era, onElicit },
      { interceptors: [{ repeats: true, intercept: again }] },
    );
    await client.callTool('tool');
    expect(runs).toBe(1);
    expect(errors.map(({ message }) => message)).toEqual([
      'The interceptor again called next() twice, but the client was asked a question in this request. Call it again only for members that ask nothing.',
    ]);
  });

  it('give each run its whole budget', async () => {
    const taken: boolean[] = [];
    const handler = (ctx: Context) => {
      taken.push(ctx.budget.take('x'.repeat(60)));
      if (taken.length < 3) throw new Error('failure');
    };
    const options = { maxResultChars: 100, interceptors: [{ repeats: true, intercept: again }] };
    const { call } = await serveTool(handler, {}, options);
    await call();
    expect(taken).toEqual([true, true, true]);
  });

  it('leave no listeners, however often they do', async () => {
    const listeners: number[] = [];
    const { signal } = new AbortController();
    const repeating: Interceptor = async ({ ctx }, next) => {
      for (let run = 0; run < 20; run++) await next({ signal });
      listeners.push(...[ctx.signal, signal].map((each) => getEventListeners(each, 'abort').length));
      return await next();
    };
    let runs = 0;
    const handler = (ctx: Context) => {
      ctx.signal.throwIfAborted();
      return ++runs % 2 === 0 ? 'at once' : turn();
    };
    const options = { timeoutMs: 60_000, interceptors: [{ repeats: true, intercept: repeating }] };
    const { call } = await serveTool(handler, {}, options);
    await call();
    expect(listeners).toEqual([0, 0]);
  });

  it('send no progress twice', async () => {
    let runs = 0;
    const handler = (ctx: Context) => {
      for (const step of [1, 2]) ctx.progress(step);
      if (++runs === 1) throw new Error('failure');
      ctx.progress(3);
      return 'done';
    };
    const { call, client } = await serveTool(handler, {}, { interceptors: [{ repeats: true, intercept: again }] });
    await call({ _meta: { progressToken: 'steps' } });
    expect(client.notifications.map(({ params }) => params?.['progress'])).toEqual([1, 2, 3]);
  });

  it('count once for a rate limit outside of them, and each time inside', async () => {
    const counted = { outside: 0, inside: 0 };
    const limiterOf = (place: 'outside' | 'inside') =>
      rateLimit({ consume: async () => void (counted[place] += 1) } as never);
    const interceptors = [limiterOf('outside'), { repeats: true, intercept: again }, limiterOf('inside')];
    const { call } = await serveTool(flaky(), {}, { interceptors });
    await call();
    expect(counted).toEqual({ outside: 1, inside: 3 });
  });
});
