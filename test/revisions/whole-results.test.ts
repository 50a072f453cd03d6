// Handlers that return what another server sent them, such as a proxy: the results of the newest revision in full.
import { describe, expect, it } from '@jest/globals';
import { Completion, McpServer, Prompt, Resource, text, Tool } from '@decorum/core';
import { z } from 'zod';

import { RawClient } from '../support/raw-client.js';
import { REVISIONS, STATELESS } from '../support/requirements.js';

const CONTENT = [text('hello')];
const META = { 'example.com/a': 1 };
const WHOLE = { resultType: 'complete', _meta: META };
const QUESTION = {
  resultType: 'input_required',
  inputRequests: { roots: { method: 'roots/list' } },
  requestState: 'state',
};
const Sum = z.object({ sum: z.number() });

class Proxy {
  @Tool() greet() {
    return { content: CONTENT, isError: false, ...WHOLE };
  }

  @Tool({ output: Sum }) add() {
    return { content: CONTENT, structuredContent: { sum: 1 }, ...WHOLE };
  }

  @Tool() task() {
    return { content: CONTENT, resultType: 'other' };
  }

  @Tool() ask() {
    return QUESTION;
  }

  @Resource('proxy://{id}', { input: z.object({ id: z.string() }) }) read({ id }: { id: string }) {
    if (id === 'ask') return QUESTION;
    return { contents: [{ uri: `proxy://${id}`, text: 'hello' }], ttlMs: 5, cacheScope: 'public', ...WHOLE };
  }

  @Prompt({ input: z.object({ name: z.string() }) }) write({ name }: { name: string }) {
    if (name === 'ask') return QUESTION;
    return { messages: [{ role: 'user', content: { type: 'text', text: 'hello' } }], ...WHOLE };
  }

  @Completion({ for: 'write', argument: 'name' }) names() {
    return { completion: { values: ['Ann'], total: 1, hasMore: false }, ...WHOLE } as never;
  }
}

describe.each(REVISIONS)('a result of the newest revision that a handler returns, in %s,', (revision) => {
  const begin = async (reported: string[] = []) => {
    const logger = { warn: () => {}, error: () => {} };
    const onError = (error: unknown) => void reported.push((error as Error).message);
    const server = new McpServer({ name: 'proxy', version: '1', providers: [Proxy], logger, onError });
    server.addTool({ name: 'added' }, () => ({ content: CONTENT, ...WHOLE }));
    server.addTool({ name: 'sum', output: Sum }, () => ({
      content: CONTENT,
      structuredContent: { sum: 1 },
      resultType: 'complete',
    }));
    return await RawClient.connect(server, { revision });
  };
  const type = revision === STATELESS ? { resultType: 'complete' } : {};
  const fields = (result: object) => {
    const { _meta: meta, ...rest } = result as { readonly _meta?: object };
    expect(meta).toMatchObject(META);
    return rest;
  };

  it('is sent as that result by tools, with and without output, and by added tools (#22)', async () => {
    const client = await begin();
    expect(fields(await client.call('greet'))).toEqual({ content: CONTENT, isError: false, ...type });
    expect(fields(await client.call('added'))).toEqual({ content: CONTENT, ...type });
    expect(fields(await client.call('add'))).toMatchObject({ content: expect.arrayContaining(CONTENT), ...type });
  });

  it('is sent as that result by resources, prompts and completions (#22)', async () => {
    const client = await begin();
    const { ttlMs, cacheScope, ...read } = fields(await client.result('resources/read', { uri: 'proxy://a' })) as {
      ttlMs?: unknown;
      cacheScope?: unknown;
    };
    expect(read).toEqual({ contents: [{ uri: 'proxy://a', text: 'hello' }], ...type });
    // the option `cache` decides, because the proxy's clients may not be those of the other server
    expect([ttlMs, cacheScope]).toEqual(revision === STATELESS ? [0, 'private'] : [undefined, undefined]);
    const prompt = await client.result('prompts/get', { name: 'write', arguments: { name: 'a' } });
    expect(fields(prompt)).toEqual({ messages: [{ role: 'user', content: CONTENT[0] }], ...type });
    const ref = { type: 'ref/prompt', name: 'write' };
    const found = await client.result('completion/complete', { ref, argument: { name: 'name', value: '' } });
    expect(found).toMatchObject({ completion: { values: ['Ann'], total: 1, hasMore: false } });
  });

  it('is data if its type is of another kind (#22)', async () => {
    const client = await begin();
    const { content } = (await client.call('task')) as { content: readonly { readonly text: string }[] };
    expect(JSON.parse(content[0]?.text ?? '')).toEqual({ content: CONTENT, resultType: 'other' });
  });

  it('is an error that names needInput if it asks a question (#22)', async () => {
    const reported: string[] = [];
    const client = await begin(reported);
    expect(await client.call('ask')).toMatchObject({ isError: true });
    await client.error('resources/read', { uri: 'proxy://ask' });
    await client.error('prompts/get', { name: 'write', arguments: { name: 'ask' } });
    const remedy = expect.stringMatching(/^Proxy\.\w+ returned .*"input_required"\. Return needInput\(/);
    expect(reported).toEqual([remedy, remedy, remedy]);
  });
});
