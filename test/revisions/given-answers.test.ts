// What clients answer: every action, every value of a form, every failure, and roots that change.
import { describe, expect } from '@jest/globals';
import type { Context, JsonObject } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { type Answer, RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, type Revision, STATELESS } from '../support/requirements.js';
import { ask as askAny, type Asking, outcome } from './asking.js';
import { CAPABILITIES, SAID } from './rounds.js';
import { deferred, serverWith } from './servers.js';

const NAME: JsonObject = { type: 'object', properties: { name: { type: 'string' } } };

const ask = (revision: Revision, question: Asking, answer?: Answer) =>
  askAny(revision, question, { capabilities: CAPABILITIES, ...(answer && { answer }) });

const elicit: Asking = (context) => context.elicit(NAME, { message: 'Who?' });
const confirm: Asking = (context) => context.confirm('Sure?');
const visit: Asking = (context) => context.elicitUrl({ message: 'Go', url: 'https://example.com/' });
const require: Asking = (context) =>
  context.requireUrl({ message: 'Go', url: 'https://example.com/' }).then(() => 'been there');

/** The ways to ask the user that wait for an answer in a revision. */
function waysIn(revision: Revision): Readonly<Record<string, Asking>> {
  if (revision === '2025-06-18') return { elicit, confirm };
  return { elicit, confirm, visit, ...(revision === STATELESS && { require }) };
}

/** Connects a client that is asked the same question in each call. Returns what an answer leads to. */
async function answering(revision: Revision, question: Asking) {
  const given: object[] = [];
  const answer: Answer = () => {
    const result = given.pop();
    return result && { result };
  };
  const answers = { 'elicitation/create': answer };
  const server = serverWith({ ask: outcome(question) });
  const client = await RawClient.connect(server, { revision, capabilities: CAPABILITIES, answers });
  return async (result: object): Promise<string | undefined> => {
    given.push(result);
    const said = await client.call('ask');
    return said['resultType'] === 'input_required' ? 'asked again' : textOf(said);
  };
}

describe('the action of a user', () => {
  const OUTCOMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    elicit: {
      accept: '{"action":"accept","content":{}}',
      decline: '{"action":"decline"}',
      cancel: '{"action":"cancel"}',
    },
    confirm: { accept: 'true', decline: 'false', cancel: 'false' },
    visit: { accept: '{"action":"accept"}', decline: '{"action":"decline"}', cancel: '{"action":"cancel"}' },
    require: { accept: '"been there"', decline: 'client error undefined', cancel: 'client error undefined' },
  };

  eachRevision(
    ['ELIC-08', 'ELIC-24'],
    'is one of three in every way to ask, whatever else there is',
    async (revision) => {
      const refused = revision === STATELESS ? 'asked again' : 'client error undefined';
      for (const [way, question] of Object.entries(waysIn(revision))) {
        const saidTo = await answering(revision, question);
        for (const action of ['accept', 'decline', 'cancel']) {
          for (const more of [{}, { content: {} }, { content: null }, { accepted: true }, { confirmed: true }]) {
            const said = await saidTo({ action, ...more });
            expect([way, action, more, said]).toEqual([way, action, more, OUTCOMES[way]?.[action]]);
          }
        }
        const wrong = ['Accept', 'ACCEPT', 'accept ', '', 'accepted', 'reject', ['accept'], true, 1, 0, null, {}];
        for (const action of wrong) {
          expect([way, action, await saidTo({ action, content: {} })]).toEqual([way, action, refused]);
        }
        const failures: unknown[] = ['accept', true, [], [{ action: 'accept' }], {}, { result: { action: 'accept' } }];
        for (const failure of [...failures, { error: { code: -1, message: 'No' } }]) {
          expect([way, failure, await saidTo(failure as object)]).toEqual([way, failure, refused]);
        }
      }
    },
  );
});

