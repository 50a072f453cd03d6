// Questions to the client for roots and samples, whether a handler asks them or returns them.
import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';
import { audio, type Context, image, type JsonObject, link, needInput, text, user } from '@decorum/core';

import { type Answer, RawClient, textOf } from '../support/raw-client.js';
import {
  eachRevision,
  eachSessionRevision,
  inStateless,
  type Revision,
  REVISIONS,
  STATELESS,
} from '../support/requirements.js';
import { ask } from './asking.js';
import { SAID } from './rounds.js';
import { type Handler, serverWith } from './servers.js';

const HOME = { roots: [{ uri: 'file:///home/ada', name: 'Home' }] };
const HI = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 };

const result =
  (value: object): Answer =>
  () => ({ result: value });
const sample =
  (options: object = {}) =>
  (context: Context) =>
    context.sample({ messages: 'Hi', maxTokens: 5, ...options });
const roots = (context: Context) => context.roots();

/** What the handler learns if an answer is invalid. */
const refusal = (revision: Revision) => (revision === STATELESS ? 'asked again' : 'client error undefined');

/** The number of questions that a client with these capabilities gets if a handler returns one. */
async function returnedCount(
  revision: Revision,
  [method, params]: readonly [string, object?],
  capabilities: JsonObject,
) {
  const requests = { question: { method, ...(params && { params }) } } as never;
  const asking: Handler = (context) => (context.answers ? 'answered' : needInput(requests));
  const answers = { 'sampling/createMessage': result(SAID), 'roots/list': result(HOME) };
  const client = await RawClient.connect(serverWith({ asking }), { revision, capabilities, answers });
  const { isError = false } = await client.call('asking').catch(() => ({ isError: true }));
  expect(isError).toBe(client.questions.length === 0);
  return client.questions.length;
}

/** The numbers of questions that a client gets if a handler asks for a sample, and if it returns the question. */
async function sampleCounts(revision: Revision, options: object, capabilities: JsonObject) {
  const { questions } = await ask(revision, sample(options), { capabilities, answer: result(SAID) });
  const returned = await returnedCount(revision, ['sampling/createMessage', { ...HI, ...options }], capabilities);
  return [questions.length, returned];
}

describe('roots', () => {
  const able = { roots: {} };

  eachRevision('ROOT-05', 'are files', async (revision) => {
    const said = JSON.stringify(HOME.roots);
    expect(await ask(revision, roots, { capabilities: able, answer: result(HOME) })).toMatchObject({ said });
    const uris = ['https://example.com', 'home/ada', 'file', 'file:', 'file:ada', 'file:/home/ada', 'file://%', '', 7];
    const odd = [{ uri: 'file:///a', name: 1 }, { uri: 'file:///a', _meta: 'm' }, {}, null, 'file:///a'];
    for (const [at, root] of [...uris.map((uri) => ({ uri })), ...odd].entries()) {
      const given = [[root], [...HOME.roots, root], [root, ...HOME.roots]][at % 3];
      const asked = await ask(revision, roots, { capabilities: able, answer: result({ roots: given }) });
      expect([given, asked.said]).toEqual([given, refusal(revision)]);
    }
  });
});

