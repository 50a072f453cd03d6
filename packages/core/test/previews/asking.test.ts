// With `ask`, clients that can ask their user get one question in place of a ticket.
import { type CallToolResult, type Context, type McpServerOptions, ToolError } from '@decorum/core';
import { type ConnectOptions, revisions } from '@decorum/testing';
import { describe, expect, it } from '@jest/globals';

import { allText, type Deeds, planning, pruning, ticketOf } from './planned.js';

/** Revisions whose clients can be asked. */
const ASKED = revisions.slice(2);

/** A client that answers questions as told, and what it was asked. */
async function asking(
  action: 'accept' | 'decline' | 'cancel' = 'accept',
  client: ConnectOptions = {},
  options: Partial<McpServerOptions> = {},
) {
  const questions: string[] = [];
  const onElicit = ({ message }: { readonly message: string }) => {
    questions.push(message);
    return action === 'accept' ? { action, content: {} } : { action };
  };
  const made = await pruning(planning({ by: 'plan', ask: true }, options), { onElicit, ...client } as ConnectOptions);
  const ask = async (args: object = {}) =>
    (await made.client.callTool('prune', { text: 'old', ...args })) as unknown as CallToolResult;
  return { ...made, ask, questions };
}

const running = (deeds: Deeds, run: (ctx: Context) => unknown) => {
  deeds.run = (_query, ctx) => run(ctx);
};

describe('a preview that asks', () => {
  it.each(ASKED)('runs the plan that the user has confirmed, in the same call, in %s', async (revision) => {
    const { ask, deeds, questions } = await asking('accept', { revision });
    expect(allText(await ask())).toBe('done');
    expect(questions).toEqual(['{\n  "ids": [\n    1\n  ]\n}']);
    expect(deeds).toMatchObject({ made: ['old'], done: [{ ids: [1] }] });
  });

  it.each(ASKED.flatMap((revision) => (['decline', 'cancel'] as const).map((action) => ({ revision, action }))))(
    'does nothing if the user answers with $action, in $revision',
    async ({ revision, action }) => {
      const { ask, deeds } = await asking(action, { revision });
      const result = await ask();
      expect(result.isError).toBe(true);
      expect(allText(result)).toBe(
        'The user did not confirm the plan. Nothing was done. Ask the user what to do instead.',
      );
      expect(JSON.stringify(result)).not.toContain('dev.decorum/ticket');
      expect(deeds).toMatchObject({ made: ['old'], done: [] });
    },
  );

  it.each(revisions)('gives a ticket to clients that cannot ask, in %s', async (revision) => {
    const { call, deeds } = await pruning(planning({ by: 'plan', ask: true }), { revision });
    const shown = await call();
    expect(allText(await call({ ticket: ticketOf(shown) }))).toBe('done');
    expect(deeds).toMatchObject({ made: ['old'], done: [{ ids: [1] }] });
  });

  it.each(revisions.slice(0, 2))('gives a ticket to clients that say they can, in %s', async (revision) => {
    const { call } = await pruning(planning({ by: 'plan', ask: true }), {
      revision,
      capabilities: { elicitation: {} },
    });
    expect(allText(await call({ ticket: ticketOf(await call()) }))).toBe('done');
  });

  it('gives a ticket to clients that only open URLs', async () => {
    const made = planning({ by: 'plan', ask: true });
    const { call } = await pruning(made, { capabilities: { elicitation: { url: {} } } });
    expect(ticketOf(await call())).toBeDefined();
  });

  it.each(ASKED)('gives a ticket for a plan that is too long to read, in %s', async (revision) => {
    const { call, deeds, questions } = await asking('accept', { revision });
    deeds.plan = () => 'x'.repeat(4001);
    expect(allText(await call({ ticket: ticketOf(await call()) }))).toBe('done');
    expect(questions).toEqual([]);
  });

  it('shows a plan of text as it is, and what cannot be seen by its number', async () => {
    const { ask, deeds, questions } = await asking();
    deeds.plan = () => 'Deletes a\u202Etxt.exe\u0000';
    await ask();
    expect(questions).toEqual(['Deletes a[U+202E]txt.exe[U+0000]']);
    expect(deeds.done).toEqual(['Deletes a\u202Etxt.exe\u0000']);
  });

  it('shows what cannot be seen in other plans, too', async () => {
    const { ask, deeds, questions } = await asking();
    deeds.plan = () => ['a\u200Bb', 'c\u{E0041}'];
    await ask();
    expect(questions).toEqual(['[\n  "a[U+200B]b",\n  "c[U+E0041]"\n]']);
  });

  it.each(['', ' \n'])('gives a ticket for a plan with nothing to read: %j', async (plan) => {
    const { call, deeds, questions } = await asking();
    deeds.plan = () => plan;
    expect(allText(await call({ ticket: ticketOf(await call()) }))).toBe('done');
    expect(questions).toEqual([]);
  });

  it.each(ASKED)('makes one plan, whatever the plan and the tool ask besides, in %s', async (revision) => {
    const { ask, deeds, questions } = await asking('accept', { revision });
    const plans: number[] = [];
    deeds.plan = async (_query, ctx) => {
      const sure = await ctx.confirm('May I look?');
      plans.push(plans.length);
      return { sure, plan: plans.length };
    };
    running(deeds, async (ctx) => `${await ctx.confirm('Really?')}`);
    expect(allText(await ask())).toBe('true');
    expect(plans).toHaveLength(1);
    expect(questions).toEqual(['May I look?', '{\n  "sure": true,\n  "plan": 1\n}', 'Really?']);
    expect(deeds.done.at(-1)).toEqual({ sure: true, plan: 1 });
  });

  it.each(ASKED)('takes a ticket from clients that can ask, in %s', async (revision) => {
    const principal = { subject: 'ada' };
    const { ask, server, questions } = await asking('accept', { revision, principal });
    const plain = await pruning({ ...planning(), server }, { revision, principal });
    expect(allText(await ask({ ticket: ticketOf(await plain.call()) }))).toBe('done');
    expect(questions).toEqual([]);
  });

  it.each(ASKED)('takes no confirmation that nobody asked for, in %s', async (revision) => {
    const { client, deeds } = await pruning(planning({ by: 'plan', ask: true }), {
      revision,
      capabilities: { elicitation: {} },
      onElicit: () => ({ action: 'decline' }),
    });
    const result = await client.request('tools/call', {
      name: 'prune',
      arguments: { text: 'old' },
      inputResponses: { 'dev.decorum/preview': { action: 'accept', content: {} } },
    });
    expect(result['isError'] ?? result['resultType'] !== 'complete').toBe(true);
    expect(deeds.done).toEqual([]);
  });

  it('fails as its plan does', async () => {
    const { ask, deeds, questions } = await asking();
    deeds.plan = () => {
      throw new ToolError('Nothing to prune.');
    };
    expect(allText(await ask())).toBe('Nothing to prune.');
    expect(allText(await ask({ text: 5 }))).toContain('The arguments are not valid');
    expect(questions).toEqual([]);
  });
});
