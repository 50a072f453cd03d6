// Handlers that an extension runs apart from their request.
import { describe, expect, it } from '@jest/globals';
import {
  type Context,
  type Extension,
  type JsonObject,
  McpError,
  type McpServerOptions,
  NoInput,
  type Principal,
  ToolError,
} from '@decorum/core';
import type { Effect, ExtensionHost, Run, RunHost, ToolCall } from '@decorum/core/plugin';
import { connect } from '@decorum/testing';

import { reporting, said, turn } from './serving.js';

type Handler = (ctx: Context, input: JsonObject) => unknown;

const CALL: ToolCall = {
  tool: 'tool',
  args: {},
  revision: '2026-07-28',
  client: { info: { name: 'stored', version: '2' }, capabilities: { elicitation: { form: {} } } },
  transport: { kind: 'memory' },
};

const never = () => new Promise<never>(() => {});

/** A server whose extension has got its host. */
async function hosted(handler: Handler, options: Partial<McpServerOptions> = {}) {
  let host!: ExtensionHost;
  const order: string[] = [];
  const extension: Extension = {
    id: 'com.example/x',
    open: (given) => void (host = given),
    stop: () => void order.push('stop'),
  };
  const made = reporting({ extensions: [extension], ...options });
  made.server.addTool({ name: 'tool', input: { type: 'object' } }, (input, ctx) => handler(ctx, input as JsonObject));
  const client = await connect(made.server);
  const run = (means: Partial<RunHost> = {}, call: Partial<ToolCall> = {}): Run =>
    host.run({ ...CALL, ...call }, { id: 'run', ask: never, ...means });
  return { ...made, client, host, run, order };
}

