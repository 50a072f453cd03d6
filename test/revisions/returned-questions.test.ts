// Questions of handlers in full: what is invalid is not sent, whether the handler asks or returns the question.
import { describe, expect } from '@jest/globals';
import { type Context, type InputRequest, type JsonObject, needInput } from '@decorum/core';

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

describe('a returned visit', () => {
  const visit = (params: JsonObject) => ({ method: 'elicitation/create', params });

  eachSessionRevision('ELIC-11', 'has an id, a message and a URL, whether it gives an id or not', async (revision) => {
    const own = visit({ ...VISIT, elicitationId: 'own' });
    const questions = await sent(revision, {
      a: visit(VISIT),
      b: own,
      c: visit({ ...VISIT, elicitationId: undefined }),
    });
    const ids = questions.map(({ params: { elicitationId, ...params } }) => {
      expect(params).toEqual(VISIT);
      return elicitationId;
    });
    expect(ids).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), 'own', expect.stringMatching(/^[\da-f-]{36}$/)]);
    expect(new Set(ids).size).toBe(3);
  });

  inStateless('ELIC-12', 'has a message and a URL, whether it gives an id or not', async () => {
    for (const more of [{}, { elicitationId: 'own' }]) {
      const questions = await sent(STATELESS, { a: visit({ ...VISIT, ...more }) });
      expect(questions).toEqual([{ method: 'elicitation/create', params: VISIT }]);
    }
  });

  for (const id of ['ELIC-11', 'ELIC-12']) {
    eachRevision(id, 'is not sent without a message or a URL', async (revision) => {
      for (const more of [
        { message: undefined },
        { message: 7 },
        { message: null },
        { url: undefined },
        { url: null },
      ]) {
        await rejects(revision, visit({ ...VISIT, ...more }));
      }
    });
  }

  eachRevision('ELIC-13', 'has its URL in the form in which browsers send it', async (revision) => {
    const forms = [' https://example.com/a b', 'HTTPS://EXAMPLE.com/a%20b', 'https://example.com:443/x/../a b\n'];
    for (const url of forms) {
      const [question] = await sent(revision, { a: visit({ ...VISIT, url }) });
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

  eachRevision('ELIC-14', 'has an https URL, except for development on the same machine', async (revision) => {
    const urls = ['http://example.com', 'ftp://localhost', 'javascript:alert(1)', 'http://localhost.example.com/'];
    for (const url of urls) await rejects(revision, visit({ ...VISIT, url }));
    for (const url of ['http://localhost:1/', 'http://127.0.0.1/', 'http://[::1]/', 'http://LOCALHOST:1/']) {
      expect(await sent(revision, { a: visit({ ...VISIT, url }) })).toHaveLength(1);
    }
  });

  eachRevision('ELIC-15', 'has no user and no password in its URL', async (revision) => {
    for (const user of ['ada', 'ada:secret', ':secret', '%20']) {
      const url = `https://${user}@example.com/`;
      await rejects(revision, visit({ ...VISIT, url }));
      for (const kind of ['elicitUrl', 'requireUrl'] as const) {
        for (const given of [url, () => url]) {
          expect(await run(revision, (context) => context[kind]({ message: 'Go', url: given }))).toEqual([]);
        }
      }
    }
  });
});

describe('a returned form', () => {
  const form = (params: JsonObject) => ({ method: 'elicitation/create', params });

  eachRevision('ELIC-05', 'is flat, and has what forms have', async (revision) => {
    const age = { type: 'integer', minimum: 0 };
    for (const mode of [{}, { mode: 'form' }]) {
      for (const requestedSchema of [undefined, null, [], 'name']) {
        await rejects(revision, form({ ...mode, message: 'Who?', requestedSchema }));
      }
      const properties = { name: { type: 'string', format: 'ipv4', pattern: '^a$' }, age };
      const requestedSchema = { type: 'object', properties, required: ['age'], additionalProperties: false };
      const [question] = await sent(revision, { a: form({ ...mode, message: 'Who?', requestedSchema }) });
      expect(question?.params).toEqual({
        ...(revision !== '2025-06-18' && mode),
        message: 'Who?',
        requestedSchema: { type: 'object', properties: { name: { type: 'string' }, age }, required: ['age'] },
      });
    }
    await rejects(revision, form({ requestedSchema: NAME }));
    for (const mode of ['', 'URL', 'Form', null, 0]) {
      await rejects(revision, form({ ...VISIT, requestedSchema: NAME, mode }));
    }
  });

  for (const id of ['ELIC-03', 'ELIC-04']) {
    eachRevision(id, 'asks for no secret, wherever it is in the form', async (revision) => {
      const [text, flag] = [{ type: 'string' }, { type: 'boolean' }];
      const forms = [
        { password: text },
        { name: text, password: text },
        { password: text, name: text },
        { name: text, newPassword1: text, age: flag },
        { name: text, 'API-Key': { type: 'array', items: { type: 'string', enum: ['a'] } } },
        { cvc: { type: 'string', oneOf: [{ const: 'a', title: 'A' }] }, name: text },
      ];
      for (const properties of forms) {
        const schema = { type: 'object', properties };
        await rejects(revision, form({ message: 'Who?', requestedSchema: schema }));
        expect(await run(revision, (context) => context.elicit(schema as JsonObject, { message: 'Who?' }))).toEqual([]);
        // not even once something harmless has been asked
        const questions = await run(revision, async (context) => {
          await context.elicit(NAME, { message: 'First' });
          return await context.elicit(schema as JsonObject, { message: 'Second' }).catch(() => 'refused');
        });
        expect(questions.map(({ params }) => params['message'])).toEqual(['First']);
      }
    });
  }
});

describe('a request to the model', () => {
  const words = { type: 'text', text: 'Hi' };
  const use = (id: string) => ({ type: 'tool_use', id, name: 'add', input: {} });
  const given = (toolUseId: string) => ({ type: 'tool_result', toolUseId, content: [words] });
  const said = (role: unknown, ...content: unknown[]) => ({
    role,
    content: content.length === 1 ? content[0] : content,
  });

  /** The questions to the model, asked and returned. */
  async function questionsOf(revision: Revision, messages: readonly unknown[]) {
    const params = { messages, maxTokens: 5 };
    const asked = await run(revision, async (context) => {
      await context.sample(params as never);
      return 'done';
    });
    const returned = await sent(revision, { a: { method: 'sampling/createMessage', params } });
    return [asked.length, returned.length];
  }

  eachRevision('SAMP-10', 'has messages of known roles with valid blocks, wherever they are', async (revision) => {
    const odd = [
      said('system', words),
      said('User', words),
      said('', words),
      said(undefined, words),
      said(['user'], words),
      said('user', { type: 'image', data: 'no base64', mimeType: 'image/png' }),
      said('user', { type: 'audio', data: 'AAA', mimeType: 'audio/wav' }),
      said('user', { type: ['text'], text: 'Hi' }),
      said('user', { type: 'constructor' }),
      said('user', { type: 'resource', resource: { uri: 'a://b', text: '' } }),
      said('user', words, { type: 'text', text: null }),
      said('user', words, null),
    ];
    const fine = said('user', words);
    expect(await questionsOf(revision, [fine, said('assistant', words), fine])).toEqual([1, 1]);
    expect(await questionsOf(revision, [said('user', { type: 'text', text: '' })])).toEqual([1, 1]);
    for (const message of odd) {
      for (const messages of [[message], [fine, message], [message, fine]]) {
        expect([messages, await questionsOf(revision, messages)]).toEqual([messages, [0, 0]]);
      }
    }
  });

  eachRevision('SAMP-10', 'has uses and results of tools with all their fields', async (revision) => {
    // older revisions have none of them
    const count = revision < '2025-11-25' ? 0 : 1;
    const fine = [said('assistant', use('1')), said('user', given('1'))];
    expect(await questionsOf(revision, fine)).toEqual([count, count]);
    const odd = [
      [{ ...use('1'), input: undefined }, given('1')],
      [{ ...use('1'), input: 'a' }, given('1')],
      [{ ...use('1'), name: undefined }, given('1')],
      [use('1'), { ...given('1'), content: undefined }],
      [use('1'), { ...given('1'), content: '21' }],
    ];
    for (const [used, returned] of odd) {
      const messages = [said('assistant', used), said('user', returned)];
      expect([messages, await questionsOf(revision, messages)]).toEqual([messages, [0, 0]]);
    }
  });

  eachRevision('SAMP-08', 'has the result of each use, and of no other', async (revision) => {
    const uses = (...ids: string[]) => said('assistant', ...ids.map(use));
    const results = (...ids: string[]) => said('user', ...ids.map(given));
    for (const messages of [
      [uses('1'), results('1')],
      [uses('1', '2', '10'), results('10', '2', '1')],
      [said('user', words), uses('1'), results('1'), uses('2'), results('2'), said('assistant', words)],
      [said('assistant', words, use('1')), results('1')],
      [uses('1'), results('1'), uses('1'), results('1')],
    ]) {
      expect([messages, await questionsOf(revision, messages)]).toEqual([messages, [1, 1]]);
    }
    for (const messages of [
      [uses('1'), results('2')],
      [uses('1'), results('1 ')],
      [uses('a'), results('A')],
      [uses('1'), results('1', '1')],
      [uses('1'), results('1', '2')],
      [uses('1', '2'), results('1', '1')],
      [uses('1', '2'), results('1'), results('2')],
      [uses('1'), said('assistant', words), results('1')],
      [uses('1'), results('1'), uses('2')],
      [uses('1'), results('1'), uses('2'), said('user', words)],
      [uses('1'), results('1'), results('1')],
      [said('user', words), results('1')],
      [said('user', words, use('1'))],
    ]) {
      expect([messages, await questionsOf(revision, messages)]).toEqual([messages, [0, 0]]);
    }
  });

  eachRevision('SAMP-07', 'has results alone in each message that has any', async (revision) => {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    const used = said('assistant', use('1'));
    for (const other of [words, image, use('2')]) {
      for (const mixed of [said('user', given('1'), other), said('user', other, given('1'))]) {
        for (const messages of [
          [used, mixed],
          [used, said('user', given('1')), used, mixed],
          [used, mixed, said('user', words)],
        ]) {
          expect([messages, await questionsOf(revision, messages)]).toEqual([messages, [0, 0]]);
        }
      }
    }
  });

  eachRevision('SAMP-04', 'has a number of tokens in a returned question too', async (revision) => {
    const messages = [said('user', words)];
    for (const maxTokens of [undefined, null, '5']) {
      await rejects(revision, { method: 'sampling/createMessage', params: { messages, maxTokens } });
    }
    for (const odd of [undefined, null, 'Hi', {}]) {
      await rejects(revision, { method: 'sampling/createMessage', params: { messages: odd, maxTokens: 5 } });
    }
  });
});

describe('a request of another kind', () => {
  inStateless(
    'MRTR-04',
    'is not sent: a result asks in three ways, and each question has a method and params',
    async () => {
      const methods = [
        'ping',
        'tools/call',
        'tasks/get',
        'Roots/list',
        'roots/list ',
        '',
        'constructor',
        null,
        undefined,
      ];
      for (const method of methods)
        await rejects(STATELESS, { method, params: { message: 'Who?', requestedSchema: NAME } });
      const extra = { jsonrpc: '2.0', id: 1, result: {}, url: 'a://b' };
      const client = await RawClient.connect(
        serverWith({ ask: () => needInput({ a: { method: 'roots/list', ...extra } as InputRequest }) }),
        { revision: STATELESS, capabilities: CAPABILITIES },
      );
      const { result } = await client.request('tools/call', { name: 'ask' });
      expect(result?.['inputRequests']).toEqual({ a: { method: 'roots/list', params: {} } });
    },
  );
});

describe('a question that is returned after others', () => {
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
