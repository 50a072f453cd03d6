// What clients and handlers notice of a store that fails.
import { setTimeout as wait } from 'node:timers/promises';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { McpError, type McpServer, NoInput } from '@decorum/core';
import type { TaskStore } from '@decorum/tasks';

import { GuardedStore } from '../src/store/guarded-store.js';
import { MemoryTasks } from '../src/store/memory-tasks.js';
import { closeAll, type Condition, Disk, Process } from './processes.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Something that can't be written as JSON. */
const CIRCULAR: Record<string, unknown> = {};
CIRCULAR['self'] = CIRCULAR;

afterEach(closeAll);

describe.each(['rejects', 'hangs'] satisfies Condition[])('while a store %s', (condition) => {
  it('handlers wait for it, clients get errors in time, and each failure is reported once', async () => {
    const disk = new Disk();
    const ran: string[] = [];
    const process = await Process.start(disk, (server) => {
      server.addTool({ name: 'job', input: NoInput, task: 'required' }, async (_input, ctx) => {
        await turn();
        await turn();
        await ctx.once('one', () => {
          process.store.condition = condition;
          return ran.push('one');
        });
        ctx.progress(1, 2, 'half');
        await ctx.confirm('Go on?');
        return 'done';
      });
    });
    const id = await process.begin('job');
    while (ran.length === 0) await turn();
    const away = performance.now();
    for (let poll = 0; poll < 3; poll += 1) {
      await expect(process.get(id)).rejects.toMatchObject({
        code: -32603,
        message: expect.stringContaining('not available'),
      });
      await expect(process.begin('job')).rejects.toBeInstanceOf(McpError);
      await expect(process.cancel(id)).rejects.toBeInstanceOf(McpError);
    }
    expect(performance.now() - away).toBeLessThan(10_000);
    await wait(500);
    expect(ran).toEqual(['one']);
    process.store.condition = 'works';
    await process.reaches(id, 'input_required');
    await process.answer(id, { confirmed: true });
    await process.reaches(id, 'completed');
    expect(ran).toEqual(['one']);
    const methods = ['get', 'count', 'beat'];
    expect(process.errors).toHaveLength(methods.length);
    // what could not be stored was not acknowledged, and is not there
    expect(disk.kept.count('').all).toBe(1);
  });
});

describe('a store that comes back', () => {
  it('has forgotten who lives, so no process takes the tasks of one that comes back a little later', async () => {
    const disk = new Disk();
    const ran: string[] = [];
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const build = (name: string) => (server: McpServer) =>
      void server.addTool({ name: 'job', input: NoInput, task: 'required' }, async (_input, ctx) => {
        await ctx.once('pay', async () => {
          ran.push(name);
          await ended;
        });
        return name;
      });
    const options = { tasks: { leaseMs: 2400 } };
    const first = await Process.start(disk, build('first'), options);
    const second = await Process.start(disk, build('second'), options);
    const id = await first.begin('job');
    for (const each of [first, second]) each.store.condition = 'rejects';
    const beats = jest.spyOn(second.store, 'beat');
    while (beats.mock.calls.length < 2) await wait(5);
    for (const each of [first, second]) each.loseLease();
    const looks = jest.spyOn(second.store, 'openTasks');
    second.store.condition = 'works';
    while (looks.mock.calls.length < 2) await wait(5);
    first.store.condition = 'works';
    while (looks.mock.calls.length < 5) await wait(5);
    end();
    await first.reaches(id, 'completed');
    expect(ran).toEqual(['first']);
  });

  it('does not protect a process for longer that died meanwhile', async () => {
    const disk = new Disk();
    const build = (server: McpServer) =>
      void server.addTool({ name: 'job', input: NoInput, task: 'required' }, async (_input, ctx) => {
        await turn();
        await turn();
        return await ctx.once('pay', async () =>
          server === first.server ? await new Promise<never>(() => {}) : 'paid',
        );
      });
    const options = { tasks: { leaseMs: 600 } };
    const first: Process = await Process.start(disk, build, options);
    const second = await Process.start(disk, build, options);
    const id = await first.begin('job');
    second.store.condition = 'rejects';
    first.kill();
    const beats = jest.spyOn(second.store, 'beat');
    while (beats.mock.calls.length < 3) await wait(5);
    second.store.condition = 'works';
    expect((await second.reaches(id, 'completed')).result?.content).toEqual([{ type: 'text', text: 'paid' }]);
  });
});

