// How many calls of a member run at once, and who waits.
import { Readable } from 'node:stream';

import { type ConcurrencyOptions, type Context, mount, McpServer, NoInput, type Principal, Tool } from '@decorum/core';
import { connect, type ConnectOptions, type TestClient } from '@decorum/testing';
import { afterEach, describe, expect, it, jest } from '@jest/globals';

import { reporting, SILENT, textOf, turn } from '../kernel/serving.js';
import { CALLS, Counter, type Held, heldServer, KINDS, PAIRS, said } from './held.js';

afterEach(() => void jest.useRealTimers());

const principal = (subject: string): Principal => ({ subject });

/** A client of a server whose members have this option. */
async function served(concurrency: number | ConcurrencyOptions, options: ConnectOptions = {}) {
  const { server, held } = heldServer({ concurrency });
  return { server, held, client: await connect(server, options) };
}

const call = async (client: TestClient, options = {}) => textOf(await client.callTool('tool', {}, options)) as string;

/** Starts calls without waiting for their answers. */
const several = async (count: number, client: TestClient, held: Held) => {
  const answers: Promise<string>[] = [];
  for (let each = 0; each < count; each++) {
    const before = held.arrived.count;
    answers.push(said(call(client)));
    await held.arrived.reaches(before + 1);
  }
  return answers;
};

const subjectsOf = (held: Held) => held.runs.map(({ ctx }) => ctx.principal?.subject);

describe('the concurrency of a member', () => {
  it.each(PAIRS)('lets further calls of a $kind wait, in $revision over $via', async ({ kind, revision, via }) => {
    const { held, client } = await served(1, { revision, via });
    const answers = [CALLS[kind]!(client), CALLS[kind]!(client)];
    await held.arrived.reaches(2);
    expect(held.begun.count).toBe(1);
    held.end(0, 'first');
    await held.begun.reaches(2);
    held.end(1, 'second');
    const texts = (await Promise.all(answers)).join();
    expect(texts).toContain('first');
    expect(texts).toContain('second');
    await client.close();
  });

  it.each(KINDS)('refuses calls of a %s that find the queue full', async (kind) => {
    const { held, client } = await served({ max: 1, queue: 1 });
    const answers = [0, 1, 2].map(() => said(CALLS[kind]!(client)));
    await held.arrived.reaches(3);
    expect(await answers[2]).toContain('Busy: too many calls are running or waiting. Try again later.');
    held.end(0);
    await held.begun.reaches(2);
    held.end(1);
    expect((await Promise.all(answers.slice(0, 2))).join()).not.toContain('Busy');
  });

  it('refuses calls as results of tools, whose cause is a limit', async () => {
    const { held, client } = await served({ max: 1, queue: 0 });
    await several(1, client, held);
    expect(await client.callTool('tool')).toMatchObject({ isError: true });
  });

  it('lets 100 calls wait unless it says otherwise', async () => {
    const { server, held, client } = await served(1);
    const other = await connect(server);
    const answers = [...(await several(51, client, held)), ...(await several(51, other, held))];
    expect(await answers[101]).toMatch(/^Busy/);
    for (let each = 0; each < 101; each++) {
      await held.begun.reaches(each + 1);
      held.end(each);
    }
    expect(new Set(await Promise.all(answers.slice(0, 101)))).toEqual(new Set(['done']));
  });

  it('runs waiting calls in their order', async () => {
    const { held, client } = await served(1);
    const order: number[] = [];
    const answers = (await several(3, client, held)).map((answer, at) => answer.then(() => order.push(at)));
    for (const at of [0, 1, 2]) {
      await held.begun.reaches(at + 1);
      held.end(at);
    }
    await Promise.all(answers);
    expect(order).toEqual([0, 1, 2]);
  });

  it('is that of each member', async () => {
    const { held, client } = await served(1);
    void CALLS['tool']!(client);
    void CALLS['prompt']!(client);
    await held.begun.reaches(2);
  });

  it('is shared by a server and those that mount it', async () => {
    const { server, held } = heldServer({ concurrency: 1 });
    const outer = new McpServer({
      name: 'outer',
      version: '1',
      logger: SILENT,
      providers: [mount(server, { prefix: 'in' })],
    });
    const [inside, outside] = [await connect(server), await connect(outer)];
    void said(call(inside));
    await held.begun.reaches(1);
    const answer = outside.callTool('in_tool');
    await outside.request('ping');
    expect(held.begun.count).toBe(1);
    held.end(0);
    await held.begun.reaches(2);
    held.end(1);
    expect(textOf(await answer)).toBe('done');
  });
});

