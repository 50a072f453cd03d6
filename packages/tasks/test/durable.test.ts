// What becomes of the tasks of a durable store when processes die, stand still, or close.
import { setTimeout as wait } from 'node:timers/promises';

import { afterEach, describe, expect, it } from '@jest/globals';
import { type Context, type McpServer, NoInput } from '@decorum/core';
import { IsIn } from 'class-validator';

import { closeAll, Disk, Process, SECRET, type Seen } from './processes.js';

type Handler = (ctx: Context) => unknown;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const never = () => new Promise<never>(() => {});

/** Something that a handler waits for. */
function gate() {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

/** Adds a tool `job` that runs as a task. */
const job =
  (handler: Handler, options: object = {}) =>
  (server: McpServer) =>
    void server.addTool({ name: 'job', input: NoInput, task: 'required', ...options }, async (_input, ctx) => {
      // later than the first turn, in which questions belong to the request
      await turn();
      await turn();
      return await handler(ctx);
    });

const textOf = ({ result }: Seen) => (result?.content[0] as { text: string } | undefined)?.text;
const questionsOf = ({ inputRequests = {} }: Seen) =>
  Object.entries(inputRequests).map(([key, { params }]) => `${key}: ${params['message']}`);

/** Resolves once something is so. */
async function until(isSo: () => unknown): Promise<void> {
  while (!isSo()) await wait(5);
}

afterEach(closeAll);

describe('a task whose process has died', () => {
  it('goes on in the next one: effects, answers and sleeps are not repeated', async () => {
    const disk = new Disk();
    const ran: string[] = [];
    const end = gate();
    const handler: Handler = async (ctx) => {
      // the handler may change what it gets, but not what is recorded
      const list = await ctx.once('one', (key) => [ran.push(`one ${key}`)]);
      ran.push(`${list}`);
      list.push(0);
      ran.push(`${await ctx.confirm('Go on?')}`);
      const timer = setTimeout(() => ran.push('slept'), 90);
      await ctx.sleep('rest', 100);
      clearTimeout(timer);
      await ctx.once('two', (key) => void ran.push(`two ${key}`));
      await end.opened;
      return 'done';
    };
    const first = await Process.start(disk, job(handler));
    const id = await first.begin('job');
    await first.reaches(id, 'input_required');
    first.kill();
    const second = await Process.start(disk, job(handler));
    await until(() => ran.length === 3);
    await second.answer(id, { confirmed: true });
    await until(() => ran.length === 6);
    second.kill();
    end.open();
    const third = await Process.start(disk, job(handler));
    expect(textOf(await third.reaches(id, 'completed'))).toBe('done');
    const keyOf = (name: string) => expect.stringMatching(new RegExp(`^${name} [\\w-]{43}$`));
    expect(ran).toEqual([keyOf('one'), '1', '1', 'true', 'slept', keyOf('two'), '1', 'true']);
    expect(new Set(ran.map((each) => each.split(' ')[1])).size).toBe(3);
  });

  it('is checked again: its arguments, the access of its caller, and whether a tool is there', async () => {
    class One {
      @IsIn(['a', 'b']) letter!: string;
    }
    class Two {
      @IsIn(['b']) letter!: string;
    }
    const add = (server: McpServer, input: typeof One | typeof Two, access: () => boolean) => {
      server.addTool({ name: 'typed', input, task: 'required' }, never);
      server.addTool({ name: 'guarded', input: NoInput, access, task: 'required' }, never);
    };
    const disk = new Disk();
    const first = await Process.start(disk, (server) => {
      add(server, One, () => true);
      job(never)(server);
    });
    const [typed, guarded, gone] = [
      await first.begin('typed', { letter: 'a' }),
      await first.begin('guarded'),
      await first.begin('job'),
    ];
    first.kill();
    let isAdmitted = false;
    const build = (server: McpServer) => add(server, Two, () => isAdmitted);
    const begun = performance.now();
    const second = await Process.start(disk, build, { tasks: { orphanMs: 400 } });
    const { result } = await second.reaches(typed, 'completed');
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('letter') }] });
    // who may not call the tool doesn't see its tasks
    await expect(second.get(guarded)).rejects.toThrow('There is no such task');
    isAdmitted = true;
    const { error } = await second.reaches(guarded, 'failed');
    expect(error).toEqual({ code: -32602, message: 'Unknown tool: guarded' });
    expect(await second.reaches(gone, 'failed')).toMatchObject({
      error: { code: -32603, message: 'The tool of the task does not exist any more.' },
    });
    // until then, it is for the processes of a deployment, which may have the tool
    expect(performance.now() - begun).toBeGreaterThan(390);
  });

  it('is left to another process that has its tool', async () => {
    const disk = new Disk();
    const first = await Process.start(disk, job(never));
    const id = await first.begin('job');
    first.kill();
    const without = await Process.start(disk, () => {}, { tasks: { orphanMs: 60_000 } });
    await wait(200);
    expect((await without.get(id)).status).toBe('working');
    await Process.start(
      disk,
      job(() => 'done'),
    );
    await without.reaches(id, 'completed');
  });

  it('fails once it has ended three processes, unless it waited', async () => {
    const disk = new Disk();
    const rests: Handler[] = [never, (ctx) => ctx.confirm('Go on?'), (ctx) => ctx.sleep('rest', 60_000)];
    const build = (server: McpServer) => {
      for (const [n, handler] of rests.entries()) job(handler, { name: `job-${n}` })(server);
    };
    let process = await Process.start(disk, build);
    const writes: string[] = [];
    process.store.onStored = ({ id }) => void writes.push(id);
    const ids = await Promise.all(rests.map((_, n) => process.begin(`job-${n}`)));
    // the beginning of its sleep is the second
    await until(() => writes.filter((id) => id === ids[2]).length === 2);
    for (const status of ['working', 'working', 'failed']) {
      await process.reaches(ids[1] as string, 'input_required');
      process.kill();
      process = await Process.start(disk, build);
      expect((await process.get(ids[0] as string)).status).toBe(status);
    }
    expect((await process.get(ids[0] as string)).statusMessage).toBe('The task ended its process several times.');
    expect(await Promise.all(ids.map(async (id) => (await process.get(id)).status))).toEqual([
      'failed',
      'input_required',
      'working',
    ]);
  });

  it('is asked under a new key what its handler asks in place of something else', async () => {
    const disk = new Disk();
    const texts: unknown[] = [];
    const asking = (question: string): Handler => {
      return async (ctx) => {
        texts.push(await ctx.confirm(question));
        texts.push(await ctx.confirm('Really?', { key: 'sure' }));
        return 'done';
      };
    };
    const first = await Process.start(disk, job(asking('Red?')));
    const id = await first.begin('job');
    expect(questionsOf(await first.reaches(id, 'input_required'))).toEqual(['question-1: Red?']);
    first.kill();
    const second = await Process.start(disk, job(asking('Blue?')));
    await second.sees(id, (seen) => questionsOf(seen).join() === 'question-1~2: Blue?');
    await second.answer(id, { confirmed: true });
    await second.sees(id, (seen) => questionsOf(seen).join() === 'sure: Really?');
    second.kill();
    const third = await Process.start(disk, job(asking('Red?')));
    await third.sees(id, (seen) => questionsOf(seen).includes('question-1~3: Red?'));
    expect(await third.answer(id, { confirmed: true })).toEqual(['sure', 'question-1~3']);
    await third.reaches(id, 'completed');
    expect(texts).toEqual([true, true, true]);
  });

  it('is opened with an old secret, and left alone by those who lack it', async () => {
    const disk = new Disk();
    const handler: Handler = async (ctx) => `${await ctx.confirm('Go on?')}`;
    const first = await Process.start(disk, job(handler));
    const ids = [await first.begin('job'), await first.begin('job')];
    for (const id of ids) await first.reaches(id, 'input_required');
    first.kill();
    const other = 'another secret that is long enough, too';
    const stranger = await Process.start(disk, job(handler), { secret: other });
    await expect(stranger.get(ids[0] as string)).rejects.toThrow('There is no such task');
    await until(() => stranger.errors.length >= ids.length);
    await wait(50);
    // once for each, however often it looks
    expect(stranger.errors.map(String)).toEqual(ids.map(() => expect.stringContaining('sealed with another secret')));
    await stranger.server.close();
    const rotated = await Process.start(disk, job(handler), { secret: [other, SECRET] });
    for (const id of ids) {
      await rotated.reaches(id, 'input_required');
      await rotated.answer(id, { confirmed: true });
      expect(textOf(await rotated.reaches(id, 'completed'))).toBe('true');
    }
  });

  it('does not depend on the expiry of request states', async () => {
    const disk = new Disk();
    const handler: Handler = async (ctx) => `${await ctx.confirm('Go on?')}`;
    const options = { requestStateTtlMs: 1000 };
    const first = await Process.start(disk, job(handler), options);
    const id = await first.begin('job');
    first.kill();
    await wait(1100);
    const second = await Process.start(disk, job(handler), options);
    await second.reaches(id, 'input_required');
    await second.answer(id, { confirmed: true });
    await second.reaches(id, 'completed');
  });
});

