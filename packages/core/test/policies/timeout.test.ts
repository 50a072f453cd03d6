import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  Completion,
  type Context,
  Defaults,
  type FailureCause,
  McpServer,
  mount,
  needInput,
  NoInput,
  Prompt,
  Tool,
} from '@decorum/core';
import { definePlugin, type RequestOutcome } from '@decorum/core/plugin';
import { connect } from '@decorum/testing';
import { z } from 'zod';

import { ERAS, reporting, serveTool, SILENT, textOf, turn } from '../kernel/serving.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));

afterEach(() => void jest.useRealTimers());

const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const never = () => new Promise<never>(() => {});

/** Lets time pass, and whatever follows from it happen. */
async function pass(ms: number) {
  await turn();
  await jest.advanceTimersByTimeAsync(ms);
  await turn();
}

/** A promise that rejects when a signal aborts, as that of `fetch` does. */
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

describe('timeoutMs', () => {
  it('aborts the signal with a TimeoutError and tells the client how long it waited', async () => {
    let seen: AbortSignal | undefined;
    const { call, errors, warnings } = await serveTool(
      ({ signal }) => aborted((seen = signal)),
      {},
      { timeoutMs: 5000 },
    );
    const answer = call();
    await pass(4999);
    expect(seen?.aborted).toBe(false);
    await pass(1);
    expect(seen?.reason).toMatchObject({ name: 'TimeoutError' });
    const result = await answer;
    expect(result).toMatchObject({ isError: true });
    expect(textOf(result)).toMatch(/^The tool did not finish within 5 s\. /);
    await pass(1000);
    expect({ errors, warnings, timers: jest.getTimerCount() }).toEqual({ errors: [], warnings: [], timers: 0 });
  });

  it('starts no timer for a member that answers at once, and leaves none behind', async () => {
    const { server, client } = await serveTool(() => 'now', {}, { timeoutMs: 5000 });
    server.addTool({ name: 'later', input: NoInput }, async () => {
      await turn();
      return 'later';
    });
    await client.callTool('tool');
    const before = jest.getTimerCount();
    const started = jest.spyOn(globalThis, 'setTimeout');
    expect(textOf(await client.callTool('tool'))).toBe('now');
    expect(started).not.toHaveBeenCalled();
    expect(textOf(await client.callTool('later'))).toBe('later');
    expect(started).toHaveBeenCalledTimes(1);
    expect(jest.getTimerCount()).toBe(before);
    started.mockRestore();
  });

  it.each<[string, { own?: number; ofClass?: number; ofServer: number }, string]>([
    ['a member', { own: 10, ofClass: 20, ofServer: 30 }, '10 ms'],
    ['its class', { ofClass: 2000, ofServer: 3000 }, '2 s'],
    ['the server', { ofServer: 1500 }, '1.5 s'],
    ['the server, for a long time', { ofServer: 120_000 }, '2 min'],
  ])('holds as %s sets it', async (_who, { own, ofClass, ofServer }, expected) => {
    @Defaults(ofClass === undefined ? {} : { timeoutMs: ofClass })
    class Work {
      @Tool(own === undefined ? {} : { timeoutMs: own }) wait() {
        return never();
      }
    }
    const { server } = reporting({ timeoutMs: ofServer, providers: [Work] });
    const client = await connect(server);
    const answer = client.callTool('wait');
    await pass(ofServer);
    expect(textOf(await answer)).toContain(`did not finish within ${expected}.`);
  });

  it('is switched off by false', async () => {
    class Work {
      @Tool({ timeoutMs: false }) async work() {
        await after(5000);
        return 'done';
      }
    }
    const { server } = reporting({ timeoutMs: 1000, providers: [Work] });
    const client = await connect(server);
    const answer = client.callTool('work');
    await pass(5000);
    expect(textOf(await answer)).toBe('done');
  });

  it('tells plugins that a call timed out', async () => {
    const causes: (FailureCause | undefined)[] = [];
    const plugin = definePlugin(() => ({
      name: 'causes',
      ended: (_request: unknown, outcome: RequestOutcome) => void causes.push(outcome.cause),
    }))();
    const { call } = await serveTool(never, {}, { timeoutMs: 5, plugins: [plugin] });
    const answer = call();
    await pass(5);
    await answer;
    await turn();
    expect(causes.at(-1)).toBe('timeout');
  });
});