describe('a slot', () => {
  it('is freed when a handler fails, before or after it returns a promise', async () => {
    let runs = 0;
    class Shop {
      @Tool({ concurrency: { max: 1, queue: 0 } }) sync() {
        throw new Error(`bug ${++runs}`);
      }
      @Tool({ concurrency: { max: 1, queue: 0 } }) async later() {
        await turn();
        throw new Error(`bug ${++runs}`);
      }
    }
    const client = await connect(new McpServer({ name: 'test', version: '1', logger: SILENT, providers: [Shop] }));
    for (const name of ['sync', 'sync', 'later', 'later'])
      expect(textOf(await client.callTool(name))).not.toMatch(/^Busy/);
    expect(runs).toBe(4);
  });

  it('is kept by a handler that goes on after its call was cancelled', async () => {
    const { held, client } = await served({ max: 1, queue: 0 });
    const stop = new AbortController();
    const cancelled = said(call(client, { signal: stop.signal }));
    await held.begun.reaches(1);
    stop.abort(new Error('enough'));
    expect(await cancelled).toBe('enough');
    expect(await call(client)).toMatch(/^Busy/);
    held.end(0);
    await turn();
    void call(client);
    await held.begun.reaches(2);
  });

  it('is held by a generator until it is read', async () => {
    const { held, client } = await serveGenerator();
    const first = said(call(client));
    await held.begun.reaches(1);
    expect(await said(call(client))).toMatch(/^Busy/);
    held.end(0);
    expect(await first).toBe('read');
    void call(client);
    await held.begun.reaches(2);
  });

  it.each<[string, (onEnd: () => void) => unknown]>([
    ['a response', (cancel) => new Response(new ReadableStream({ cancel }))],
    ['a stream', (cancel) => new ReadableStream({ cancel })],
    ['a stream of Node', (onEnd) => new Readable({ read() {}, destroy: (error, done) => (onEnd(), done(error)) })],
  ])('is left by %s that is silent when its time is over', async (_what, streamOf) => {
    const ended = new Counter();
    const begun = new Counter();
    const { server } = reporting();
    const options = { name: 'tool', input: NoInput, concurrency: { max: 1, queue: 0 }, timeoutMs: 1000 };
    server.addTool(options, () => (begun.add(), streamOf(() => ended.add())));
    const client = await connect(server);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    for (const run of [1, 2]) {
      const answer = client.callTool('tool');
      await begun.reaches(run);
      await turn();
      await jest.advanceTimersByTimeAsync(1000);
      expect(JSON.stringify(await answer)).toContain('did not finish within 1 s');
      await ended.reaches(run);
      await turn();
    }
  });

  it('is held in a session while the client is asked, and left between the rounds of stateless calls', async () => {
    const answers: string[] = [];
    class Shop {
      @Tool({ name: 'tool', concurrency: { max: 1, queue: 0 } }) async ask(_input: NoInput, ctx: Context) {
        return String(await ctx.confirm('Really?'));
      }
    }
    for (const era of ['stateful', 'stateless'] as const) {
      const server = new McpServer({ name: 'test', version: '1', logger: SILENT, providers: [Shop] });
      const other = await connect(server, {
        era,
        onElicit: () => ({ action: 'accept', content: { confirmed: true } }),
      });
      const client = await connect(server, {
        era,
        onElicit: async () => {
          answers.push(await call(other));
          return { action: 'decline' };
        },
      });
      expect(await call(client)).toBe('false');
    }
    expect(answers).toEqual([expect.stringMatching(/^Busy/), expect.not.stringMatching(/^Busy/)]);
  });
});

/** A tool whose generator waits for the test. */
async function serveGenerator() {
  const { held } = heldServer({});
  class Shop {
    @Tool({ concurrency: { max: 1, queue: 0 } }) async *tool(_input: NoInput, ctx: Context) {
      yield 1;
      await held.hold(ctx);
      return 'read';
    }
  }
  const server = new McpServer({ name: 'test', version: '1', logger: SILENT, providers: [Shop] });
  return { held, client: await connect(server) };
}