describe('sampling', () => {
  const capabilities = { sampling: {} };
  const TOOLS = { sampling: { tools: {} } };
  const HERE = { type: 'text', text: 'Here' };
  const useOf = (id: string) => ({ type: 'tool_use', id, name: 'weather', input: {} });
  const outcomeOf = (toolUseId: string) => ({ type: 'tool_result', toolUseId, content: [HERE] });
  const turn = (role: unknown, ...content: unknown[]) => ({
    role,
    content: content.length === 1 ? content[0] : content,
  });

  /** All parameters about tools. */
  const WITH_TOOLS: readonly JsonObject[] = [
    { tools: [{ name: 'weather', inputSchema: { type: 'object' } }] },
    { tools: [] },
    { toolChoice: { mode: 'auto' } },
    { messages: [turn('assistant', [useOf('1')]), turn('user', outcomeOf('1'))] },
  ];

  eachRevision(['SAMP-02', 'SAMP-05'], 'has tools only if the revision has them', async (revision) => {
    const count = revision >= '2025-11-25' ? 1 : 0;
    for (const options of WITH_TOOLS) {
      expect([options, await sampleCounts(revision, options, TOOLS)]).toEqual([options, [count, count]]);
    }
  });

  eachRevision('SAMP-04', 'has messages, a token limit, and priorities from 0 to 1', async (revision) => {
    const modelPreferences = { hints: [{ name: 'a' }, { name: 'b' }], intelligencePriority: 0 };
    const asked = await ask(revision, sample({ modelPreferences }), { capabilities, answer: result(SAID) });
    expect(JSON.parse(asked.said)).toMatchObject({ text: 'Ho', model: 'm-1' });
    expect(asked.questions).toMatchObject([{ params: { ...HI, modelPreferences } }]);
    for (const name of ['costPriority', 'speedPriority', 'intelligencePriority']) {
      for (const value of [0, 0.5, 1, 1.01, -0.01, Number.NaN, '1']) {
        const count = typeof value === 'number' && value >= 0 && value <= 1 ? 1 : 0;
        const counts = await sampleCounts(revision, { modelPreferences: { [name]: value } }, capabilities);
        expect([name, value, counts]).toEqual([name, value, [count, count]]);
      }
    }
    const odd = [undefined, null, '5'].map((maxTokens) => ({ maxTokens }));
    for (const params of [...odd, ...[undefined, null, 'Hi', {}].map((messages) => ({ messages }))]) {
      expect(await returnedCount(revision, ['sampling/createMessage', { ...HI, ...params }], capabilities)).toBe(0);
    }
  });

  eachSessionRevision('SAMP-05', 'has one block of a kind of the revision in each message', async (revision) => {
    const messages = [
      user(text('a', { _meta: { a: 1 } })),
      user(image('UE5H', 'image/png', { annotations: { lastModified: '2025-01-12T15:00:58Z' } })),
      user(audio('V0FW', 'audio/wav')),
    ];
    // RawClient validates every message
    const { questions } = await ask(revision, sample({ messages }), { capabilities, answer: result(SAID) });
    const sent = questions[0]?.params?.['messages'] as { content: JsonObject }[];
    const heard = revision === '2024-11-05' ? 'text' : 'audio';
    expect(sent.map(({ content }) => content['type'])).toEqual(['text', 'image', heard]);
    // several blocks of one message become several messages of the same role
    const whole = { role: 'assistant', content: [text('b'), text('c')] } as const;
    const split = await ask(revision, sample({ messages: [user(text('a')), whole, user(text('d'))] }), {
      capabilities,
      answer: result(SAID),
    });
    const parts = split.questions[0]?.params['messages'] as { role: string; content: JsonObject }[];
    const shown = parts.map(({ role, content }) => `${role} ${String(content['text'])}`);
    expect(shown).toEqual(['user a', 'assistant b', 'assistant c', 'user d']);
  });

  eachSessionRevision('SAMP-05', 'is answered with one block of a kind of the revision', async (revision) => {
    const heard = { type: 'audio', data: 'V0FW', mimeType: 'audio/wav' };
    const seen = { type: 'image', data: 'UE5H', mimeType: 'image/png' };
    const used = { type: 'tool_use', id: 'u1', name: 'weather', input: {} };
    for (const [content, fits] of [
      [SAID.content, true],
      [seen, true],
      [heard, revision !== '2024-11-05'],
      [used, false],
      [[SAID.content], false],
      [[], false],
      [{ type: 'resource_link', uri: 'docs://a', name: 'a' }, false],
    ] as const) {
      const { said } = await ask(revision, sample(), { capabilities, answer: result({ ...SAID, content }) });
      expect([content, said]).toEqual([
        content,
        fits ? expect.stringContaining('"model":"m-1"') : 'client error undefined',
      ]);
    }
  });

  eachRevision('SAMP-06', 'accepts several blocks, including tool use', async (revision) => {
    const use = { type: 'tool_use', id: 'u1', name: 'weather', input: { city: 'Oslo' } };
    const content = [{ type: 'text', text: 'Let me see.' }, use];
    const answer = result({ ...SAID, content, stopReason: 'toolUse' });
    const tools = [{ name: 'weather', inputSchema: { type: 'object' } }];
    const { said } = await ask(revision, sample({ tools }), { capabilities: { sampling: { tools: {} } }, answer });
    expect(JSON.parse(said)).toMatchObject({ content, stopReason: 'toolUse', text: 'Let me see.' });
    // a single block is a list of one, and every block counts
    for (const [given, seen] of [
      [use, [use]],
      [[use], [use]],
      [SAID.content, [SAID.content]],
      [[], undefined],
      [[use, { type: 'text' }], undefined],
      [[{ ...use, input: 'Oslo' }], undefined],
      [[use, null], undefined],
      [undefined, undefined],
    ] as const) {
      const sampled = result({ ...SAID, content: given, stopReason: 'toolUse' });
      const options = { capabilities: { sampling: { tools: {} } }, answer: sampled };
      const answered = await ask(revision, sample({ tools }), options);
      if (seen === undefined) expect([given, answered.said]).toEqual([given, refusal(revision)]);
      else expect(JSON.parse(answered.said)).toMatchObject({ content: seen });
    }
  });

  eachRevision(['SAMP-07', 'SAMP-08'], 'has the result of each use of a tool in a message', async (revision) => {
    const picture = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    const uses = (...ids: string[]) => turn('assistant', ...ids.map(useOf));
    const results = (...ids: string[]) => turn('user', ...ids.map(outcomeOf));
    const mixed = [HERE, picture, useOf('2')].flatMap((other) => [
      turn('user', outcomeOf('1'), other),
      turn('user', other, outcomeOf('1')),
    ]);
    for (const messages of [
      [uses('1'), results('1')],
      [uses('1', '2', '10'), results('10', '2', '1')],
      [turn('user', HERE), uses('1'), results('1'), uses('2'), results('2'), turn('assistant', HERE)],
      [turn('assistant', HERE, useOf('1')), results('1')],
      [uses('1'), results('1'), uses('1'), results('1')],
    ]) {
      expect([messages, await sampleCounts(revision, { messages }, TOOLS)]).toEqual([messages, [1, 1]]);
    }
    for (const messages of [
      [uses('1')],
      [uses('1'), turn('user', HERE)],
      [uses('1'), results('2')],
      [uses('1'), results('1 ')],
      [uses('a'), results('A')],
      [uses('1'), results('1', '1')],
      [uses('1'), results('1', '2')],
      [uses('1', '2'), results('1', '1')],
      [uses('1', '2'), results('1'), results('2')],
      [uses('1'), turn('user', HERE), results('1')],
      [uses('1'), turn('assistant', HERE), results('1')],
      [uses('1'), results('1'), uses('2')],
      [uses('1'), results('1'), uses('2'), turn('user', HERE)],
      [uses('1'), results('1'), results('1')],
      [results('1')],
      [turn('user', HERE), results('1')],
      [turn('user', HERE, useOf('1'))],
      ...mixed.map((message) => [uses('1'), message]),
      [uses('1'), results('1'), uses('1'), mixed[0]],
      [uses('1'), mixed[0], turn('user', HERE)],
    ]) {
      expect([messages, await sampleCounts(revision, { messages }, TOOLS)]).toEqual([messages, [0, 0]]);
    }
  });

  eachRevision('SAMP-10', 'has messages of known roles with valid blocks, wherever they are', async (revision) => {
    const fine = turn('user', HERE);
    expect(await sampleCounts(revision, { messages: [fine, turn('assistant', HERE), fine] }, TOOLS)).toEqual([1, 1]);
    expect(await sampleCounts(revision, { messages: [turn('user', { ...HERE, text: '' })] }, TOOLS)).toEqual([1, 1]);
    const odd = [
      ...['system', 'User', '', undefined, ['user']].map((role) => turn(role, HERE)),
      ...[
        { type: 'video', data: 'AA==' },
        { type: 'constructor' },
        { type: ['text'], text: 'Hi' },
        { type: 'text' },
        { type: 'text', text: 7 },
        {},
        'text',
        null,
        undefined,
        ...['image', 'audio'].flatMap((type) => [
          { type, data: 'AA==' },
          { type, mimeType: 'a/b' },
        ]),
        { type: 'image', data: 'no base64', mimeType: 'image/png' },
        { type: 'audio', data: 'AAA', mimeType: 'audio/wav' },
        { type: 'resource', resource: { uri: 'a://b', text: '' } },
        link('docs://a', { name: 'a' }),
      ].map((content) => turn('user', content)),
      turn('user', HERE, { type: 'text', text: null }),
      turn('user', HERE, null),
    ];
    for (const [at, message] of odd.entries()) {
      const messages = [[message], [fine, message], [message, fine]][at % 3];
      expect([messages, await sampleCounts(revision, { messages }, TOOLS)]).toEqual([messages, [0, 0]]);
    }
    // uses and results of tools have all their fields
    const { name: _name, ...nameless } = useOf('1');
    for (const [used, returned] of [
      [{ ...useOf('1'), input: undefined }, outcomeOf('1')],
      [{ ...useOf('1'), input: 'a' }, outcomeOf('1')],
      [nameless, outcomeOf('1')],
      [useOf('1'), { ...outcomeOf('1'), content: undefined }],
      [useOf('1'), { ...outcomeOf('1'), content: '21' }],
    ]) {
      const messages = [turn('assistant', used), turn('user', returned)];
      expect([messages, await sampleCounts(revision, { messages }, TOOLS)]).toEqual([messages, [0, 0]]);
    }
  });

  eachSessionRevision('SAMP-11', 'may be rejected, and the handler gets the client’s error code', async (revision) => {
    const answer: Answer = () => ({ error: { code: -1, message: 'User rejected sampling request' } });
    expect(await ask(revision, sample(), { capabilities, answer })).toMatchObject({ said: 'client error -1' });
  });

  it.each(REVISIONS)('is answered by a valid message, whose unknown fields are dropped (%s)', async (revision) => {
    const saidTo = async (answer: object) =>
      (await ask(revision, sample(), { capabilities: TOOLS, answer: result(answer) })).said;
    const picture = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    const odd = [
      undefined,
      null,
      'Ho',
      [],
      [[HERE]],
      { type: 'text' },
      { type: 'text', text: 1 },
      { type: 'toString' },
    ];
    const contents = [
      ...odd,
      { type: 'video', data: 'AAAA', mimeType: 'video/mp4' },
      { type: 'resource_link', uri: 'a://b', name: 'a' },
      { ...picture, data: 'no base64' },
      { ...picture, mimeType: undefined },
      { ...HERE, annotations: { priority: 2 } },
      { ...HERE, annotations: { audience: ['root'] } },
      { ...useOf('u'), input: 'a=1' },
      { ...useOf('u'), id: 1 },
    ].map((content) => ({ content }));
    const fields = [{ role: 'root' }, { role: undefined }, { model: undefined }, { model: 4 }, { stopReason: 1 }];
    for (const wrong of [...contents, ...fields, { _meta: [] }]) {
      expect([wrong, await saidTo({ ...SAID, ...wrong })]).toEqual([wrong, refusal(revision)]);
    }
    expect(await saidTo({})).toBe(refusal(revision));
    const content = { ...HERE, annotations: { audience: ['user'], priority: 1 }, _meta: { a: 1 } };
    const said = JSON.parse(await saidTo({ ...SAID, content, stopReason: 'endTurn', text: 'Hu', a: 1 }));
    expect(said).toEqual({ role: 'assistant', content: [content], text: 'Here', model: 'm-1', stopReason: 'endTurn' });
  });

  inStateless('SAMP-14', 'has the messages of its own request and none of an earlier one', async () => {
    const server = serverWith({
      say: async (context, { words }) => (await context.sample({ messages: words as string, maxTokens: 5 })).text,
    });
    const answers = { 'sampling/createMessage': result(SAID) };
    const client = await RawClient.connect(server, { revision: STATELESS, capabilities, answers });
    for (const words of ['first', 'second']) await client.call('say', { words });
    expect(client.questions.map(({ params }) => params['messages'])).toEqual([
      [{ role: 'user', content: { type: 'text', text: 'first' } }],
      [{ role: 'user', content: { type: 'text', text: 'second' } }],
    ]);
  });
});

describe('deprecated features', () => {
  /** The paragraphs of a page that say what is deprecated, and since when. */
  const deprecations = (page: string, since: string) =>
    readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8')
      .split('\n\n')
      .filter((paragraph) => paragraph.includes('deprecate') && paragraph.includes(since))
      .join('\n\n');

  eachRevision(['ROOT-08', 'SAMP-15'], 'are left to handlers, as the pages for authors say', async () => {
    const capabilities = { roots: {}, sampling: { tools: {}, context: {} } };
    const client = await RawClient.connect(serverWith({ work: () => 'done' }), { revision: STATELESS, capabilities });
    expect(textOf(await client.call('work'))).toBe('done');
    for (const method of ['server/discover', 'tools/list']) await client.result(method);
    expect(client.questions).toEqual([]);
    for (const what of ['roots', 'sampling']) {
      expect(deprecations('guides/questions', '2026-07-28')).toContain(what);
      expect(deprecations('protocol/2026-07-28', 'in this revision')).toContain(what);
    }
  });
});
