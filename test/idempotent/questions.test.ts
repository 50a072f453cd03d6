// Calls with a key that ask the client: in sessions, in rounds, and as tasks.
import { type Context, type JsonObject, needInput } from '@decorum/core';
import { fileTasks, tasks } from '@decorum/tasks';
import { revisions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';

import { answerTo, asked as called, declares } from '../support/stateless-post.js';
import { held, KEY, said, ShakyStore, till } from './till.js';

const ASKING = revisions.filter((revision) => revision >= '2025-06-18');
const ACCEPT = { action: 'accept', content: { confirmed: true } } as const;

/** A tool that pays, asks, and mails. */
function asking() {
  const effects: string[] = [];
  const made = till(async ({ ctx }) => {
    await ctx.once('reserve', () => void effects.push('reserve'));
    const isSure = await ctx.confirm('Pay?');
    await ctx.once('pay', () => void effects.push('pay'));
    return `paid: ${isSure}`;
  });
  return { ...made, effects };
}

describe('a call with a key that asks', () => {
  it.each(ASKING)('has one outcome, in %s', async (revision) => {
    const { customer, effects } = asking();
    const { call } = await customer({ revision, onElicit: () => ACCEPT });
    expect(await said(call('a'))).toBe('paid: true');
    expect(await said(call('a'))).toBe('paid: true');
    expect(effects).toEqual(['reserve', 'pay']);
  });

  it.each(ASKING)('can ask by `needInput`, in %s', async (revision) => {
    let runs = 0;
    const { customer } = till(({ ctx }: { ctx: Context }) => {
      if (ctx.answers) return `answered ${(runs += 1)}`;
      const requestedSchema = { type: 'object', properties: {} };
      return needInput({ name: { method: 'elicitation/create', params: { message: 'Who?', requestedSchema } } });
    });
    const { call } = await customer({ revision, onElicit: () => ({ action: 'accept', content: {} }) });
    expect(await said(call('a'))).toBe('answered 1');
    expect(await said(call('a'))).toBe('answered 1');
  });

  it('lets repetitions wait for the answer in a session', async () => {
    const { customer, effects } = asking();
    const [asked, answer] = [held(), held<typeof ACCEPT>()];
    const principal = { subject: 'ada' };
    const first = await customer({
      principal,
      onElicit: () => {
        asked.resolve('');
        return answer.promise;
      },
    });
    const second = await customer({ principal });
    const calls = [said(first.call('a'))];
    await asked.promise;
    calls.push(said(second.call('a')));
    answer.resolve(ACCEPT);
    expect(await Promise.all(calls)).toEqual(['paid: true', 'paid: true']);
    expect(effects).toEqual(['reserve', 'pay']);
  });
});

describe('a call with a key between its rounds', () => {
  /** A client whose questions the test answers. */
  async function dialogue(customer: ReturnType<typeof till>['customer'], name = 'a') {
    const [asked, answer] = [held(), held<typeof ACCEPT>()];
    const onElicit = () => {
      asked.resolve('');
      return answer.promise;
    };
    const { client } = await customer({ era: 'stateless', principal: { subject: 'ada' }, onElicit });
    const result = said(client.callTool('pay', {}, { meta: { [KEY]: name } }));
    await Promise.race([asked.promise, result]);
    return { result, answer: () => answer.resolve(ACCEPT) };
  }

  it('is taken over by a new call, which goes on with its effects', async () => {
    const { customer, effects } = asking();
    const old = await dialogue(customer);
    const current = await dialogue(customer);
    old.answer();
    expect(await old.result).toMatch(
      /^McpError: The call was repeated with the same idempotency key, and goes on there/,
    );
    current.answer();
    expect(await current.result).toBe('paid: true');
    expect(effects).toEqual(['reserve', 'pay']);
  });

  it('gets the outcome of the call that has taken over', async () => {
    const { customer, effects } = asking();
    const old = await dialogue(customer);
    const current = await dialogue(customer);
    current.answer();
    expect(await current.result).toBe('paid: true');
    old.answer();
    expect(await old.result).toBe('paid: true');
    expect(effects).toEqual(['reserve', 'pay']);
  });

  it('has its arguments', async () => {
    const { customer } = asking();
    await dialogue(customer);
    const { call } = await customer({ era: 'stateless', principal: { subject: 'ada' } });
    expect(await said(call('a', { amount: 2 }))).toContain('other arguments');
  });

  /** Posts calls of `pay` one by one, as the user `ada`. Returns their results. */
  function rounds({ server }: ReturnType<typeof asking>) {
    return async (key?: string, asked?: JsonObject): Promise<JsonObject & { text: string }> => {
      const { inputRequests = {}, requestState } = asked ?? {};
      const inputResponses = Object.fromEntries(Object.keys(inputRequests as object).map((name) => [name, ACCEPT]));
      const params = { name: 'pay', arguments: {}, ...(asked && { requestState, inputResponses }) } as JsonObject;
      const meta = { ...declares({ elicitation: { form: {} } }), ...(key !== undefined && { [KEY]: key }) };
      const [, answer] = await answerTo(server, called(1, 'tools/call', params, meta), { 'x-user': 'ada' });
      const { content, ...result } = (answer.result ?? {}) as { content?: { text: string }[] };
      return {
        ...result,
        text: content?.[0]?.text ?? (answer.error as { message?: string } | undefined)?.message ?? '',
      };
    };
  }

  it('keeps its key if the client leaves it out of an answer', async () => {
    const made = asking();
    const round = rounds(made);
    const question = await round('a');
    expect(await round(undefined, question)).toMatchObject({ text: 'paid: true' });
    expect(await round('a')).toMatchObject({ text: 'paid: true' });
    expect(made.effects).toEqual(['reserve', 'pay']);
  });

  it('takes no answer with the key of another call', async () => {
    const made = asking();
    const round = rounds(made);
    const question = await round('a');
    expect((await round('b', question)).text).toMatch(/^The call began with another idempotency key/);
    expect(await round('a', question)).toMatchObject({ text: 'paid: true' });
    expect(made.effects).toEqual(['reserve', 'pay']);
  });

  it('is not recorded if its handler catches the end of the round', async () => {
    const { customer } = till(async ({ ctx }) => await ctx.confirm('Pay?').catch(() => 'caught'));
    const { call } = await customer({ era: 'stateless', onElicit: () => ACCEPT });
    expect(await said(call('a'))).toBe('true');
  });
});

describe('a task with a key', () => {
  it.each(['2025-11-25', '2026-07-28'])('has the outcome of an earlier one, and of a call, in %s', async (revision) => {
    const store = fileTasks(join(mkdtempSync(join(tmpdir(), 'keyed-')), 'tasks'));
    const { made, customer } = till(
      async ({ ctx, runs }) => {
        // what a handler asks later belongs to its task
        await turn();
        await turn();
        await ctx.confirm('Pay?');
        return `paid ${runs}`;
      },
      { tool: { task: 'optional' } as object, plugins: [tasks({ store })] },
    );
    const { client, call } = await customer({ revision, principal: { subject: 'ada' }, onElicit: () => ACCEPT });
    const task = async (key: string) => await said(client.callTool('pay', {}, { meta: { [KEY]: key }, task: true }));
    expect(await Promise.all([task('a'), task('a')])).toEqual(['paid 1', 'paid 1']);
    expect(await said(call('a'))).toBe('paid 1');
    expect(await task('b')).toBe('paid 2');
    expect(made.runs).toBe(2);
    await client.close();
  });

  it('goes on in another process, with its effects', async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'keyed-')), 'tasks');
    const shared = new Map<string, string>();
    const paid: string[] = [];
    const begun = held();
    const node = async () => {
      const { server, customer } = till(
        async ({ ctx }) => {
          await turn();
          await turn();
          const receipt = await ctx.once('pay', (key) => `${paid.push(key)}`);
          begun.resolve('');
          if (!isClosing) await once(ctx.signal, 'abort');
          ctx.signal.throwIfAborted();
          return `receipt ${receipt}`;
        },
        {
          store: new ShakyStore(shared),
          tool: { task: 'required' } as object,
          plugins: [tasks({ store: fileTasks(folder), leaseMs: 1000 })],
        },
      );
      return { server, ...(await customer({ era: 'stateless', principal: { subject: 'ada' } })) };
    };
    let isClosing = false;
    const first = await node();
    const { taskId } = await first.client.tasks.start('pay', {}, { meta: { [KEY]: 'a' } });
    await begun.promise;
    isClosing = true;
    await first.server.close();
    const second = await node();
    expect(await said(second.client.tasks.result(taskId))).toBe('receipt 1');
    expect(await said(second.client.callTool('pay', {}, { meta: { [KEY]: 'a' }, task: true }))).toBe('receipt 1');
    expect(paid).toHaveLength(1);
    await second.server.close();
  });
});