describe('a waiting call', () => {
  it.each(['stateful', 'stateless'] as const)('leaves the queue when it is cancelled (%s)', async (era) => {
    const { held, client } = await served({ max: 1, queue: 1 }, { era, via: 'http' });
    const [first] = await several(1, client, held);
    const stop = new AbortController();
    const second = said(call(client, { signal: stop.signal }));
    await held.arrived.reaches(2);
    stop.abort(new Error('enough'));
    expect(await second).toBe('enough');
    await client.listTools();
    const [third] = await several(1, client, held);
    held.end(0);
    await held.begun.reaches(2);
    held.end(1);
    expect([await first, await third]).toEqual(['done', 'done']);
    expect(held.begun.count).toBe(2);
    await client.close();
  });

  it('leaves the queue when its time is over, and does not run later', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const { server, held } = heldServer({ concurrency: { max: 1, queue: 1 }, timeoutMs: 1000 });
      const client = await connect(server);
      const answers = await several(2, client, held);
      await jest.advanceTimersByTimeAsync(1000);
      const late = 'The tool did not finish within 1 s.';
      expect(await Promise.all(answers)).toEqual([
        `${late} Try again later, or ask for less.`,
        `${late} It was still waiting for its turn, and has done nothing. Try again later.`,
      ]);
      // the first handler goes on, and keeps its slot
      const [third, fourth] = await several(2, client, held);
      expect(await fourth).toMatch(/^Busy/);
      held.end(0);
      await held.begun.reaches(2);
      held.end(1);
      expect(await third).toBe('done');
      expect(held.begun.count).toBe(2);
    } finally {
      jest.useRealTimers();
    }
  });

  it('has done something if it waits once more, after a question', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const { server, held } = heldServer({});
      server.addTool({ name: 'ask', concurrency: 1, timeoutMs: 1000 }, async (_input, ctx) => {
        await ctx.confirm('Really?');
        return await held.hold(ctx);
      });
      const confirmed = { action: 'accept', content: { confirmed: true } } as const;
      const other = await connect(server, { onElicit: () => confirmed });
      const onElicit = async () => {
        void other.callTool('ask');
        await held.begun.reaches(1);
        return confirmed;
      };
      const client = await connect(server, { era: 'stateless', onElicit });
      const answer = client.callTool('ask');
      await held.begun.reaches(1);
      await turn();
      await jest.advanceTimersByTimeAsync(1000);
      expect(textOf(await answer)).toMatch(/It may have done a part of its work/);
      held.end(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('leaves the queue when its session ends', async () => {
    const { server, held, client } = await served({ max: 1, queue: 1 });
    const other = await connect(server);
    await several(1, client, held);
    void said(call(other));
    await held.arrived.reaches(2);
    await other.close();
    await turn();
    void said(call(client));
    await held.arrived.reaches(3);
    held.end(0);
    await held.begun.reaches(2);
    expect(held.runs[1]?.ctx.sessionId).toBe(held.runs[0]?.ctx.sessionId);
  });

  it('may be cancelled thousands of times without anything left of it', async () => {
    const { held, client } = await served({ max: 1, queue: 1 });
    await several(1, client, held);
    for (let round = 0; round < 2000; round++) {
      const stop = new AbortController();
      const waiting = said(call(client, { signal: stop.signal }));
      await held.arrived.reaches(round + 2);
      stop.abort(new Error('enough'));
      expect(await waiting).toBe('enough');
    }
    held.end(0);
    await turn();
    expect(held.begun.count).toBe(1);
  });
});

describe('callers', () => {
  it('have slots of their own, by user', async () => {
    const { server, held } = heldServer({ concurrency: { perCaller: 1 } });
    const [ann, bob] = [
      await connect(server, { principal: principal('ann') }),
      await connect(server, { principal: principal('bob') }),
    ];
    await several(2, ann, held);
    await several(2, bob, held);
    expect(subjectsOf(held)).toEqual(['ann', 'bob']);
    held.end(1);
    await held.begun.reaches(3);
    expect(subjectsOf(held)).toEqual(['ann', 'bob', 'bob']);
  });

  it('have slots of their own, by session if they are anonymous', async () => {
    const { server, held } = heldServer({ concurrency: { perCaller: 1, queue: 0 } });
    const [one, two] = [await connect(server, { via: 'http' }), await connect(server, { via: 'http' })];
    await several(1, one, held);
    await several(1, two, held);
    expect(held.begun.count).toBe(2);
    expect(await call(one)).toMatch(/^Busy/);
    for (const client of [one, two]) await client.close();
  });

  it('take turns, whatever the order in which their calls came', async () => {
    const { server, held } = heldServer({ concurrency: 1 });
    const [ann, bob] = [
      await connect(server, { principal: principal('ann') }),
      await connect(server, { principal: principal('bob') }),
    ];
    await several(4, ann, held);
    await several(2, bob, held);
    for (let at = 0; at < 5; at++) {
      held.end(at);
      await held.begun.reaches(at + 2);
    }
    expect(subjectsOf(held)).toEqual(['ann', 'ann', 'bob', 'ann', 'bob', 'ann']);
  });

  it('give up places in a full queue to those who have fewer', async () => {
    const { server, held } = heldServer({ concurrency: { max: 1, queue: 4 } });
    const [ann, bob] = [
      await connect(server, { principal: principal('ann') }),
      await connect(server, { principal: principal('bob') }),
    ];
    const anns = await several(5, ann, held);
    const bobs = await several(3, bob, held);
    expect([await anns[4], await anns[3], await bobs[2]]).toEqual(Array(3).fill(expect.stringMatching(/^Busy/)));
    for (let at = 0; at < 5; at++) {
      await held.begun.reaches(at + 1);
      held.end(at);
    }
    expect(await Promise.all([...anns.slice(0, 3), ...bobs.slice(0, 2)])).toEqual(Array(5).fill('done'));
  });
});