describe('a handler that runs apart from its request', () => {
  it('sees the call as it was stored', async () => {
    const principal: Principal = { subject: 'ada' };
    const { run } = await hosted((ctx) => {
      const { revision, requestId, sessionId, meta, client, transport } = ctx;
      return JSON.stringify([revision, requestId, sessionId, meta, client.info, ctx.principal, transport]);
    });
    const sent = { revision: '2025-11-25', sessionId: 's', meta: { trace: 'a' }, principal };
    const expected = ['2025-11-25', 'run', 's', { trace: 'a' }, CALL.client.info, principal, { kind: 'memory' }];
    expect(await run({}, sent).result).toEqual({ content: said(JSON.stringify(expected)) });
  });

  it('reports only progress that increases', async () => {
    const seen: number[] = [];
    const { run } = await hosted((ctx) => {
      for (const step of [1, 3, 2, 3, Number.NaN, Infinity, 4]) ctx.progress(step);
      return '';
    });
    await run({ progress: (progress) => void seen.push(progress) }).result;
    expect(seen).toEqual([1, 3, 4]);
  });

  it('can not ping the client, which may be gone', async () => {
    const { run } = await hosted(async (ctx) => await ctx.ping().catch(({ message }: Error) => message));
    for (const revision of ['2025-11-25', '2026-07-28']) {
      expect((await run({}, { revision }).result).content).toEqual(
        said('A handler apart from its request can\'t send "ping".'),
      );
    }
  });

  it('returns no more than the maximum of its tool, and knows it', async () => {
    const seen: number[] = [];
    const { run } = await hosted(
      (ctx, { fails }) => {
        seen.push(ctx.budget.maxChars);
        if (fails === true) throw new ToolError('a word '.repeat(100));
        return 'a word '.repeat(100);
      },
      { maxResultChars: 20 },
    );
    const cut = (await run().result).content;
    expect(cut).toEqual(
      said('a word a word a word', '… 680 of 700 characters are missing. Ask for less, or for a part of it.'),
    );
    const failed = await run({}, { args: { fails: true } }).result;
    expect(failed).toEqual({
      content: said('a word a word a word', '… 680 of 700 characters are missing.'),
      isError: true,
    });
    expect(seen).toEqual([20, 20]);
  });

  it('fails as a call does', async () => {
    const failures: Handler[] = [
      () => {
        throw new Error('a secret');
      },
      async () => await Promise.reject(new Error('a secret')),
      () => ({ content: [], structuredContent: { value: Number.NaN } }),
    ];
    for (const handler of failures) {
      const { run, errors } = await hosted(handler);
      const { content, isError } = await run().result;
      expect([isError, content]).toEqual([
        true,
        [{ type: 'text', text: expect.stringMatching(/^Internal error \(ref/) }],
      ]);
      expect(errors).toHaveLength(1);
    }
    const { run } = await hosted(() => {
      throw new McpError('invalid-params', 'No.');
    });
    await expect(run().result).rejects.toMatchObject({ code: -32602 });
  });

  it('is checked again for its arguments, access and scopes', async () => {
    const { server, run } = await hosted(() => 'ran');
    const input = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] } as const;
    server.addTool({ name: 'strict', input }, () => 'ran');
    server.addTool(
      { name: 'shut', input: NoInput, access: async (principal) => principal?.subject === 'ada' },
      () => 'ran',
    );
    server.addTool({ name: 'scoped', input: NoInput, scopes: ['write'] }, () => 'ran');
    expect(await run({}, { tool: 'strict' }).result).toMatchObject({ isError: true });
    await expect(run({}, { tool: 'shut' }).result).rejects.toMatchObject({
      code: -32602,
      message: 'Unknown tool: shut',
    });
    expect(() => run({}, { tool: 'gone' })).toThrow('Unknown tool: gone');
    expect(() => run({}, { tool: 'scoped' })).toThrow('Authorization is required.');
    expect(() => run({}, { tool: 'scoped', principal: { subject: 'ada', scopes: ['read'] } })).toThrow('lacks scopes');
    const principal = { subject: 'ada', scopes: ['write'] };
    for (const tool of ['shut', 'scoped'])
      expect(await run({}, { tool, principal }).result).toEqual({ content: said('ran') });
  });

  it('is checked with the tags that its session showed and hid, and can show and hide none', async () => {
    const { run, server, errors } = await hosted(async (ctx) => await ctx.visibility.show('admin'), {
      hiddenTags: ['admin'],
    });
    for (const tag of ['admin', 'user']) server.addTool({ name: tag, tags: [tag] }, () => 'ran');
    const visibility = { shown: ['admin'], hidden: ['user'] };
    const unknown = expect.objectContaining({ code: -32602 });
    expect(await run({}, { tool: 'admin', visibility }).result).toEqual({ content: said('ran') });
    expect(await run({}, { tool: 'user' }).result).toEqual({ content: said('ran') });
    await expect(run({}, { tool: 'admin' }).result).rejects.toEqual(unknown);
    await expect(run({}, { tool: 'user', visibility }).result).rejects.toEqual(unknown);
    expect((await run({}, { visibility }).result).isError).toBe(true);
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('runs apart from its request')]);
  });

  it('neither asks nor runs effects once it is cancelled, and stops waiting for an answer', async () => {
    const ran: unknown[] = [];
    const { run } = await hosted(async (ctx) => {
      const note = (what: string) => (error: Error) => void ran.push(`${what}: ${error.name}`);
      await ctx.confirm('Go on?').catch(note('asked'));
      expect(ctx.signal.aborted).toBe(true);
      await ctx.confirm('Now?').catch(note('asked again'));
      await ctx.once('effect', () => ran.push('effect')).catch(note('once'));
      await ctx.sleep('sleep', 1000).catch(note('sleep'));
      ctx.progress(1);
      ran.push('end');
    });
    const asked: string[] = [];
    const ask = (question: { method: string }) => {
      asked.push(question.method);
      return never();
    };
    const progress = () => void ran.push('progress');
    const begin = (key: string) => void ran.push(`began ${key}`);
    const { result, cancel } = run({ ask, progress, log: { begin } });
    await turn();
    cancel('client', 'Enough.');
    await expect(result).rejects.toMatchObject({ name: 'AbortError', message: 'Enough.' });
    await turn();
    expect(asked).toEqual(['elicitation/create']);
    expect(ran).toEqual([
      'asked: AbortError',
      'asked again: AbortError',
      'once: AbortError',
      'sleep: AbortError',
      'end',
    ]);
  });

  it('runs no effect if it is cancelled while its log is written', async () => {
    let isRun = false;
    let cancel = () => {};
    const { run } = await hosted(async (ctx) => await ctx.once('effect', () => void (isRun = true)));
    const begin = async () => {
      await turn();
      cancel();
    };
    const started = run({ log: { begin } });
    cancel = () => started.cancel('closing');
    await expect(started.result).rejects.toThrow('The server is closing.');
    await turn();
    expect(isRun).toBe(false);
  });

  it('cannot ask once it has ended', async () => {
    let late: Promise<unknown> = Promise.resolve();
    const asked: unknown[] = [];
    const { run } = await hosted((ctx) => {
      late = turn().then(async () => await ctx.confirm('Too late?'));
      late.catch(() => {});
      return 'ended';
    });
    await run({ ask: (question) => (asked.push(question), never()) }).result;
    await expect(late).rejects.toThrow('The request has ended');
    expect(asked).toEqual([]);
  });

  it('repeats no effect and waits only for what is left, with the same keys', async () => {
    const journal: Effect[] = [];
    const keys: string[] = [];
    let slept = 0;
    const handler: Handler = async (ctx) => {
      await ctx.once('one', (key) => void keys.push(key));
      const timer = setTimeout(() => (slept += 1), 20);
      await ctx.sleep('nap', 30);
      clearTimeout(timer);
      await ctx.once('two', (key) => {
        keys.push(key);
        if (keys.length === 2) throw new Error('killed');
      });
      return 'done';
    };
    const { run } = await hosted(handler);
    const log = { record: (effect: Effect) => void journal.push(effect) };
    expect(await run({ log }).result).toMatchObject({ isError: true });
    expect(await run({ log, effects: journal }).result).toEqual({ content: said('done') });
    expect(slept).toBe(1);
    expect(journal.map(([key]) => key)).toEqual(['one', expect.stringContaining('sleep nap'), 'two']);
    expect(new Set(keys).size).toBe(2);
    expect(keys[2]).toBe(keys[1]);
    const other: Effect[] = [];
    await run({ id: 'other', log: { record: (effect) => void other.push(effect) } }).result;
    expect(keys[3]).not.toBe(keys[0]);
  });

  it('fails in ctx.once if its log fails', async () => {
    const { run, errors } = await hosted(async (ctx) => await ctx.once('one', () => 'result'));
    for (const step of ['begin', 'record']) {
      const fail = () => {
        throw new Error(`lost in ${step}`);
      };
      expect(await run({ log: { [step]: fail } }).result).toMatchObject({ isError: true });
    }
    expect(errors.map(({ message }) => message)).toEqual(['lost in begin', 'lost in record']);
  });

  it('is waited for when the server closes, and cancelled at the deadline', async () => {
    for (const isLate of [false, true]) {
      const { server, run, order } = await hosted(async (ctx) => {
        await turn();
        if (isLate) await ctx.confirm('Anybody?');
        order.push('end');
        return 'done';
      });
      const { result } = run();
      const outcome = result.catch((error: Error) => error.message);
      await server.close({ deadlineMs: isLate ? 10 : 5000 });
      expect(order).toEqual(isLate ? ['stop'] : ['stop', 'end']);
      expect(await outcome).toEqual(isLate ? 'The server is closing.' : { content: said('done') });
    }
  });

  it('runs inside interceptors, and uses up the state of its round', async () => {
    const intercepted: string[] = [];
    const extension: Extension = {
      id: 'com.example/x',
      start: () => (starting) => {
        const ask = starting.ask.bind(starting);
        const { result } = starting.detach({ id: 'run', effects: starting.effects(), ask });
        const interim = turn().then(() => starting.interim());
        return interim.then(async (round) => round ?? ({ ...(await result) } as JsonObject));
      },
    };
    const { server } = reporting({
      secret: 'x'.repeat(32),
      singleUse: true,
      extensions: [extension],
      interceptors: [
        async ({ name }, next) => {
          intercepted.push(name);
          return await next();
        },
      ],
    });
    server.addTool({ name: 'tool', input: NoInput }, async (_input, ctx) => `${await ctx.confirm('Sure?')}`);
    const client = await connect(server, { era: 'stateless', capabilities: { elicitation: { form: {} } } });
    const first = await client.request('tools/call', { name: 'tool' });
    const { inputRequests, requestState } = first as { inputRequests: JsonObject; requestState: string };
    const answer = { action: 'accept', content: { confirmed: true } };
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, answer]));
    const again = { name: 'tool', inputResponses, requestState };
    expect(await client.request('tools/call', again)).toMatchObject({ content: said('true') });
    await expect(client.request('tools/call', again)).rejects.toMatchObject({ code: -32602 });
    expect(intercepted).toEqual(['tool', 'tool', 'tool']);
  });
});