describe('A handler that runs on after its time', () => {
  it('is named once per member, with what to do', async () => {
    const { call, warnings } = await serveTool(never, {}, { timeoutMs: 1000 });
    for (let calls = 0; calls < 3; calls += 1) {
      const answer = call();
      await pass(1000);
      await answer;
      await pass(100);
    }
    expect(warnings).toEqual([expect.stringContaining('Pass `ctx.signal` to whatever it waits for')]);
    expect(warnings[0]).toContain('.tool');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is not named if it ends soon after its signal has aborted', async () => {
    const cleaningUp = async ({ signal }: Context) => {
      await aborted(signal).catch(() => {});
      await after(99);
      throw new Error('cleaned up');
    };
    const { call, warnings, errors } = await serveTool(cleaningUp, {}, { timeoutMs: 1000 });
    const answer = call();
    await pass(2000);
    expect(textOf(await answer)).toContain('within 1 s');
    expect({ warnings, errors }).toEqual({ warnings: [], errors: [] });
  });

  it('sends nothing more, and no error of it is reported', async () => {
    let end: (() => void) | undefined;
    const asked = jest.fn();
    const handler = async (ctx: Context) => {
      await new Promise<void>((resolve) => (end = resolve));
      ctx.progress(1);
      ctx.log.error('late');
      asked();
      await ctx.confirm('Still there?');
    };
    const onElicit = jest.fn(() => ({ action: 'accept' as const, content: { confirmed: true } }));
    const debugged: unknown[] = [];
    const logger = {
      warn() {},
      error() {},
      debug: (details: object, text: string) => void debugged.push([details, text]),
    };
    const { call, errors, client } = await serveTool(handler, { onElicit }, { timeoutMs: 1000, logger });
    const answer = call({ _meta: { progressToken: 1 } });
    await pass(1000);
    await answer;
    end?.();
    await turn();
    expect(asked).toHaveBeenCalled();
    expect(client.notifications).toEqual([]);
    expect({ errors, questions: onElicit.mock.calls }).toEqual({ errors: [], questions: [] });
    expect(debugged).toContainEqual([expect.objectContaining({ member: expect.any(String) }), expect.any(String)]);
  });
});

