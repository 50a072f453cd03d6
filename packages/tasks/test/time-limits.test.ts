// How long the handler of a task may take.
import { setImmediate as turn } from 'node:timers/promises';

import { type Context, McpServer, NoInput } from '@decorum/core';
import { tasks } from '@decorum/tasks';
import { connect } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));

afterEach(() => void jest.useRealTimers());

const never = () => new Promise<never>(() => {});

async function pass(ms: number) {
  for (let turns = 0; turns < 5; turns += 1) await turn();
  await jest.advanceTimersByTimeAsync(ms);
  for (let turns = 0; turns < 5; turns += 1) await turn();
}

async function served(handler: (ctx: Context) => unknown, era: 'stateful' | 'stateless') {
  const warnings: string[] = [];
  const logger = { warn: (_details: object, text: string) => void warnings.push(text), error() {} };
  const server = new McpServer({ name: 'test', version: '1', logger, plugins: [tasks()], timeoutMs: 1000 });
  server.addTool({ name: 'job', input: NoInput, task: 'required' }, (_input, ctx) => handler(ctx));
  const onElicit = () => ({ action: 'accept' as const, content: { confirmed: true } });
  const client = await connect(server, { era, onElicit });
  const { taskId } = await client.tasks.start('job');
  const status = async () => (await client.tasks.get(taskId)).status;
  return { server, client, taskId, status, warnings };
}

describe.each(['stateful', 'stateless'] as const)('The time limit of a task (%s)', (era) => {
  it('ends it with an error that says how long it ran', async () => {
    let signal: AbortSignal | undefined;
    const { client, taskId, status, warnings } = await served(async (ctx) => {
      ({ signal } = ctx);
      return await never();
    }, era);
    await pass(999);
    expect(await status()).toBe('working');
    await pass(1);
    expect(['completed', 'failed']).toContain(await status());
    const result = JSON.stringify(await client.tasks.result(taskId));
    expect(result).toContain('The tool did not finish within 1 s.');
    expect(signal?.reason).toMatchObject({ name: 'TimeoutError' });
    await pass(100);
    expect(warnings).toEqual([expect.stringContaining('Pass `ctx.signal`')]);
  });

  it('stops while the task waits for an answer', async () => {
    const { client, taskId, status } = await served(async (ctx) => {
      await turn();
      await turn();
      await ctx.confirm('Go on?', { key: 'go' });
      return await never();
    }, era);
    await pass(60_000);
    expect(await status()).toBe('input_required');
    const result = client.tasks.result(taskId);
    await pass(999);
    expect(['working', 'input_required']).toContain(await status());
    await pass(5000);
    expect(JSON.stringify(await result)).toContain('within 1 s');
  });

  it('is forgotten when the task is cancelled', async () => {
    const { client, taskId, server } = await served(never, era);
    await pass(0);
    await client.tasks.cancel(taskId);
    const closed = Promise.all([client.close(), server.close({ deadlineMs: 1 })]);
    await pass(1);
    await closed;
    expect(jest.getTimerCount()).toBe(0);
  });
});