describe('a process that stands still for longer than its lease', () => {
  it('records nothing more: its signal is aborted, and `once` throws', async () => {
    const disk = new Disk();
    const ran: string[] = [];
    const [woken, free] = [gate(), gate()];
    const told: unknown[] = [];
    const first = await Process.start(
      disk,
      job(async (ctx) => {
        await woken.opened;
        await ctx.once('effect', () => ran.push('first')).catch((error: Error) => told.push(error.name));
        told.push(ctx.signal.aborted);
        return 'first';
      }),
    );
    const id = await first.begin('job');
    first.freeze();
    const second = await Process.start(
      disk,
      job(async (ctx) => {
        await ctx.once('effect', () => ran.push('second'));
        await free.opened;
        return 'second';
      }),
    );
    await until(() => ran.length > 0);
    first.store.condition = 'works';
    woken.open();
    await until(() => told.length === 2);
    expect(told).toEqual(['LostTask', true]);
    free.open();
    expect(textOf(await second.reaches(id, 'completed'))).toBe('second');
    expect(ran).toEqual(['second']);
  });
});

describe('a process whose lease the store has lost', () => {
  it('can not record what it does, although it goes on', async () => {
    const disk = new Disk();
    const go = gate();
    const told: unknown[] = [];
    const build = (server: McpServer) =>
      job(async (ctx) => {
        if (told.push('begun') > 1) return await never();
        await go.opened;
        await ctx.once('effect', () => told.push('ran')).catch((error: Error) => told.push(error.name));
        told.push(ctx.signal.aborted);
        return 'first';
      })(server);
    // it looks every 20 seconds
    const first = await Process.start(disk, build, { tasks: { leaseMs: 60_000 } });
    const id = await first.begin('job');
    await until(() => told.length > 0);
    first.loseLease();
    const second = await Process.start(disk, build);
    await until(() => told.length > 1);
    go.open();
    await until(() => told.length > 4);
    expect(told).toEqual(['begun', 'begun', 'ran', 'LostTask', true]);
    expect((await second.get(id)).status).toBe('working');
  });
});

