// What handlers return: questions in full, which are not sent if they are invalid, and whole results.
import { describe, expect, it } from '@jest/globals';
import {
  Completion,
  type Context,
  type InputRequest,
  type JsonObject,
  McpServer,
  needInput,
  Prompt,
  Resource,
  text,
  Tool,
} from '@decorum/core';
import { z } from 'zod';

import { type Answer, RawClient } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless, type Revision, STATELESS } from '../support/requirements.js';
import { ANSWERS, NAME } from './rounds.js';
import { serverWith } from './servers.js';

const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: {} };
const VISIT = { mode: 'url', message: 'Go', url: 'https://example.com/' };

/** The requests that a client gets if a handler returns them, under these keys. */
async function sent(revision: Revision, requests: Readonly<Record<string, unknown>>, answers = ANSWERS) {
  const handler = (context: Context) =>
    context.answers ? 'answered' : needInput(requests as Readonly<Record<string, InputRequest>>);
  return await run(revision, handler, answers);
}

async function run(revision: Revision, ask: (context: Context) => unknown, answers: Record<string, Answer> = ANSWERS) {
  const server = serverWith({ ask }, { questionTimeoutMs: 50 });
  const client = await RawClient.connect(server, { revision, capabilities: CAPABILITIES, answers });
  const { isError = false } = await client.call('ask').catch(() => ({ isError: true }));
  expect([revision, isError]).toEqual([revision, client.questions.length === 0]);
  return client.questions;
}

/** Asserts that a request is rejected, alone and together with a valid one. */
async function rejects(revision: Revision, request: unknown) {
  const fine = { method: 'roots/list' };
  for (const requests of [{ a: request }, { a: request, b: fine }, { a: fine, b: request }]) {
    expect([request, await sent(revision, requests)]).toEqual([request, []]);
  }
}

const elicitation = (params: JsonObject) => ({ method: 'elicitation/create', params });

describe('a visit', () => {
  eachRevision(['ELIC-11', 'ELIC-12'], 'has a message and a URL, and in sessions an id', async (revision) => {
    const mine = await sent(revision, { a: elicitation({ ...VISIT, elicitationId: 'own' }) });
    const made = await sent(revision, {
      a: elicitation(VISIT),
      b: elicitation({ ...VISIT, elicitationId: undefined }),
    });
    const asking = (context: Context) => context.elicitUrl({ message: 'Go', url: 'https://example.com/' });
    made.push(...(await run(revision, (context) => asking(context).then(() => 'done'))));
    if (revision === STATELESS) {
      for (const { params } of [...mine, ...made]) expect(params).toEqual(VISIT);
    } else {
      expect(mine[0]?.params).toEqual({ ...VISIT, elicitationId: 'own' });
      const ids = made.map(({ params: { elicitationId, ...params } }) => {
        expect([params, elicitationId]).toEqual([VISIT, expect.stringMatching(/^[\da-f-]{36}$/)]);
        return elicitationId;
      });
      expect(new Set(ids).size).toBe(3);
    }
    for (const more of [{ message: undefined }, { message: 7 }, { message: null }, { url: undefined }, { url: null }]) {
      await rejects(revision, elicitation({ ...VISIT, ...more }));
    }
  });

  eachRevision('ELIC-13', 'has its URL in the form in which browsers send it', async (revision) => {
    const forms = [' https://example.com/a b', 'HTTPS://EXAMPLE.com/a%20b', 'https://example.com:443/x/../a b\n'];
    for (const url of forms) {
      const [question] = await sent(revision, { a: elicitation({ ...VISIT, url }) });
      expect([url, question?.params['url']]).toEqual([url, 'https://example.com/a%20b']);
      for (const made of [url, () => url]) {
        const [asked] = await run(revision, async (context) => {
          await context.elicitUrl({ message: 'Go', url: made });
          return 'done';
        });
        expect([url, asked?.params['url']]).toEqual([url, 'https://example.com/a%20b']);
      }
    }
  });
});