describe('The clock', () => {
  it.each(ERAS)('stops while the client is asked (%s)', async (era) => {
    const onElicit = async () => {
      await after(60_000);
      return { action: 'accept' as const, content: { confirmed: true } };
    };
    const handler = async (ctx: Context) => {
      await ctx.once('before', () => after(600));
      if (!(await ctx.confirm('Go on?'))) return 'no';
      await after(399);
      return 'done';
    };
    const { client } = await serveTool(handler, { era, onElicit }, { timeoutMs: 1000 });
    const answer = client.callTool('tool');
    await pass(600);
    await pass(60_000);
    await pass(399);
    expect(textOf(await answer)).toBe('done');
    expect(jest.getTimerCount()).toBe(0);
  });

  it('goes on once all of several questions are answered', async () => {
    let asked = 0;
    const onElicit = async () => {
      await after(5000 * ++asked);
      return { action: 'accept' as const, content: { confirmed: true } };
    };
    const handler = async (ctx: Context) => {
      await Promise.all([ctx.confirm('One?', { key: 'one' }), ctx.confirm('Two?', { key: 'two' })]);
      return await never();
    };
    const { call } = await serveTool(handler, { onElicit }, { timeoutMs: 1000 });
    let isAnswered = false;
    const answer = call().finally(() => (isAnswered = true));
    await pass(10_000);
    await pass(999);
    expect(isAnswered).toBe(false);
    await pass(1);
    expect(textOf(await answer)).toContain('within 1 s');
  });

  it('stops for questions of needInput', async () => {
    const onRoots = async () => {
      await after(60_000);
      return [];
    };
    const handler = (ctx: Context) =>
      ctx.answers === undefined ? needInput({ ok: { method: 'roots/list' } } as never) : 'asked';
    const { call } = await serveTool(handler, { onRoots }, { timeoutMs: 1000 });
    const answer = call();
    await pass(60_000);
    expect(textOf(await answer)).toBe('asked');
  });

  it('leaves no timer if the client cancels the request or goes', async () => {
    const { client, server } = await serveTool(never, {}, { timeoutMs: 60_000 });
    const cancelling = new AbortController();
    const answers = [client.callTool('tool', {}, { signal: cancelling.signal }), client.callTool('tool')];
    await turn();
    expect(jest.getTimerCount()).toBeGreaterThanOrEqual(2);
    cancelling.abort();
    const closed = Promise.allSettled([client.close(), server.close({ deadlineMs: 1 }), ...answers]);
    await pass(1);
    await closed;
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('The time limit of a server that mounts another one', () => {
  const inner = (timeoutMs?: number, own?: number | false) => {
    class Work {
      @Tool(own === undefined ? {} : { timeoutMs: own }) async work() {
        await after(5000);
        return 'all of it';
      }
    }
    return new McpServer({
      name: 'inner',
      version: '1',
      providers: [Work],
      logger: SILENT,
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
  };

  it.each([
    ['holds for members that have none', inner(), 'within 1 s'],
    ['gives way to that of the mounted server', inner(2000), 'within 2 s'],
    ['gives way to that of a member', inner(2000, 3000), 'within 3 s'],
    ['gives way to a member that wants none', inner(2000, false), 'all of it'],
  ])('%s', async (_what, mounted, expected) => {
    const { server } = reporting({ timeoutMs: 1000, providers: [mount(mounted)] });
    const client = await connect(server);
    const answer = client.callTool('work');
    await pass(5000);
    expect(textOf(await answer)).toContain(expected);
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('The time limit of a server', () => {
  const outcome = async (answer: Promise<object>) => {
    const settled = answer.then(
      (result) => JSON.stringify(result),
      (error: unknown) => String(error),
    );
    await pass(1000);
    return await settled;
  };

  it('holds for added members, live ones and their completions', async () => {
    const { server } = reporting({ timeoutMs: 1000 });
    server.addMembers([{ kind: 'resource', key: 'slow', options: { uri: 'added://slow' } }], { slow: never });
    const entry = { name: 'item', uriTemplate: 'live://{id}' };
    const live = { entry, run: never as () => never, complete: never };
    const find = (_kind: string, key: string) => (key.startsWith('live:') ? live : undefined);
    server.addLive({ kinds: ['template'], list: () => [live], find }, { offers: ['completions'] });
    const client = await connect(server);
    expect(await outcome(client.readResource('added://slow'))).toContain('The resource did not finish within 1 s');
    expect(await outcome(client.readResource('live://7'))).toContain('The resource did not finish within 1 s');
    const completed = client.complete({ resource: 'live://{id}' }, { name: 'id', value: '7' });
    expect(await outcome(completed)).toContain('The completion did not finish within 1 s');
  });

  it('holds for completions of a mounted server, unless they have their own', async () => {
    class Work {
      @Prompt({ input: z.object({ city: z.string(), day: z.string() }) }) ask() {
        return '';
      }

      @Completion({ for: 'ask', argument: 'city' }) cities(): Promise<string[]> {
        return never();
      }

      @Completion({ for: 'ask', argument: 'day', timeoutMs: 500 }) days(): Promise<string[]> {
        return never();
      }
    }
    const inner = new McpServer({ name: 'inner', version: '1', providers: [Work], logger: SILENT });
    const { server } = reporting({ timeoutMs: 1000, providers: [mount(inner)] });
    const client = await connect(server);
    const complete = async (name: string) => await outcome(client.complete({ prompt: 'ask' }, { name, value: '' }));
    expect(await complete('city')).toContain('The completion did not finish within 1 s');
    expect(await complete('day')).toContain('The completion did not finish within 500 ms');
  });

  it('gives a call that was cancelled while it began no timer', async () => {
    const { server, warnings } = reporting({ timeoutMs: 1000 });
    const cancelling = new AbortController();
    server.addTool({ name: 'wait', input: NoInput }, async () => {
      cancelling.abort();
      return await never();
    });
    const client = await connect(server);
    await client.callTool('wait', {}, { signal: cancelling.signal }).catch(() => {});
    await turn();
    expect(jest.getTimerCount()).toBe(0);
    await pass(2000);
    expect(warnings).toEqual([]);
  });
});
