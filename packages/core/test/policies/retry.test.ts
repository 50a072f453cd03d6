// Which calls are repeated, when, and how often.
import {
  type CallToolResult,
  type Context,
  Defaults,
  InputSignal,
  McpError,
  NoInput,
  type PolicyOptions,
  Prompt,
  type RetryOptions,
  Tool,
  ToolError,
} from '@decorum/core';
import { connect, type ConnectOptions } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IsString } from 'class-validator';

import { ERAS, reporting, textOf, turn } from '../kernel/serving.js';
import { CALLS, Counter, heldServer, PAIRS, said } from './held.js';

class Id {
  @IsString() id!: string;
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

const HINTS = { annotations: { idempotentHint: true } };

/** A tool that fails with these errors in turn, and then returns its number of runs. */
async function failing(
  errors: readonly unknown[],
  options: PolicyOptions & { annotations?: object } = {},
  client: ConnectOptions = {},
) {
  let runs = 0;
  const debugged: object[] = [];
  class Shop {
    @Tool({ retry: { times: 2 }, ...HINTS, ...options }) tool(_input: NoInput, ctx: Context): unknown {
      const error = errors[runs++];
      if (error === undefined) return `run ${runs}`;
      if (typeof error === 'function') return (error as (ctx: Context) => unknown)(ctx);
      throw error;
    }
  }
  const { warn, error } = { warn() {}, error() {} };
  const logger = { warn, error, debug: (details: object) => void debugged.push(details) };
  const made = reporting({ providers: [Shop], logger, errors: [[RangeError, 'too far']] });
  const connected = await connect(made.server, client);
  const call = (more = {}) => connected.callTool('tool', {}, more);
  return { ...made, client: connected, debugged, call, runs: () => runs };
}

/** Lets pauses pass until a call is answered. */
async function answerOf<T>(call: Promise<T>): Promise<T> {
  const ended = new Counter();
  const end = () => ended.add();
  call.then(end, end);
  while (ended.count === 0) await jest.advanceTimersByTimeAsync(1000);
  return await call;
}

const bug = (text = 'a bug') => new Error(text);

describe('the retry of a member', () => {
  it.each(PAIRS)('repeats a $kind that fails, in $revision over $via', async ({ kind, revision, via }) => {
    jest.useRealTimers();
    const { server, held } = heldServer({ retry: { times: 1, baseMs: 0 } });
    const client = await connect(server, { revision, via });
    const answer = CALLS[kind]!(client);
    await held.begun.reaches(1);
    held.runs[0]!.reject(bug());
    await held.begun.reaches(2);
    held.end(1, 'at last');
    expect(await answer).toContain('at last');
    await client.close();
  });

  it('ends after so many times with the last error', async () => {
    const { call, runs, errors } = await failing([bug('1'), bug('2'), bug('3'), bug('4')]);
    expect(textOf(await answerOf(call()))).toMatch(/^Internal error/);
    expect(runs()).toBe(3);
    expect(errors).toMatchObject([{ message: '3' }]);
  });

  it.each<[string, () => unknown]>([
    ['rejects', () => Promise.reject(bug())],
    ['returns an error', () => bug()],
    ['resolves with an error', () => Promise.resolve(bug())],
    [
      'fails after it has yielded progress',
      async function* () {
        yield 1;
        throw bug();
      },
    ],
  ])('repeats a handler that %s', async (_how, fail) => {
    const { call, runs } = await failing([fail]);
    expect(textOf(await answerOf(call()))).toBe('run 2');
    expect(runs()).toBe(2);
  });

  it('never lets progress go back', async () => {
    const progress: number[] = [];
    const report = (ctx: Context) => {
      for (const value of [1, 2]) ctx.progress(value);
      throw bug();
    };
    const { call } = await failing([report, report, (ctx: Context) => (ctx.progress(3), 'done')]);
    await answerOf(call({ onProgress: (value: number) => void progress.push(value) }));
    expect(progress).toEqual([1, 2, 3]);
  });

  it('has its whole budget each time', async () => {
    const taken: boolean[] = [];
    const fail = (ctx: Context) => {
      taken.push(ctx.budget.take('x'.repeat(60)));
      throw bug();
    };
    const { call } = await failing([fail, fail, fail], { maxResultChars: 100 } as PolicyOptions);
    await answerOf(call());
    expect(taken).toEqual([true, true, true]);
  });

  it('pauses for a random part of a time that doubles up to a maximum', async () => {
    const retry = { times: 4, baseMs: 1000, maxMs: 3000 };
    const { call, debugged } = await failing([bug(), bug(), bug(), bug()], { retry });
    await answerOf(call());
    expect(debugged).toMatchObject(
      [500, 1000, 1500, 1500].map((pauseMs, at) => ({ member: 'Shop.tool', attempt: at + 1, pauseMs, err: {} })),
    );
  });

  it('waits as long as it says', async () => {
    const { call, runs } = await failing([bug()], { retry: { times: 1, baseMs: 1000 } });
    const answer = call();
    await jest.advanceTimersByTimeAsync(499);
    expect(runs()).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(textOf(await answer)).toBe('run 2');
  });

  it('keeps its slot between attempts', async () => {
    const { call } = await failing([bug()], { concurrency: { max: 1, queue: 0 } });
    const answer = call();
    expect(textOf(await call())).toMatch(/^Busy/);
    expect(textOf(await answerOf(answer))).toBe('run 2');
  });

  it('ends when the call is cancelled, even in a pause', async () => {
    const { call, runs } = await failing([bug()]);
    const stop = new AbortController();
    const answer = said(call({ signal: stop.signal }) as never);
    await jest.advanceTimersByTimeAsync(1);
    stop.abort(new Error('enough'));
    expect(await answer).toBe('enough');
    await turn();
    expect(jest.getTimerCount()).toBe(0);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(runs()).toBe(1);
  });

  it('holds for the members of a class that may be repeated, by @Defaults', async () => {
    let runs = 0;
    const fail = () => {
      runs += 1;
      throw bug();
    };
    @Defaults({ retry: { times: 1 } })
    class Shop {
      @Tool() write() {
        fail();
      }
      @Tool(HINTS) put() {
        fail();
      }
      @Prompt() ask() {
        fail();
      }
    }
    const client = await connect(reporting({ providers: [Shop] }).server);
    await answerOf(client.callTool('write'));
    expect(runs).toBe(1);
    await answerOf(client.callTool('put'));
    expect(runs).toBe(3);
    await answerOf(client.getPrompt('ask').catch(() => {}));
    expect(runs).toBe(5);
  });
});

describe('what is repeated', () => {
  it.each<[string, unknown]>([
    ['a ToolError', new ToolError('no')],
    ['a McpError', new McpError('internal-error', 'no')],
    ['an error that `errors` expects', new RangeError('far')],
    ['an error with `expose`', Object.assign(new Error('no'), { expose: true })],
    ['a result with isError', (): CallToolResult => ({ content: [{ type: 'text', text: 'no' }], isError: true })],
  ])('is not %s', async (_what, error) => {
    const { call, runs } = await failing([error]);
    expect(await said(call().then(textOf) as Promise<string>)).toBeDefined();
    expect(runs()).toBe(1);
  });

  it('is up to `on`', async () => {
    const seen: unknown[] = [];
    const on: RetryOptions['on'] = (error) => seen.push(error) === 1;
    const errors = [new ToolError('one'), bug()];
    const { call, runs } = await failing(errors, { retry: { times: 5, on } });
    await answerOf(call());
    expect(seen).toEqual(errors);
    expect(runs()).toBe(2);
  });

  it.each<[string, unknown]>([
    ['an error of arguments', new McpError('invalid-params', 'no')],
    ['lacking scopes', new McpError('insufficient-scope', 'no', { scopes: [] })],
    ['a page that the user must visit', new McpError('url-elicitation-required', 'no')],
    ['a limit of the client', new McpError('too-many-requests', 'no')],
  ])('is never %s, whatever `on` says', async (_what, error) => {
    const on = jest.fn(() => true);
    const { call, runs } = await failing([error], { retry: { times: 2, on } });
    await call().catch(() => {});
    expect([runs(), on.mock.calls.length]).toEqual([1, 0]);
  });

  it('is never a prompt whose arguments are wrong', async () => {
    const on = jest.fn(() => true);
    class Shop {
      @Prompt({ retry: { times: 2, on } }) ask({ id }: Id) {
        return id;
      }
    }
    const client = await connect(reporting({ providers: [Shop] }).server);
    await expect(client.getPrompt('ask', {})).rejects.toThrow('Invalid arguments: id');
    expect(on).not.toHaveBeenCalled();
  });

  it.each(ERAS)('is never a call that has asked the client (%s)', async (era) => {
    const ask = async (ctx: Context) => {
      await ctx.confirm('Really?');
      throw bug();
    };
    const onElicit = () => ({ action: 'decline' }) as const;
    const { call, runs } = await failing([ask, ask], { retry: { times: 5, on: () => true } }, { era, onElicit });
    expect(textOf(await call())).toMatch(/^Internal error/);
    // without a session, once more with the answer
    expect(runs()).toBe(era === 'stateful' ? 1 : 2);
  });

  it('is never the signal that ends a round', async () => {
    const on = jest.fn(() => true);
    const { call, runs } = await failing([new InputSignal()], { retry: { times: 2, on } });
    await call().catch(() => {});
    expect([runs(), on.mock.calls.length]).toEqual([1, 0]);
  });

  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw bug('in `on`');
      },
      'in `on`',
    ],
    [
      'returns a promise',
      () => Promise.resolve(true),
      'Shop.tool (retry): `on` returned object. Return true or false.',
    ],
  ])('is nothing if `on` %s: the call fails with that', async (_what, on, message) => {
    const { call, runs, errors } = await failing([bug()], { retry: { times: 2, on: on as () => boolean } });
    expect(textOf(await call())).toMatch(/^Internal error/);
    expect(runs()).toBe(1);
    expect(errors).toMatchObject([{ message }]);
  });
});