describe('a task with a time to live', () => {
  it('stops its handler when it expires', async () => {
    const disk = new Disk();
    const stopped: boolean[] = [];
    const handler: Handler = async (ctx) => {
      await ctx.confirm('Go on?').catch(() => stopped.push(ctx.signal.aborted));
    };
    const process = await Process.start(disk, job(handler), { tasks: { ttlMs: 200, maxTtlMs: 200 } });
    const id = await process.begin('job');
    await until(() => stopped.length > 0);
    expect(stopped).toEqual([true]);
    await expect(process.get(id)).rejects.toThrow('There is no such task, or it has expired.');
  });
});

describe('a process that closes', () => {
  it('waits for what computes, and stops at once what waits or sleeps, without an end for it', async () => {
    const disk = new Disk();
    const working = gate();
    const reached: string[] = [];
    const build = (server: McpServer) => {
      job(
        async (ctx) => {
          reached.push('computes');
          await working.opened;
          // what begins to wait while the server closes is stopped, too
          if (ctx.requestId === last) await ctx.confirm('More?');
          return 'done';
        },
        { name: 'computes' },
      )(server);
      job((ctx) => ctx.confirm('Go on?'), { name: 'asks' })(server);
      job(
        async (ctx) => {
          reached.push('sleeps');
          await ctx.sleep('rest', 60_000);
        },
        { name: 'sleeps' },
      )(server);
    };
    const first = await Process.start(disk, build);
    const [computes, asks, sleeps] = [
      await first.begin('computes'),
      await first.begin('asks'),
      await first.begin('sleeps'),
    ];
    const last = await first.begin('computes');
    await first.reaches(asks, 'input_required');
    await until(() => reached.length === 3);
    const begun = performance.now();
    const closed = first.server.close({ deadlineMs: 30_000 });
    const open = () => disk.kept.openTasks().flatMap(({ id, holder }) => (holder === undefined ? [id] : []));
    await until(() => open().length === 2);
    expect(open().toSorted()).toEqual([asks, sleeps].toSorted());
    working.open();
    await closed;
    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(open().toSorted()).toEqual([asks, sleeps, last].toSorted());
    const second = await Process.start(disk, build);
    expect(textOf(await second.get(computes))).toBe('done');
    await second.reaches(asks, 'input_required');
    await second.reaches(last, 'input_required');
    expect((await second.get(sleeps)).status).toBe('working');
    expect(first.errors).toEqual([]);
  });

  it('gives back at the deadline what still computes', async () => {
    const disk = new Disk();
    const build = job(never);
    const first = await Process.start(disk, build);
    const id = await first.begin('job');
    for (let n = 0; n < 4; n += 1) {
      const next = await Process.start(disk, build);
      await first.server.close({ deadlineMs: 10 });
      expect((await next.get(id)).status).toBe('working');
      await next.server.close({ deadlineMs: 10 });
    }
    // a graceful end is no crash
    const last = await Process.start(disk, build);
    expect((await last.get(id)).status).toBe('working');
  });
});
