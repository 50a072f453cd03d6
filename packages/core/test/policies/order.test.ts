// The order of everything around one call: the table in docs/guides/policies.md.
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Interceptor, McpServer, mount, NoInput, Tool } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';
import { connect, revisions } from '@decorum/testing';
import { z } from 'zod';

import { SILENT, textOf, turn } from '../kernel/serving.js';

let order: string[] = [];

const note = <T>(what: string, result: T): T => (order.push(what), result);

const Place = z.object({ city: z.string().refine(() => note('argument check', true)) });

/** A tool with all options, which fails at first. */
class Weather {
  private runs = 0;

  @Tool({
    input: Place,
    annotations: { readOnlyHint: true },
    access: () => note('access of the member', true),
    memoize: { ttl: '1m', vary: () => note('memoize', '') },
    breaker: { on: () => note('breaker', true) },
    timeoutMs: 1000,
    concurrency: 1,
    retry: { times: 1, baseMs: 1, on: () => note('retry', true) },
    maxResultChars: 40,
  })
  async forecast() {
    await note('handler', undefined);
    if (++this.runs === 1) throw new Error('failure');
    return { toJSON: () => note('conversion of the result', 'Rain. '.repeat(100)) };
  }

  @Tool({
    input: Place,
    breaker: { on: () => note('breaker', true) },
    retry: { times: 1, baseMs: 1, on: () => note('retry', true) },
    annotations: { readOnlyHint: true },
  })
  async broken() {
    await note('handler', undefined);
    throw new Error('failure');
  }
}

const around =
  (what: string): Interceptor =>
  async (_call, next) => {
    order.push(what);
    try {
      const result = await next();
      const [{ text = '' } = {}] = (result as { content: readonly { text?: string }[] }).content;
      return note(`${what} ended, ${text.length > 100 ? 'long' : 'short'} result`, result);
    } catch (error) {
      order.push(`${what} ended, error`);
      throw error;
    }
  };

const observing = definePlugin(() => ({
  name: 'observing',
  access: () => note('access of plugins', true),
  observe: async (request: { readonly method: string }, run: () => Promise<unknown>) => {
    if (request.method !== 'tools/call') return;
    order.push('observe of plugins');
    await run();
  },
  ended: (request: { readonly method: string }) =>
    void (request.method === 'tools/call' && order.push('ended of plugins')),
}));

async function serve(revision: string) {
  order = [];
  const inner = new McpServer({
    name: 'inner',
    version: '1',
    logger: SILENT,
    providers: [Weather],
    interceptors: [around('interceptor of the mounted server')],
  });
  const server = new McpServer({
    name: 'outer',
    version: '1',
    logger: SILENT,
    plugins: [observing()],
    interceptors: [around('interceptor')],
    providers: [mount(inner, { access: () => note('access of the provider', true) })],
  });
  return await connect(server, { revision });
}

const BEFORE = [
  'observe of plugins',
  'access of the provider',
  'access of the member',
  'access of plugins',
  'interceptor',
  'interceptor of the mounted server',
];

describe.each(revisions)('One call with all options (%s)', (revision) => {
  it('passes everything in the order of the documentation', async () => {
    const client = await serve(revision);
    const { content } = await client.callTool('forecast', { city: 'Oslo' });
    expect(order).toEqual([
      ...BEFORE,
      'memoize',
      'argument check',
      'handler',
      'retry',
      'argument check',
      'handler',
      'conversion of the result',
      'interceptor of the mounted server ended, long result',
      'interceptor ended, long result',
      'ended of plugins',
    ]);
    expect(textOf({ content })?.length).toBeLessThanOrEqual(40);
  });

  it('is answered by a kept result after access and interceptors', async () => {
    const client = await serve(revision);
    await client.callTool('forecast', { city: 'Oslo' });
    order = [];
    await client.callTool('forecast', { city: 'Oslo' });
    expect(order).toEqual([
      ...BEFORE,
      'memoize',
      'interceptor of the mounted server ended, long result',
      'interceptor ended, long result',
      'ended of plugins',
    ]);
  });

  it('counts once for the breaker, after its retries', async () => {
    const client = await serve(revision);
    await client.callTool('broken', { city: 'Oslo' });
    expect(order.slice(order.indexOf('interceptor of the mounted server') + 1)).toEqual([
      'argument check',
      'handler',
      'retry',
      'argument check',
      'handler',
      'breaker',
      'interceptor of the mounted server ended, error',
      'interceptor ended, error',
      'ended of plugins',
    ]);
  });
});

describe('The time of a call', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));

  afterEach(() => void jest.useRealTimers());

  it('includes waiting for a turn, which is left when it is over', async () => {
    let runs = 0;
    const server = new McpServer({ name: 'test', version: '1', logger: SILENT });
    server.addTool({ name: 'wait', input: NoInput, timeoutMs: 1000, concurrency: 1 }, async () => {
      runs += 1;
      await new Promise((resolve) => setTimeout(resolve, 5000));
    });
    const client = await connect(server);
    const answers = [client.callTool('wait'), client.callTool('wait')];
    await turn();
    await jest.advanceTimersByTimeAsync(1000);
    expect((await Promise.all(answers)).map(textOf)).toEqual([
      expect.stringContaining('within 1 s'),
      expect.stringContaining('within 1 s'),
    ]);
    const late = client.callTool('wait');
    await turn();
    await jest.advanceTimersByTimeAsync(999);
    // the first handler ignores its signal, and keeps its slot
    expect(runs).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(textOf(await late)).toContain('within 1 s');
    await jest.advanceTimersByTimeAsync(3000);
    const next = client.callTool('wait');
    await turn();
    expect(runs).toBe(2);
    await jest.advanceTimersByTimeAsync(5000);
    await next;
  });

  it('includes all attempts and the pauses between them', async () => {
    let runs = 0;
    class Failing {
      @Tool({ timeoutMs: 1000, retry: { times: 10, baseMs: 1 }, annotations: { readOnlyHint: true } })
      async fail() {
        runs += 1;
        await new Promise((resolve) => setTimeout(resolve, 400));
        throw new Error('failure');
      }
    }
    const server = new McpServer({ name: 'test', version: '1', logger: SILENT, providers: [Failing] });
    const client = await connect(server);
    const answer = client.callTool('fail');
    await turn();
    await jest.advanceTimersByTimeAsync(1000);
    expect(textOf(await answer)).toContain('within 1 s');
    await jest.advanceTimersByTimeAsync(5000);
    expect(runs).toBe(3);
  });
});