describe('the host of a run', () => {
  it('waits in place of a handler that sleeps, unless the time has come', async () => {
    const { run } = await hosted(async (ctx) => {
      await ctx.sleep('rest', 60_000);
      await ctx.sleep('rest', 60_000);
      await ctx.sleep('none', 0);
      return 'awake';
    });
    const sleeps: [end: number, isAborted: boolean][] = [];
    const sleep: RunHost['sleep'] = async (end, { aborted }) => void sleeps.push([end, aborted]);
    const begun = Date.now();
    expect(await run({ sleep }).result).toEqual({ content: said('awake') });
    const [[end = 0] = []] = sleeps;
    expect(sleeps).toEqual([
      [end, false],
      [end, false],
    ]);
    expect(end - begun).toBeGreaterThanOrEqual(60_000);
  });

  it('is told when a handler ends that ignores its cancellation', async () => {
    let end = () => {};
    const { run } = await hosted(async () => await new Promise<void>((resolve) => (end = resolve)));
    const { cancel, ended, result } = run();
    const order: string[] = [];
    const done = ended.then(() => order.push('ended'));
    cancel('client');
    await result.catch(() => order.push('cancelled'));
    await turn();
    order.push('ends');
    end();
    await done;
    expect(order).toEqual(['cancelled', 'ends', 'ended']);
  });
});

