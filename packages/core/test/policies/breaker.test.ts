// When a member is no longer called, and when it is tried again.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { type BreakerOptions, type Context, NoInput, type PolicyOptions, Tool, ToolError } from '@decorum/core';
import { connect, type TestClient } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { IsString } from 'class-validator';

import { ERAS, reporting, textOf, turn } from '../kernel/serving.js';
import { CALLS, heldServer, PAIRS, said } from './held.js';

class Id {
  @IsString() id!: string;
}

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

const bug = () => new Error('a bug');
const UNAVAILABLE = /^Unavailable: this failed too often. Try again in (\d+) s.$/;

/** A server with a tool that does what the test says. */
async function served(breaker: BreakerOptions | true, options: PolicyOptions = {}) {
  const handler = { run: (_ctx: Context): unknown => 'done' };
  class Shop {
    runs = 0;
    @Tool({ breaker, ...options }) tool(_input: NoInput, ctx: Context): unknown {
      this.runs += 1;
      return handler.run(ctx);
    }
  }
  const shop = new Shop();
  const made = reporting({ providers: [shop], errors: [[RangeError, 'too far']] });
  const client = await connect(made.server);
  const call = async (more = {}) => textOf(await client.callTool('tool', {}, more)) as string;
  const fail = async (times: number, error: () => unknown = bug) => {
    const { run } = handler;
    handler.run = () => {
      throw error();
    };
    for (let each = 0; each < times; each++) await call().catch(() => {});
    handler.run = run;
  };
  return { ...made, shop, client, handler, call, fail };
}

/** Opens the breakers of a server whose handlers the test ends. */
async function failHeld(client: TestClient, kind: string, { held }: ReturnType<typeof heldServer>, times: number) {
  for (let each = 0; each < times; each++) {
    const answer = said(CALLS[kind]!(client));
    await held.begun.reaches(each + 1);
    held.runs[each]!.reject(bug());
    await answer;
  }
}

