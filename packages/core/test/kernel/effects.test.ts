import { setTimeout as wait } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import {
  Completion,
  type CompletionContext,
  type Context,
  type Extension,
  InputSignal,
  type JsonObject,
  McpServer,
  needInput,
  NoInput,
  Prompt,
} from '@decorum/core';
import { connect, rehearse, type Rehearsal } from '@decorum/testing';

import { reporting, said } from './serving.js';

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const ACCEPTED = { action: 'accept', content: { name: 'Ada' } } as const;

type Record = (effect: string) => void;
type Handler = (ctx: Context, record: Record) => unknown;

const ask = (ctx: Context) => ctx.elicit(NAME, { message: 'Who?' });

/** A server with one tool. */
function serverOf(handler: Handler, record: Record = () => {}): McpServer {
  const { server } = reporting({ secret: 'x'.repeat(32) });
  server.addTool({ name: 'tool', input: NoInput }, (_input, ctx) => handler(ctx, record));
  return server;
}

/** Runs a tool in a session and by replay. */
const both = async (handler: Handler) => {
  const server = ({ record }: Rehearsal) => serverOf(handler, record);
  const { session, replay } = await rehearse({ server, tool: 'tool', onElicit: () => ACCEPTED });
  expect(replay.result.content).toEqual(session.result.content);
  expect(replay.effects).toEqual(session.effects);
  return replay;
};

describe('an effect of ctx.once', () => {
  it('that runs in parallel with a question is awaited and remembered', async () => {
    const { effects, result } = await both(async (ctx, record) => {
      const hold = async () => {
        await wait(20);
        record('hold');
        return 'held';
      };
      const [held, { action }] = await Promise.all([ctx.once('hold', hold), ask(ctx)]);
      return `${held} ${action}`;
    });
    expect(effects).toEqual(['hold']);
    expect(result.content).toEqual(said('held accept'));
  });

  it('that starts another one in parallel with a question is not repeated', async () => {
    const { effects } = await both(async (ctx, record) => {
      const order = async () => {
        await wait(5);
        record('paid');
        return await ctx.once('receipt', () => 'r1');
      };
      const [receipt] = await Promise.all([ctx.once('order', order), ask(ctx)]);
      return receipt;
    });
    expect(effects).toEqual(['paid']);
  });

  it('that fails at first in parallel with a question may be retried', async () => {
    let tries = 0;
    const fetched = async () => {
      await wait(1);
      tries += 1;
      if (tries < 3) throw new Error('no connection');
      return 'fetched';
    };
    const { result } = await both(async (ctx) => {
      const retry = async (): Promise<string> => await ctx.once('fetch', fetched).catch(retry);
      tries = 0;
      const [text] = await Promise.all([retry(), ask(ctx)]);
      return text;
    });
    expect(result.content).toEqual(said('fetched'));
  });

  it('that starts after the question was sent runs in the next round', async () => {
    let signals = 0;
    const { effects } = await both(async (ctx, record) => {
      const later = async () => {
        await wait(20);
        try {
          await ctx.once('mail', () => record('mail'));
        } catch (error) {
          if (error instanceof InputSignal) signals += 1;
          throw error;
        }
      };
      await Promise.all([later(), ask(ctx)]);
      return 'done';
    });
    expect(effects).toEqual(['mail']);
    expect(signals).toBe(1);
  });

  it('runs once for each key, sequentially or concurrently', async () => {
    const { effects, result } = await both(async (ctx, record) => {
      const count = (key: string) =>
        ctx.once(key, async () => {
          record(key);
          await wait(1);
          return key;
        });
      const results = [await count('a'), await count('a'), ...(await Promise.all([count('b'), count('b')]))];
      await ask(ctx);
      return results.join();
    });
    expect(effects).toEqual(['a', 'b']);
    expect(result.content).toEqual(said('a,a,b,b'));
  });

  it('that fails is not remembered, even if it fails synchronously', async () => {
    const { effects } = await both(async (ctx, record) => {
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        const effect = () => {
          record(`attempt ${attempt}`);
          if (attempt === 1) throw new Error('not yet');
        };
        await ctx.once('flaky', effect).catch(() => {});
      }
      return 'done';
    });
    expect(effects).toEqual(['attempt 1', 'attempt 2']);
  });

  it('runs if no client can be asked', async () => {
    const done: string[] = [];
    const effect = () => void done.push('done');
    class Greetings {
      @Prompt({ input: NAME }) greeting() {}

      @Completion({ for: 'greeting', argument: 'name' }) async names(_value: string, ctx: CompletionContext) {
        await ctx.once('a', effect);
        await ctx.once('a', effect);
        return ['Ada'];
      }
    }
    const run = async (_params: JsonObject, ctx: Context) => (await ctx.once('b', effect), {});
    const extension: Extension = { id: 'com.example/once', methods: { 'example/once': run } };
    const server = new McpServer({ name: 'test', version: '1', providers: [Greetings], extensions: [extension] });
    const capabilities = { extensions: { 'com.example/once': {} } };
    const client = await connect(server, { era: 'stateless', capabilities });
    const ref = { type: 'ref/prompt', name: 'greeting' };
    const { completion } = await client.request('completion/complete', { ref, argument: { name: 'name', value: '' } });
    expect(completion).toMatchObject({ values: ['Ada'] });
    await client.request('example/once');
    expect(done).toEqual(['done', 'done']);
  });
});

