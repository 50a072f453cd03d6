import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { type Context, McpServer, NoInput } from '@decorum/core';
import { connect } from '@decorum/testing';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';

import { SILENT, turn } from '../kernel/serving.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));

afterEach(() => void jest.useRealTimers());

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const CALLS = 10_000;
/** The default of `maxOpenCalls`: calls in flight would soon be too many if those without an end counted. */
const AT_ONCE = 100;

it('10,000 calls that never end are all answered, and leave neither timers nor contexts', async () => {
  const contexts: WeakRef<Context>[] = [];
  const server = new McpServer({ name: 'test', version: '1', logger: SILENT, timeoutMs: 1000 });
  server.addTool({ name: 'wait', input: NoInput }, (_input, ctx) => {
    contexts.push(new WeakRef(ctx));
    // every other handler listens
    if (contexts.length % 2 === 0) ctx.signal.addEventListener('abort', () => contexts.length);
    return new Promise<never>(() => {});
  });
  const client = await connect(server);
  const answers = new Map<string, number>();
  for (let calls = 0; calls < CALLS; calls += AT_ONCE) {
    const running = Array.from({ length: AT_ONCE }, async () => await client.request('tools/call', { name: 'wait' }));
    await turn();
    await jest.advanceTimersByTimeAsync(1000);
    for (const result of await Promise.all(running)) {
      const text = JSON.stringify(result);
      answers.set(text, (answers.get(text) ?? 0) + 1);
    }
  }
  expect([...answers]).toEqual([[expect.stringContaining('did not finish within 1 s.'), CALLS]]);
  await jest.advanceTimersByTimeAsync(100);
  const timers = jest.getTimerCount();
  await turn();
  collectGarbage();
  const alive = contexts.filter((each) => each.deref() !== undefined);
  expect({ calls: contexts.length, timers, alive: alive.length <= 1 }).toEqual({
    calls: CALLS,
    timers: 0,
    alive: true,
  });
  // nothing is left to wait for
  await server.close({ deadlineMs: 60_000 });
});