describe('a returned form', () => {
  eachRevision('ELIC-05', 'is flat, and has what forms have', async (revision) => {
    const age = { type: 'integer', minimum: 0 };
    for (const mode of [{}, { mode: 'form' }]) {
      for (const requestedSchema of [undefined, null, [], 'name']) {
        await rejects(revision, elicitation({ ...mode, message: 'Who?', requestedSchema }));
      }
      const properties = { name: { type: 'string', format: 'ipv4', pattern: '^a$' }, age };
      const requestedSchema = { type: 'object', properties, required: ['age'], additionalProperties: false };
      const [question] = await sent(revision, { a: elicitation({ ...mode, message: 'Who?', requestedSchema }) });
      expect(question?.params).toEqual({
        ...(revision !== '2025-06-18' && mode),
        message: 'Who?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' }, age }, required: ['age'] },
      });
    }
    await rejects(revision, elicitation({ requestedSchema: NAME }));
    for (const mode of ['', 'URL', 'Form', null, 0]) {
      await rejects(revision, elicitation({ ...VISIT, requestedSchema: NAME, mode }));
    }
  });

  eachRevision(['ELIC-03', 'ELIC-04'], 'asks for no secret, wherever it is in the form', async (revision) => {
    const [words, flag] = [{ type: 'string' }, { type: 'boolean' }];
    const names =
      'apiKey,access_token,creditCardNumber,clientSecret,PASSPHRASE,api-key,pwd,newPasswd,private_key,card_number,' +
      'credit card,API key,private.key,cvv,cardCVC,refreshToken';
    const fields = [words, { type: 'integer' }, { type: 'string', enum: ['a'] }, flag];
    for (const properties of [
      { password: words },
      { name: words, password: words },
      { password: words, name: words },
      { name: words, newPassword1: words, age: flag },
      { name: words, 'API-Key': { type: 'array', items: { type: 'string', enum: ['a'] } } },
      { cvc: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] }, name: words },
      ...names.split(',').map((name, at) => ({ city: words, [name]: fields[at % 4] })),
    ]) {
      const schema = { type: 'object', properties };
      await rejects(revision, elicitation({ message: 'Who?', requestedSchema: schema }));
      expect(await run(revision, (context) => context.elicit(schema as JsonObject, { message: 'Who?' }))).toEqual([]);
      // not even once something harmless has been asked
      const questions = await run(revision, async (context) => {
        await context.elicit(NAME, { message: 'First' });
        return await context.elicit(schema as JsonObject, { message: 'Second' }).catch(() => 'refused');
      });
      expect(questions.map(({ params }) => params['message'])).toEqual(['First']);
    }
  });
});

describe('a returned question', () => {
  inStateless('MRTR-04', 'is of one of three kinds, and has a method and params', async () => {
    for (const method of ['ping', 'tools/call', 'Roots/list', 'roots/list ', '', 'constructor', null, undefined]) {
      await rejects(STATELESS, { method, params: { message: 'Who?', requestedSchema: NAME } });
    }
    const extra = { jsonrpc: '2.0', id: 1, result: {}, url: 'a://b' };
    const [question] = await sent(STATELESS, { a: { method: 'roots/list', ...extra } });
    expect(question).toEqual({ method: 'roots/list', params: {} });
  });

  eachSessionRevision('LIFE-09', 'is not sent to a client that has not declared it (#22)', async (revision) => {
    const params = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 };
    const handler = (context: Context) => {
      if (!context.answers) return needInput({ first: { method: 'roots/list' } });
      return 'second' in context.answers
        ? 'answered'
        : needInput({ second: { method: 'sampling/createMessage', params } });
    };
    const server = serverWith({ ask: handler });
    const all = await RawClient.connect(server, { revision, capabilities: CAPABILITIES, answers: ANSWERS });
    await all.call('ask');
    expect(all.questions.map(({ method }) => method)).toEqual(['roots/list', 'sampling/createMessage']);
    const client = await RawClient.connect(server, { revision, capabilities: { roots: {} }, answers: ANSWERS });
    expect(await client.call('ask')).toMatchObject({ isError: true });
    expect(client.questions.map(({ method }) => method)).toEqual(['roots/list']);
  });
});

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

describe.each(['2025-11-25', STATELESS] as const)(
  'a result of the newest revision that a handler returns, in %s,',
  (revision) => {
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

    it('is data if its type is of another kind, and an error that names needInput if it asks (#22)', async () => {
      const reported: string[] = [];
      const client = await begin(reported);
      const { content } = (await client.call('task')) as { content: readonly { readonly text: string }[] };
      expect(JSON.parse(content[0]?.text ?? '')).toEqual({ content: CONTENT, resultType: 'other' });
      expect(await client.call('ask')).toMatchObject({ isError: true });
      await client.error('resources/read', { uri: 'proxy://ask' });
      await client.error('prompts/get', { name: 'write', arguments: { name: 'ask' } });
      const remedy = expect.stringMatching(/^Proxy\.\w+ returned .*"input_required"\. Return needInput\(/);
      expect(reported).toEqual([remedy, remedy, remedy]);
    });
  },
);
