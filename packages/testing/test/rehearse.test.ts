import { describe, expect, it } from '@jest/globals';
import { type Context, McpServer } from '@decorum/core';
import { type ElicitQuestion, elicits, rehearse, type Rehearsal } from '@decorum/testing';

const SILENT = { warn: () => {}, error: () => {} };
const BY_URL = { elicitation: { form: {}, url: {} } };
const ADA = { subject: 'ada' };

/** Builds servers with one tool without input, named `tool`. */
const serverWith =
  (handler: (ctx: Context, record: Rehearsal['record']) => unknown) =>
  ({ record, secret }: Rehearsal) => {
    const server = new McpServer({ name: 'test', version: '1', secret, logger: SILENT });
    server.addTool({ name: 'tool' }, (_input, ctx) => handler(ctx, record));
    return server;
  };

const said = (text: string) => [{ type: 'text', text }];

/** A bank whose accounts are linked on a web page, outside of all servers. */
function bank(action: 'accept' | 'decline' = 'accept') {
  const accounts = { stateful: new Set<unknown>(), stateless: new Set<unknown>() };
  let linked = accounts.stateful;
  const asked: ElicitQuestion[] = [];
  const build = serverWith(async (ctx, record) => {
    const subject = ctx.principal?.subject;
    const visit = { message: 'Link your account', url: `https://bank.example/${subject}` };
    if (!linked.has(subject)) await ctx.requireUrl(visit);
    await ctx.once('paid', () => record(`paid by ${subject}`));
    return 'paid';
  });
  const server = (rehearsal: Rehearsal) => {
    linked = accounts[rehearsal.era];
    return build(rehearsal);
  };
  const onElicit = (question: ElicitQuestion) => {
    asked.push(question);
    if (action === 'accept') linked.add('ada');
    return { action };
  };
  return { asked, options: { server, tool: 'tool', capabilities: BY_URL, principal: ADA, onElicit } };
}

describe('rehearse', () => {
  it('passes the principal and the capabilities in both eras', async () => {
    const server = serverWith((ctx) => JSON.stringify([ctx.principal, ctx.client.capabilities]));
    const capabilities = { sampling: { tools: {} } };
    const { session, replay } = await rehearse({ server, tool: 'tool', capabilities, principal: ADA });
    expect(session.result.content).toEqual(said(JSON.stringify([ADA, capabilities])));
    expect(replay.result.content).toEqual(session.result.content);
  });

  it('takes a script of answers, and fails if some are left', async () => {
    const server = serverWith(async (ctx) => String(await ctx.confirm('Sure?')));
    const { session, replay } = await rehearse({ server, tool: 'tool', onElicit: elicits('accept') });
    expect([session.result.content, replay.result.content]).toEqual([said('true'), said('true')]);
    const left = rehearse({ server, tool: 'tool', onElicit: elicits('accept', 'decline') });
    await expect(left).rejects.toThrow('elicits(…) has 2 answers, but 1 was not used');
  });

  it('asks by URL', async () => {
    const urls: unknown[] = [];
    const onElicit = ({ mode, url }: ElicitQuestion) => {
      urls.push([mode, url]);
      return { action: 'accept' } as const;
    };
    const server = serverWith(async (ctx) => {
      const { action } = await ctx.elicitUrl({ message: 'Sign in', url: 'https://example.com/sign-in' });
      return action;
    });
    const { session, replay } = await rehearse({ server, tool: 'tool', capabilities: BY_URL, onElicit });
    const asked = ['url', 'https://example.com/sign-in'];
    expect(urls).toEqual([asked, asked]);
    expect([session.result.content, replay.result.content]).toEqual([said('accept'), said('accept')]);
  });

  it('calls again in a session after the user has visited the required URL', async () => {
    const { asked, options } = bank();
    const { session, replay } = await rehearse(options);
    const question = { mode: 'url', message: 'Link your account', url: 'https://bank.example/ada' };
    expect(asked).toMatchObject([question, question]);
    const outcome = { result: { content: said('paid') }, effects: ['paid by ada'], rounds: 2 };
    expect([session, replay]).toMatchObject([outcome, outcome]);
  });

  it('fails with the error of the server if the user does not visit the URL', async () => {
    await expect(rehearse(bank('decline').options)).rejects.toMatchObject({ code: -32042 });
  });

  it('lets the model use tools', async () => {
    const server = serverWith(async (ctx) => {
      const tools = [{ name: 'add', inputSchema: { type: 'object' } }];
      const { content, stopReason } = await ctx.sample({ messages: '1 + 2?', maxTokens: 10, tools });
      return JSON.stringify([content, stopReason]);
    });
    const use = { type: 'tool_use', id: '1', name: 'add', input: { a: 1, b: 2 } } as const;
    const offered: unknown[] = [];
    const { session, replay } = await rehearse({
      server,
      tool: 'tool',
      capabilities: { sampling: { tools: {} } },
      onSample: ({ tools }) => {
        offered.push(tools?.[0]?.['name']);
        return { content: [use], stopReason: 'toolUse' };
      },
    });
    expect(session.result.content).toEqual(said(JSON.stringify([[use], 'toolUse'])));
    expect(replay.result.content).toEqual(session.result.content);
    expect(offered).toEqual(['add', 'add']);
  });
});