/** Fields of a form, with valid and invalid values. */
const FIELDS: readonly (readonly [field: JsonObject, valid: readonly unknown[], invalid: readonly unknown[]])[] = [
  [
    { type: 'string', minLength: 2, maxLength: 3 },
    ['ab', 'abc', '  '],
    ['', 'a', 'abcd', 77, null, true, [], ['ab'], {}],
  ],
  [{ type: 'string' }, ['', '0', 'null'], [0, false, null, ['']]],
  [{ type: 'string', format: 'email' }, ['a@b.example'], ['', 'a', 'a@', 7]],
  [{ type: 'string', format: 'uri' }, ['https://example.com', 'urn:a'], ['', 'example', '/a']],
  [{ type: 'string', format: 'date' }, ['2024-02-29'], ['', '2023-02-29', '2024-2-9', '2024-02-29T00:00:00Z']],
  [{ type: 'string', format: 'date-time' }, ['2024-02-29T10:00:00Z'], ['', '2024-02-29', '2024-02-29T25:00:00Z']],
  [{ type: 'integer', minimum: 0, maximum: 5 }, [0, 5, 3], [-1, 6, 1.5, '3', '', null, true, false, [3]]],
  [{ type: 'number', minimum: -0.5 }, [0, -0.5, 1e9], [-0.6, '0', '1', null, false]],
  [{ type: 'boolean' }, [true, false], [0, 1, 'true', 'false', '', null, []]],
  [{ type: 'string', enum: ['a', ''] }, ['a', ''], ['A', ' ', 'b', null, 0, ['a']]],
  [{ type: 'string', oneOf: [{ const: 'a', title: 'First' }] }, ['a'], ['First', 'A', '', null]],
];
const SEVERAL: (typeof FIELDS)[number] = [
  { type: 'array', items: { type: 'string', enum: ['a', 'b', 'c'] }, minItems: 1, maxItems: 2 },
  [['a'], ['b', 'a']],
  [[], ['a', 'b', 'c'], ['d'], [null], 'a', null, { 0: 'a' }],
];

describe('the content of a form', () => {
  const fieldsIn = (revision: Revision) => (revision === '2025-06-18' ? FIELDS : [...FIELDS, SEVERAL]);
  const formOf = (field: JsonObject, required = true): JsonObject => ({
    type: 'object',
    properties: { value: field },
    ...(required && { required: ['value'] }),
  });
  const REJECTED = /^ToolError: .*Which\?|^asked again$/;

  eachRevision('ELIC-09', 'fits each field, or the handler does not get it', async (revision) => {
    for (const [field, valid, invalid] of fieldsIn(revision)) {
      for (const required of [true, false]) {
        const schema = formOf(field, required);
        const elicitIt: Asking = (context) => context.elicit(schema, { message: 'Which?' });
        const answerIt = await answering(revision, elicitIt);
        const saidTo = (content: unknown) => answerIt({ action: 'accept', content });
        for (const value of valid) {
          const said = await saidTo({ value });
          expect([schema, said]).toEqual([schema, JSON.stringify({ action: 'accept', content: { value } })]);
        }
        const absent = await saidTo({});
        if (required) expect([schema, absent]).toEqual([schema, expect.stringMatching(REJECTED)]);
        else expect(absent).toBe('{"action":"accept","content":{}}');
        for (const value of invalid) {
          expect([schema, value, await saidTo({ value })]).toEqual([schema, value, expect.stringMatching(REJECTED)]);
        }
        for (const content of ['value', 7, true, [], [{ value: valid[0] }]]) {
          expect([schema, content, await saidTo(content)]).toEqual([schema, content, expect.stringMatching(REJECTED)]);
        }
      }
    }
  });
});