describe('the host of an extension', () => {
  it('writes results, questions and codes in the format of a revision', async () => {
    const { host, server } = await hosted(() => '');
    server.addTool({ name: 'list', input: NoInput, output: { type: 'array', items: {} } }, () => []);
    const result = { content: [], structuredContent: [1] };
    expect(host.writeResult('2026-07-28', 'list', result)).toEqual(result);
    expect(host.writeResult('2025-11-25', 'list', result)).toEqual({ content: [], structuredContent: { result: [1] } });
    expect(host.writeQuestion('2026-07-28', { method: 'ping', params: {} })).toBeUndefined();
    expect(host.writeQuestion('2025-11-25', { method: 'ping', params: {} })).toEqual({});
    const gone = new McpError('unknown-resource', 'Gone.');
    expect([host.codeOf('2025-11-25', gone), host.codeOf('2026-07-28', gone)]).toEqual([-32002, -32602]);
    expect(host.codeOf('2026-07-28', new Error('another'))).toBe(-32603);
    expect(host.optionsOf('list')).toBeUndefined();
    expect(host.admits('unknown', {} as Context)).toBe(true);
  });

  it('seals for one binding if the server has a secret', async () => {
    const { host } = await hosted(() => '');
    expect([host.seal, host.open('anything', 'a')]).toEqual([undefined, undefined]);
    const one = await hosted(() => '', { secret: 'x'.repeat(32) });
    const sealed = one.host.seal?.('text', 'a') as string;
    expect(sealed).not.toContain('text');
    expect([one.host.open(sealed, 'a'), one.host.open(sealed, 'b')]).toEqual(['text', undefined]);
    const other = await hosted(() => '', { secret: 'y'.repeat(32) });
    expect(other.host.open(sealed, 'a')).toBeUndefined();
  });
});