describe('the result of ctx.once', () => {
  class Hold {
    readonly until = new Date(0);
    readonly seats = new Set(['1A']);
    readonly prices = new Map([['EUR', 9]]);
    cancel() {}
  }

  /** The values that a handler gets: one in each run, and in the last run one before and one after the question. */
  const results = async (effect: () => unknown) => {
    const seen: unknown[] = [];
    await both(async (ctx) => {
      seen.push(await ctx.once('key', effect));
      await ask(ctx);
      seen.push(await ctx.once('key', effect));
      return 'done';
    });
    // two in the session, one in the round that asks, and two in the last round
    expect(seen).toHaveLength(5);
    return seen;
  };

  it.each<[string, () => unknown, unknown]>([
    ['a Date', () => new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an instance', () => new Hold(), { until: '1970-01-01T00:00:00.000Z', seats: ['1A'], prices: { EUR: 9 } }],
    ['nothing', () => undefined, undefined],
    ['null', () => null, null],
    ['a member without a value', () => ({ a: undefined, b: [undefined] }), { b: [null] }],
    ['bytes', () => Buffer.from('abc'), 'YWJj'],
    ['a bigint', () => 1n, '1'],
  ])('goes through JSON in sessions and by replay: %s', async (_name, effect, value) => {
    for (const seen of await results(effect)) expect(seen).toStrictEqual(value);
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const STREAM = /ctx\.once\('key', …\) cannot be written as JSON: it .*an instance of ReadableStream/;
  it.each<[string, () => unknown, RegExp]>([
    ['a stream', () => ({ body: new ReadableStream() }), STREAM],
    ['a function', () => () => 1, /a function/],
    ['no number', () => Number.NaN, /NaN/],
    ['a cycle', () => cycle, /circular/],
  ])('without a JSON form is an error in sessions and by replay: %s', async (_name, effect, message) => {
    const seen: string[] = [];
    await both(async (ctx) => {
      await ctx.once('key', effect).catch((error: unknown) => seen.push((error as Error).message));
      return 'done';
    });
    expect(seen).toEqual([expect.stringMatching(message), expect.stringMatching(message)]);
  });

  it('goes through JSON for the state of needInput too', async () => {
    const seen: unknown[] = [];
    await both((ctx) => {
      if (ctx.answers === undefined) {
        const request = { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: NAME } } as const;
        return needInput({ who: request }, { at: new Date(0) });
      }
      seen.push(ctx.state);
      return 'done';
    });
    expect(seen).toEqual([{ at: '1970-01-01T00:00:00.000Z' }, { at: '1970-01-01T00:00:00.000Z' }]);
  });
});

describe('a handler that runs again', () => {
  const open = (handler: Handler) => connect(serverOf(handler), { era: 'stateless', onElicit: () => ACCEPTED });

  /** Runs a tool by replay. Returns the progress notifications of the client. */
  const heard = async (handler: Handler) => {
    const seen: number[] = [];
    await (await open(handler)).callTool('tool', {}, { onProgress: (progress) => seen.push(progress) });
    return seen;
  };

  /** The same, with these answers to the first round. */
  const heardAfter = async (inputResponses: JsonObject, handler: Handler) => {
    const client = await open(handler);
    const seen: number[] = [];
    const options = { onProgress: (progress: number) => seen.push(progress) };
    const { requestState } = await client.request('tools/call', { name: 'tool' }, options);
    await client.request('tools/call', { name: 'tool', requestState, inputResponses }, options);
    return seen;
  };

  it('sends notifications again once it reaches its last question, even if an earlier one is gone', async () => {
    let runs = 0;
    const seen = await heard(async (ctx) => {
      runs += 1;
      if (runs < 3) await ctx.elicit(NAME, { message: 'First?', key: 'first' });
      await ctx.elicit(NAME, { message: 'Second?', key: 'second' });
      ctx.progress(1);
    });
    expect(seen).toEqual([1]);
  });

  it('repeats no log message', async () => {
    const client = await open(async (ctx) => {
      await ask(ctx);
      ctx.log.error('between');
      await ask(ctx);
    });
    await client.setLogLevel('error');
    await client.callTool('tool');
    expect(client.notifications.map(({ params }) => params['data'])).toEqual(['between']);
  });

  it('repeats no notification between questions that were answered in different rounds', async () => {
    const seen = await heard(async (ctx) => {
      await ask(ctx);
      ctx.progress(1);
      await ask(ctx);
      ctx.progress(2);
      await ask(ctx);
      expect(ctx.replaying).toBe(false);
      ctx.progress(3);
    });
    expect(seen).toEqual([1, 2, 3]);
  });

  it('sends notifications again after the last answer, even if it no longer asks an open question', async () => {
    let runs = 0;
    const seen = await heardAfter({ first: ACCEPTED }, async (ctx) => {
      runs += 1;
      const keys = runs === 1 ? ['first', 'second'] : ['first'];
      await Promise.all(keys.map((key) => ctx.elicit(NAME, { message: 'Who?', key })));
      ctx.progress(1);
    });
    expect(seen).toEqual([1]);
  });

  it('repeats no notification before an open question, even if an unasked answer is used first', async () => {
    let runs = 0;
    const seen = await heardAfter({ new: ACCEPTED, who: ACCEPTED }, async (ctx) => {
      runs += 1;
      if (runs === 2) await ctx.elicit(NAME, { message: 'New?', key: 'new', acceptUnsolicited: true });
      ctx.progress(1);
      await ctx.elicit(NAME, { message: 'Who?', key: 'who' });
      ctx.progress(2);
    });
    expect(seen).toEqual([1, 2]);
  });

  it('sends notifications again when it does something new', async () => {
    let runs = 0;
    const seen = await heard(async (ctx) => {
      runs += 1;
      if (runs === 1) await ask(ctx);
      ctx.progress(1);
      await ctx.once('new', () => 'done');
      ctx.progress(2);
    });
    expect(seen).toEqual([2]);
  });
});