describe('a question that fails', () => {
  /** Failures of a client with a session, and the code that the handler sees. */
  const FAILURES: readonly (readonly [answer: ReturnType<Answer>, code: unknown])[] = [
    [{ error: { code: -1, message: 'User rejected' } }, -1],
    [{ error: { code: -32042, message: 'No' } }, -32042],
    [{ error: { code: 0, message: '' } }, 0],
    [{ error: {} }, undefined],
    [{ error: { code: '1', message: 'No' } }, undefined],
    [{ result: [] }, undefined],
    [{ result: null as never }, undefined],
    [{ result: 'accept' as never }, undefined],
    [undefined, undefined],
  ];

  eachSessionRevision('ELIC-24', 'is an error in every way to ask, and never an agreement', async (revision) => {
    for (const [way, question] of Object.entries(waysIn(revision))) {
      for (const [answer, code] of FAILURES) {
        const { said } = await ask(revision, question, () => answer);
        expect([way, answer, said]).toEqual([way, answer, `client error ${String(code)}`]);
      }
    }
  });
});

describe('roots', () => {
  const listed = (time: number) => ({ roots: [{ uri: `file:///${time}` }] });
  const where: Asking = async (context) => (await context.roots()).map(({ uri }) => uri).join();

  eachSessionRevision('ROOT-03', 'are requested again after each change, over every transport', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      let time = 0;
      const answers = { 'roots/list': () => ({ result: listed((time += 1)) }) };
      const options = { revision, capabilities: { roots: { listChanged: true } }, answers };
      const server = serverWith({ ask: outcome(where) });
      const client = await RawClient.connect(server, options, transport);
      const other = await RawClient.connect(server, options, transport);
      for (const change of [1, 2, 3]) {
        for (let call = 0; call < 2; call += 1) {
          expect([name, textOf(await client.call('ask'))]).toEqual([name, `"file:///${change}"`]);
        }
        const params = change === 2 ? { _meta: { 'example.com/a': 1 } } : undefined;
        await client.notify('notifications/roots/list_changed', params);
        await client.settled();
      }
      expect(client.of('roots/list')).toHaveLength(3);
      // another session has roots of its own
      expect(textOf(await other.call('ask'))).toBe('"file:///4"');
      await client.close();
      await other.close();
    }
  });

  eachSessionRevision('ROOT-04', 'that were unavailable are requested again', async (revision) => {
    for (const declared of [{}, { listChanged: true }]) {
      const given: ReturnType<Answer>[] = [
        { error: { code: -32601, message: 'Roots not supported' } },
        { error: { code: -32603, message: 'Internal error' } },
        { result: { roots: [{ uri: 'https://example.com' }] } },
        { result: {} },
        undefined,
        { result: { roots: [] } },
      ];
      const server = serverWith({ ask: outcome(where) }, { questionTimeoutMs: 50 });
      const answers = { 'roots/list': () => given.shift() };
      const client = await RawClient.connect(server, { revision, capabilities: { roots: declared }, answers });
      const said = [];
      for (let call = 0; call < 6; call += 1) said.push(textOf(await client.call('ask')));
      const invalid = 'client error undefined';
      expect(said).toEqual(['client error -32601', 'client error -32603', invalid, invalid, invalid, '""']);
    }
  });
});

describe('a request to the model', () => {
  const sample = (context: Context) => context.sample({ messages: 'Hi', maxTokens: 5 });

  eachSessionRevision('SAMP-12', 'is not sent once the request has ended, however it ends', async (revision) => {
    for (const [name, transport] of Object.entries(transportsOf(revision))) {
      const contexts: Context[] = [];
      const begun = deferred();
      const server = serverWith({
        wait: async (context) => {
          contexts.push(context);
          begun.resolve();
          await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
        },
        fail: (context) => {
          contexts.push(context);
          throw new Error('failed');
        },
      });
      const answers = { 'sampling/createMessage': () => ({ result: SAID }) };
      const client = await RawClient.connect(server, { revision, capabilities: CAPABILITIES, answers }, transport);
      void client.send(client.buildMessage('waiting', 'tools/call', { name: 'wait' }));
      await begun.promise;
      await client.cancel('waiting');
      await client.call('fail');
      await client.settled();
      for (const context of contexts) {
        const settled = await sample(context).catch((error: unknown) => error);
        expect([name, settled]).toEqual([name, expect.any(Error)]);
      }
      await client.settled();
      expect(client.of('sampling/createMessage')).toEqual([]);
      await client.close();
    }
  });
});