describe('a store', () => {
  it('is reported again only for calls that began after it worked again', async () => {
    const fails = async () => await Promise.reject(new Error('The disk is full.'));
    const memory = new MemoryTasks();
    const reports: unknown[] = [];
    const store = new GuardedStore(memory, (error) => void reports.push(error), 60_000);
    let fail = () => {};
    const get = jest.spyOn(memory as TaskStore, 'get');
    get.mockImplementationOnce(fails);
    await expect(store.get('a')).rejects.toBeInstanceOf(McpError);
    get.mockReturnValueOnce(new Promise((_, reject) => (fail = () => reject(new Error('The disk is full.')))));
    const late = store.get('a');
    get.mockResolvedValueOnce(undefined);
    expect(await store.get('a')).toBeUndefined();
    fail();
    await expect(late).rejects.toBeInstanceOf(McpError);
    expect(reports).toHaveLength(1);
    get.mockImplementationOnce(fails);
    await expect(store.get('a')).rejects.toBeInstanceOf(McpError);
    expect(reports).toHaveLength(2);
  });

  it('may store what it seems to have rejected', async () => {
    const disk = new Disk();
    const process = await Process.start(disk, (server) => {
      server.addTool({ name: 'job', input: NoInput, task: 'required' }, async (_input, ctx) => {
        await turn();
        await turn();
        await ctx.once('one', () => 1);
        await ctx.confirm('Go on?');
        return 'done';
      });
    });
    const id = await process.begin('job');
    let writes = 0;
    process.store.onStored = () => {
      writes += 1;
      if (writes % 2 === 1) throw new Error('The connection was lost.');
    };
    const { inputRequests } = await process.reaches(id, 'input_required');
    expect(Object.keys(inputRequests ?? {})).toEqual(['question-1']);
    await process.answer(id, { confirmed: true }).catch(() => {});
    await process.reaches(id, 'completed');
    process.store.onStored = () => {
      throw new Error('The connection was lost.');
    };
    await expect(process.begin('job')).rejects.toBeInstanceOf(McpError);
    while (disk.kept.count('').all > 1) await wait(5);
  });

  it('gets neither a task nor an effect of a result that is no JSON', async () => {
    const process = await Process.start(new Disk(), (server) => {
      server.addTool({ name: 'effect', input: NoInput, task: 'required' }, async (_input, ctx) => {
        await turn();
        await turn();
        await ctx.once('one', () => CIRCULAR);
      });
      server.addTool({ name: 'error', input: NoInput, task: 'required' }, async () => {
        await turn();
        throw new McpError(7, 'No.', CIRCULAR);
      });
    });
    const effect = await process.begin('effect');
    expect((await process.reaches(effect, 'completed')).result).toMatchObject({ isError: true });
    const error = await process.begin('error');
    expect((await process.reaches(error, 'failed')).error).toEqual({ code: -32603, message: 'Internal error' });
  });

  it('takes many effects of one handler at once', async () => {
    const disk = new Disk();
    const process = await Process.start(disk, (server) => {
      server.addTool({ name: 'job', input: NoInput, task: 'required' }, async (_input, ctx) => {
        await turn();
        await turn();
        const all = await Promise.all(Array.from({ length: 150 }, (_, n) => ctx.once(`${n}`, () => n)));
        return `${all.length}`;
      });
    });
    const id = await process.begin('job');
    expect((await process.reaches(id, 'completed')).result).toMatchObject({ content: [{ text: '150' }] });
  });

  it('keeps effects that a handler runs while its task is created', async () => {
    const disk = new Disk();
    const ran: string[] = [];
    const build = (server: Process['server']) =>
      void server.addTool({ name: 'job', input: NoInput, task: 'required' }, async (_input, ctx) => {
        for (let n = 0; n < 5; n += 1) {
          await ctx.once(`${n}`, async () => {
            ran.push(`${n}`);
            await turn();
          });
        }
        await ctx.confirm('Go on?');
      });
    const first = await Process.start(disk, build);
    first.store.delay = turn;
    const id = await first.begin('job');
    await first.reaches(id, 'input_required');
    first.kill();
    const second = await Process.start(disk, build);
    await wait(100);
    expect((await second.get(id)).status).toBe('input_required');
    expect(ran).toEqual(['0', '1', '2', '3', '4']);
  });
});
