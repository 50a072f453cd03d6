// NaN and infinities, which JSON would turn into null.
import { describe, expect, it } from '@jest/globals';
import {
  Context,
  embedded,
  type JsonObject,
  McpError,
  McpServer,
  NoInput,
  Prompt,
  Resource,
  text,
  Tool,
  toolResult,
  user,
} from '@decorum/core';
import type { RequestOutcome } from '@decorum/core/plugin';
import { connect, type ConnectOptions, type TestClient } from '@decorum/testing';
import { IsString } from 'class-validator';

class Row {
  @IsString() name!: string;
}

const FREE: JsonObject = { type: 'object', properties: {} };

/** What the handlers return. */
let value: unknown;

class Stats {
  @Tool() plain() {
    return value;
  }

  @Tool({ output: FREE }) structured() {
    return value;
  }

  @Tool({ output: FREE, text: false }) withoutText() {
    return value;
  }

  @Tool({ output: FREE }) explicit() {
    return toolResult({ structuredContent: value as JsonObject, _meta: { took: 1 } });
  }

  @Tool() meta() {
    return toolResult({ content: 'done', _meta: { value } });
  }

  @Tool() block() {
    return [{ ...text('done'), annotations: { priority: (value as number[])[0] } }];
  }

  @Tool() failing() {
    throw new McpError('invalid-params', 'No.', { value });
  }

  @Tool() async once(_input: NoInput, ctx: Context) {
    return await ctx.once('value', () => value);
  }

  @Tool() async sample(_input: NoInput, ctx: Context) {
    const { content } = await ctx.sample({ messages: [user('hi')], maxTokens: 1, temperature: Number.NaN });
    return content;
  }

  @Tool() async logs(_input: NoInput, ctx: Context) {
    ctx.log.info({ value });
    for (const total of [Number.NaN, Number.POSITIVE_INFINITY]) ctx.progress(total, total);
    ctx.progress(1, Number.NaN);
    return 'logged';
  }

  @Resource('stats://now') now() {
    return value;
  }

  @Resource('stats://whole') whole() {
    return { contents: [{ uri: 'stats://whole', text: '', _meta: { value } }] };
  }

  @Prompt() ask({ name }: Row) {
    return { messages: [user(embedded({ uri: 'a://b', data: name }))], _meta: { value } };
  }
}

async function open(options: ConnectOptions = {}) {
  const logged: string[] = [];
  const outcomes: RequestOutcome[] = [];
  const messageOf = (error: unknown) => {
    const { message, cause } = error as Error;
    return cause instanceof Error ? `${message} ${cause.message}` : message;
  };
  const server = new McpServer({
    name: 'stats',
    version: '1.0.0',
    providers: [Stats],
    plugins: [{ name: 'observer', ended: (_request, outcome) => void outcomes.push(outcome) }],
    logger: { warn() {}, error() {} },
    onError: (error) => void logged.push(messageOf(error)),
  });
  return { client: await connect(server, options), logged, outcomes };
}

const ROWS: readonly (readonly [string, (client: TestClient) => Promise<unknown>, path: string])[] = [
  ['the JSON of a tool', (client) => client.callTool('plain'), 'rows[1].price is NaN'],
  ['structured content', (client) => client.callTool('structured'), 'rows[1].price is NaN'],
  ['structured content without text', (client) => client.callTool('withoutText'), 'rows[1].price is NaN'],
  ['structured content with _meta', (client) => client.callTool('explicit'), 'structuredContent.rows[1].price is NaN'],
  ['the _meta of a tool', (client) => client.callTool('meta'), '_meta.value.rows[1].price is NaN'],
  ['what ctx.once keeps', (client) => client.callTool('once'), 'rows[1].price is NaN'],
  ['the data of an error', (client) => client.callTool('failing'), 'value.rows[1].price is NaN'],
  ['the JSON of a resource', (client) => client.readResource('stats://now'), 'rows[1].price is NaN'],
  [
    'the _meta of a resource',
    (client) => client.readResource('stats://whole'),
    'contents[0]._meta.value.rows[1].price is NaN',
  ],
  ['the _meta of a prompt', (client) => client.getPrompt('ask', { name: 'x' }), '_meta.value.rows[1].price is NaN'],
  ['a question', (client) => client.callTool('sample'), 'temperature is NaN'],
];

describe.each(['2025-06-18', '2026-07-28'])('In %s, a number that JSON lacks', (revision) => {
  it('is a masked error, and the log names its path (#23)', async () => {
    const { client, logged, outcomes } = await open({
      revision,
      onSample: () => ({ role: 'assistant', content: { type: 'text', text: '' }, model: 'm' }),
    });
    for (const [title, call, path] of ROWS) {
      value = { rows: [{ price: null }, { price: Number.NaN }] };
      logged.length = 0;
      const shown = await call(client).catch((error: unknown) => (error as Error).message);
      expect([title, JSON.stringify(shown)]).toEqual([title, expect.stringContaining('Internal error (reference')]);
      expect([title, logged.join()]).toEqual([title, expect.stringContaining(path)]);
      expect([title, outcomes.at(-1)?.cause]).toEqual([title, 'bug']);
    }
    await client.close();
  });

  it('is an error in an annotation, and text in the log of the client (#23)', async () => {
    const { client, logged } = await open({ revision });
    value = [Number.POSITIVE_INFINITY];
    expect(JSON.stringify(await client.callTool('block'))).toContain('Internal error');
    expect(logged.join()).toContain('content[0].annotations.priority is Infinity');
    await client.setLogLevel('info');
    const seen: unknown[] = [];
    const onProgress = (...progress: unknown[]) => void seen.push(progress);
    await client.callTool('logs', {}, { onProgress });
    expect(JSON.stringify(client.notifications)).toContain('"data":{"value":["Infinity"]}');
    expect(seen).toEqual([[1, undefined, undefined]]);
    await client.close();
  });
});

it('is found if the revision sends structured content only as text (#23)', async () => {
  const { client, logged } = await open({ revision: '2024-11-05' });
  value = { rows: [{ price: Number.NaN }] };
  for (const tool of ['structured', 'withoutText']) {
    expect(JSON.stringify(await client.callTool(tool))).toContain('Internal error');
    expect(logged.pop()).toContain('structuredContent.rows[0].price is NaN');
  }
  await client.close();
});

it('keeps null, and the text null (#23)', async () => {
  const { client, logged } = await open();
  value = { rows: [null, { price: null, text: 'null', date: new Date(0) }] };
  const expected = { rows: [null, { price: null, text: 'null', date: '1970-01-01T00:00:00.000Z' }] };
  expect((await client.callTool('structured')).structuredContent).toEqual(expected);
  expect(
    JSON.parse((await client.callTool('plain')).content.map((block) => (block as { text: string }).text).join()),
  ).toEqual(expected);
  expect(logged).toEqual([]);
  await client.close();
});