describe('the breaker of a member', () => {
  it.each(PAIRS)('opens for a $kind that keeps failing, in $revision over $via', async ({ kind, revision, via }) => {
    jest.useRealTimers();
    const made = heldServer({ breaker: { volumeThreshold: 2 } });
    const client = await connect(made.server, { revision, via });
    await failHeld(client, kind, made, 2);
    expect(await said(CALLS[kind]!(client))).toContain('Unavailable: this failed too often. Try again in 30 s.');
    expect(made.held.begun.count).toBe(2);
    await client.close();
  });

  it('opens when more than half of at least five calls have failed', async () => {
    const { call, fail, shop } = await served(true);
    await fail(4);
    expect(await call()).toBe('done');
    expect(await call()).toBe('done');
    await fail(1);
    expect(await call()).toMatch(UNAVAILABLE);
    expect(shop.runs).toBe(7);
  });

  it('stays closed while half of the calls fail', async () => {
    const { call, fail } = await served(true);
    for (let each = 0; each < 10; each++) {
      expect(await call()).toBe('done');
      await turn();
      await fail(1);
    }
  });

  it('counts the calls of a window', async () => {
    const { call, fail } = await served({ windowMs: 1000 });
    await fail(4);
    await jest.advanceTimersByTimeAsync(1100);
    await fail(4);
    expect(await call()).toBe('done');
    await jest.advanceTimersByTimeAsync(500);
    await fail(1);
    expect(await call()).toMatch(UNAVAILABLE);
  });

  it('says when to try again', async () => {
    const { call, fail } = await served({ resetMs: 20_000 });
    await fail(5);
    await jest.advanceTimersByTimeAsync(5000);
    expect(UNAVAILABLE.exec(await call())?.[1]).toBe('15');
  });

  it('lets one call through after that, and closes if it succeeds', async () => {
    const { call, fail, handler } = await served(true);
    await fail(5);
    await jest.advanceTimersByTimeAsync(30_000);
    let end = (_text: string) => {};
    handler.run = () => new Promise<string>((resolve) => (end = resolve));
    const trial = call();
    await turn();
    expect(await call()).toMatch(UNAVAILABLE);
    end('works');
    expect(await trial).toBe('works');
    handler.run = () => 'done';
    expect(await call()).toBe('done');
    // what failed before it opened is forgotten
    await fail(1);
    expect(await call()).toBe('done');
  });

  it('opens again if that call fails', async () => {
    const { call, fail } = await served(true);
    await fail(5);
    await jest.advanceTimersByTimeAsync(30_000);
    await fail(1);
    expect(UNAVAILABLE.exec(await call())?.[1]).toBe('30');
  });

  it('lets another call through if that call is cancelled, or has not ended in time', async () => {
    const { call, fail, handler } = await served(true);
    await fail(5);
    await jest.advanceTimersByTimeAsync(30_000);
    handler.run = ({ signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const stop = new AbortController();
    const cancelled = said(call({ signal: stop.signal }));
    await turn();
    stop.abort(bug());
    await cancelled;
    await turn();
    void said(call());
    await turn();
    handler.run = () => 'done';
    expect(await call()).toMatch(UNAVAILABLE);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(await call()).toBe('done');
  });

  it('ignores calls that began before it opened', async () => {
    const { call, fail, handler } = await served(true);
    const ends: (() => void)[] = [];
    handler.run = () => new Promise<string>((resolve) => ends.push(() => resolve('late')));
    const late = call();
    await turn();
    handler.run = () => 'done';
    await fail(5);
    ends[0]!();
    expect(await late).toBe('late');
    expect(await call()).toMatch(UNAVAILABLE);
  });

  it('is not closed by calls that began before it opened, not even while it tries one', async () => {
    const { call, fail, handler, warnings } = await served(true);
    let end = () => {};
    handler.run = () => new Promise<string>((resolve) => (end = () => resolve('late')));
    const late = call();
    await turn();
    await fail(5);
    await jest.advanceTimersByTimeAsync(30_000);
    end();
    expect(await late).toBe('late');
    expect(warnings.at(-1)).toBe('Shop.tool is tried again with the next call');
  });

  it('forgets what failed before it opened once it closes', async () => {
    const { call, fail } = await served({ windowMs: 600_000, resetMs: 1000 });
    await fail(5);
    await jest.advanceTimersByTimeAsync(1000);
    expect(await call()).toBe('done');
    await fail(4);
    expect(await call()).toBe('done');
  });

  it('warns the operator of each change', async () => {
    const { call, fail, warnings } = await served({ resetMs: 1000 });
    await fail(5);
    await jest.advanceTimersByTimeAsync(1000);
    await call();
    expect(warnings).toEqual([
      'Shop.tool keeps failing. Its calls fail at once for 1000 ms',
      'Shop.tool is tried again with the next call',
      'Shop.tool works again',
    ]);
  });

  it('has no timers while it is closed', async () => {
    const { fail } = await served(true);
    await fail(4);
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('what a breaker counts', () => {
  it.each<[string, () => unknown]>([
    ['ToolErrors', () => new ToolError('no')],
    ['errors that `errors` expects', () => new RangeError('far')],
  ])('is not %s', async (_what, error) => {
    const { call, fail } = await served(true);
    await fail(20, error);
    expect(await call()).toBe('done');
  });

  it('is not a refusal of the queue of its member', async () => {
    const { call, handler } = await served({ volumeThreshold: 1 }, { concurrency: { max: 1, queue: 0 } });
    handler.run = () => new Promise(() => {});
    void said(call());
    await turn();
    for (let each = 0; each < 10; each++) expect(await call()).toMatch(/^Busy/);
  });

  it('is not a call with wrong arguments, not even as the one that is let through', async () => {
    class Shop {
      @Tool({ breaker: { volumeThreshold: 1 } }) find(_id: Id): string {
        throw bug();
      }
    }
    const { server, warnings } = reporting({ providers: [Shop] });
    const client = await connect(server);
    const call = async (args: object) => textOf(await client.callTool('find', args));
    expect(await call({ id: '7' })).toMatch(/^Internal error/);
    await jest.advanceTimersByTimeAsync(30_000);
    expect(await call({})).toMatch(/^The arguments are not valid/);
    expect(await call({ id: '7' })).toMatch(/^Internal error/);
    expect(await call({})).toMatch(UNAVAILABLE);
    expect(warnings.at(-1)).toMatch(/^Shop.find keeps failing/);
  });

  it('is not calls that are cancelled', async () => {
    const { call, handler } = await served(true);
    for (let each = 0; each < 10; each++) {
      const stop = new AbortController();
      handler.run = async () => {
        stop.abort(bug());
        await turn();
        throw bug();
      };
      await said(call({ signal: stop.signal }));
      await turn();
      await turn();
    }
    handler.run = () => 'done';
    expect(await call()).toBe('done');
  });

  it('is always calls that exceed their time limit', async () => {
    const { call, handler } = await served({ on: () => false }, { timeoutMs: 1000 });
    handler.run = () => new Promise(() => {});
    const answers = Array.from({ length: 5 }, call);
    await jest.advanceTimersByTimeAsync(1000);
    expect(await Promise.all(answers)).toEqual(Array(5).fill(expect.stringContaining('did not finish within 1 s')));
    expect(await call()).toMatch(UNAVAILABLE);
  });

  it.each(ERAS)('is not a call that waits for its client (%s)', async (era) => {
    const { server, handler, call } = await served({ volumeThreshold: 1 });
    handler.run = async (ctx) => String(await ctx.confirm('Really?'));
    const client = await connect(server, { era, onElicit: () => ({ action: 'decline' }) });
    for (let each = 0; each < 5; each++) expect(textOf(await client.callTool('tool'))).toBe('false');
    handler.run = () => 'done';
    expect(await call()).toBe('done');
  });

  it('is nothing if `on` throws: the call fails with that', async () => {
    const { call, fail, errors } = await served({
      on: () => {
        throw new Error('in `on`');
      },
    });
    await fail(10);
    expect(errors[0]).toMatchObject({ message: 'in `on`' });
    expect(await call()).toBe('done');
  });

  it('is up to `on`', async () => {
    const { call, fail } = await served({ on: (error) => error instanceof ToolError });
    await fail(20);
    expect(await call()).toBe('done');
    await fail(30, () => new ToolError('no'));
    expect(await call()).toMatch(UNAVAILABLE);
  });
});

describe('the library behind breakers', () => {
  const run = promisify(execFile);
  const program = (breaker: boolean) => `
    import { McpServer, NoInput } from '@decorum/core';
    import { createRequire } from 'node:module';
    const server = new McpServer({ name: 'test', version: '1' });
    server.addTool({ name: 'tool', input: NoInput, breaker: ${breaker} }, () => 'done');
    const loaded = Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes('opossum'));
    console.log(loaded);
  `;

  it.each([true, false])('is loaded only for a member that has one, and lets the process end (%s)', async (breaker) => {
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program(breaker)], {
      cwd: new URL('../..', import.meta.url),
    });
    expect(stdout.trim()).toBe(String(breaker));
  });
});
