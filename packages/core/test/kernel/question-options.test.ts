import { describe, expect, it } from '@jest/globals';
import { type Context, McpServer, NoInput } from '@decorum/core';
import { connect } from '@decorum/testing';

const NAME = { type: 'object', properties: { name: { type: 'string' } } } as const;

/** Serves a tool that passes options to a question, and keeps the errors and what the client is asked. */
async function serve(ask: (ctx: Context, more: object) => unknown, more: object, era: 'stateful' | 'stateless') {
  const errors: string[] = [];
  const asked: unknown[] = [];
  const server = new McpServer({
    name: 'test',
    version: '1',
    logger: { warn: () => {}, error: () => {} },
    onError: (error) => void errors.push(String(error)),
  });
  server.addTool({ name: 'tool', input: NoInput }, async (_input, ctx) => {
    await ask(ctx, more);
    return 'done';
  });
  const client = await connect(server, {
    era,
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    onElicit: (params) => (asked.push(params), { action: 'accept', content: {} }),
    onSample: (params) => (asked.push(params), 'Hello'),
    onRoots: () => (asked.push({}), []),
  });
  const { content, isError } = await client.callTool('tool');
  return { content, isError, errors, asked };
}

const VISIT = { message: 'Go', url: 'https://example.com' };

/** Each question with the options that it needs, and more. */
const QUESTIONS: readonly (readonly [name: string, ask: (ctx: Context, more: object) => unknown])[] = [
  ['elicit', (ctx, more) => ctx.elicit(NAME, { message: 'Who?', ...more })],
  ['elicitUrl', (ctx, more) => ctx.elicitUrl({ ...VISIT, ...more })],
  ['requireUrl', (ctx, more) => ctx.requireUrl({ ...VISIT, ...more })],
  ['confirm', (ctx, more) => ctx.confirm('Sure?', more)],
  ['sample', (ctx, more) => ctx.sample({ messages: 'Hi', maxTokens: 5, ...more })],
  ['roots', (ctx, more) => ctx.roots(more)],
];

describe.each(QUESTIONS)('ctx.%s', (name, ask) => {
  it.each(['stateful', 'stateless'] as const)('rejects unknown options before it asks: %s (#22)', async (era) => {
    const { isError, errors, asked } = await serve(ask, { sealed: true }, era);
    expect([isError, asked]).toEqual([true, []]);
    expect(errors).toEqual([
      expect.stringMatching(`ctx\\.${name}: \`sealed\` is not an option\\. Remove it, or use one of`),
    ]);
    // the option that replaces it
    if (name !== 'confirm') expect(errors[0]).toContain('acceptUnsolicited');
  });

  it('suggests the closest option, and rejects values of a wrong type (#22)', async () => {
    expect((await serve(ask, { timeoutMS: 5 }, 'stateful')).errors).toEqual([
      expect.stringMatching('Write `timeoutMs`'),
    ]);
    const { errors, asked } = await serve(ask, { key: 7 }, 'stateful');
    expect([errors, asked]).toEqual([[expect.stringMatching('`key` is 7, but must be a string')], []]);
  });
});

it.each(QUESTIONS.filter(([name]) => name !== 'confirm'))(
  'ctx.%s rejects `acceptUnsolicited` without a key, under which clients answer (#22)',
  async (name, ask) => {
    const { isError, errors, asked } = await serve(ask, { acceptUnsolicited: true }, 'stateless');
    expect([isError, asked]).toEqual([true, []]);
    expect(errors).toEqual([expect.stringMatching(`ctx\\.${name}: .*needs a .key.*DECORUM_INVALID_OPTION`)]);
    expect((await serve(ask, { acceptUnsolicited: true, key: 'who' }, 'stateless')).errors).toEqual([]);
    expect((await serve(ask, { acceptUnsolicited: false }, 'stateless')).errors).toEqual([]);
  },
);

describe('ctx.ping', () => {
  it('rejects unknown options (#22)', async () => {
    const { errors } = await serve((ctx, more) => ctx.ping(more), { method: 'roots/list' }, 'stateful');
    expect(errors).toEqual([expect.stringMatching('ctx\\.ping: `method` is not an option')]);
  });
});
