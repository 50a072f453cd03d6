// Questions to the client: roots, sampling and elicitation.
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
import { ask, outcome } from './asking.js';
import { deferred, type Handler, serverWith } from './servers.js';

const SAID = { role: 'assistant', model: 'm-1', content: { type: 'text', text: 'Ho' } };

/** The paragraphs of a page that say what is deprecated, and since when. */
const deprecations = (page: string, since: string) =>
  readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8')
    .split('\n\n')
    .filter((paragraph) => paragraph.includes('deprecate') && paragraph.includes(since))
    .join('\n\n');

const result =
  (value: object): Answer =>
  () => ({ result: value });
const sample =
  (options: Partial<Parameters<Context['sample']>[0]> = {}) =>
  (context: Context) =>
    context.sample({ messages: 'Hi', maxTokens: 5, ...options });
const roots = (context: Context) => context.roots();

describe('roots', () => {
  const HOME = { roots: [{ uri: 'file:///home/ada', name: 'Home' }] };

  eachSessionRevision('ROOT-01', 'are requested only if the client has declared them', async (revision) => {
    const { said, questions } = await ask(revision, roots, { capabilities: { sampling: {} }, answer: result(HOME) });
    expect(said).toBe('mcp error missing-capability');
    expect(questions).toEqual([]);
  });

  eachSessionRevision('ROOT-01', 'are not requested by a returned question either', async (revision) => {
    const asking: Handler = (context) =>
      context.answers ? 'answered' : needInput({ where: { method: 'roots/list' } });
    const answers = { 'roots/list': result(HOME) };
    for (const [capabilities, count] of [
      [{ sampling: {}, elicitation: {} }, 0],
      [{ roots: {} }, 1],
    ] as const) {
      const client = await RawClient.connect(serverWith({ asking }), { revision, capabilities, answers });
      const { isError = false } = await client.call('asking');
      expect([isError, client.questions.length]).toEqual([count === 0, count]);
    }
  });

  eachSessionRevision('ROOT-03', 'are requested again when the client reports a change', async (revision) => {
    const server = serverWith({ ask: outcome(roots) });
    const answers = { 'roots/list': result(HOME) };
    const client = await RawClient.connect(server, {
      revision,
      capabilities: { roots: { listChanged: true } },
      answers,
    });
    for (let call = 0; call < 3; call += 1) expect(textOf(await client.call('ask'))).toBe(JSON.stringify(HOME.roots));
    expect(client.of('roots/list')).toHaveLength(1);
    await client.notify('notifications/roots/list_changed');
    await client.call('ask');
    expect(client.of('roots/list')).toHaveLength(2);
  });

  eachSessionRevision('ROOT-03', 'are requested each time if the client does not report changes', async (revision) => {
    for (const declared of [{}, { listChanged: false }]) {
      const answers = { 'roots/list': result(HOME) };
      const options = { revision, capabilities: { roots: declared }, answers };
      const client = await RawClient.connect(serverWith({ ask: outcome(roots) }), options);
      for (let call = 0; call < 2; call += 1) await client.call('ask');
      expect([declared, client.of('roots/list').length]).toEqual([declared, 2]);
    }
  });

  eachSessionRevision('ROOT-03', 'are not kept if they change before the answer arrives', async (revision) => {
    const server = serverWith({ ask: outcome(roots) });
    const capabilities = { roots: { listChanged: true } };
    const client = await RawClient.connect(server, { revision, capabilities });
    const asked = async (time: number) => {
      await client.find(() => client.of('roots/list').length > time);
      return client.of('roots/list')[time]?.id;
    };
    const first = client.call('ask');
    const id = await asked(0);
    await client.notify('notifications/roots/list_changed');
    await client.send({ jsonrpc: '2.0', id, result: HOME });
    expect(textOf(await first)).toBe(JSON.stringify(HOME.roots));
    const second = client.call('ask');
    await client.send({ jsonrpc: '2.0', id: await asked(1), result: { roots: [] } });
    expect(textOf(await second)).toBe('[]');
    expect(textOf(await client.call('ask'))).toBe('[]');
    expect(client.of('roots/list')).toHaveLength(2);
  });

  eachSessionRevision('ROOT-04', 'may be unavailable, and the handler learns it', async (revision) => {
    const capabilities = { roots: {} };
    const refuse: Answer = () => ({ error: { code: -32601, message: 'Roots not supported' } });
    expect(await ask(revision, roots, { capabilities, answer: refuse })).toMatchObject({ said: 'client error -32601' });
    for (const wrong of [{}, { roots: 'none' }, { roots: null }, { roots: {} }, { roots: [null] }, { root: [] }]) {
      const { said } = await ask(revision, roots, { capabilities, answer: result(wrong) });
      expect([wrong, said]).toEqual([wrong, 'client error undefined']);
    }
    expect(await ask(revision, roots, { capabilities })).toMatchObject({ said: 'client error undefined' });
  });

  eachRevision('ROOT-05', 'are files', async (revision) => {
    const capabilities = { roots: {} };
    expect(await ask(revision, roots, { capabilities, answer: result(HOME) })).toMatchObject({
      said: JSON.stringify(HOME.roots),
    });
    for (const uri of [
      'https://example.com',
      'home/ada',
      'file',
      'file:',
      'file:ada',
      'file:/home/ada',
      '',
      7,
      undefined,
    ]) {
      for (const wrong of [[{ uri }], [...HOME.roots, { uri }], [{ uri }, ...HOME.roots]]) {
        const { said } = await ask(revision, roots, { capabilities, answer: result({ roots: wrong }) });
        expect([wrong, said]).toEqual([wrong, revision === STATELESS ? 'asked again' : 'client error undefined']);
      }
    }
  });

  inStateless('ROOT-04', 'may be unavailable, and the handler learns it or the client is asked again', async () => {
    expect(await ask(STATELESS, roots, { capabilities: {} })).toMatchObject({ said: 'mcp error missing-capability' });
    for (const wrong of [{}, { roots: 'none' }, { roots: null }, { roots: {} }, { roots: [null] }, { root: [] }]) {
      const { said } = await ask(STATELESS, roots, { capabilities: { roots: {} }, answer: result(wrong) });
      expect([wrong, said]).toEqual([wrong, 'asked again']);
    }
    const none = await ask(STATELESS, roots, { capabilities: { roots: {} }, answer: result({ roots: [] }) });
    expect(none).toMatchObject({ said: '[]' });
  });
});

describe('sampling', () => {
  const capabilities = { sampling: {} };

  eachSessionRevision('SAMP-01', 'is requested only if the client has declared it', async (revision) => {
    const { said, questions } = await ask(revision, sample(), { capabilities: { roots: {} }, answer: result(SAID) });
    expect(said).toBe('mcp error missing-capability');
    expect(questions).toEqual([]);
  });

  eachRevision('SAMP-02', 'has tools only if the client has declared support', async (revision) => {
    const tools = [{ name: 'weather', inputSchema: { type: 'object' } }];
    for (const options of [{ tools }, { toolChoice: { mode: 'auto' } }, { tools: [] }]) {
      const refused = await ask(revision, sample(options), { capabilities, answer: result(SAID) });
      expect(refused).toMatchObject({ said: 'mcp error missing-capability', questions: [] });
    }
    const declared = { sampling: { tools: {} } };
    const { questions } = await ask(revision, sample({ tools }), { capabilities: declared, answer: result(SAID) });
    expect(questions).toMatchObject([{ params: { tools } }]);
  });

  eachRevision('SAMP-03', 'includes context only if the client has declared support', async (revision) => {
    for (const includeContext of ['thisServer', 'allServers'] as const) {
      const refused = await ask(revision, sample({ includeContext }), { capabilities, answer: result(SAID) });
      expect(refused).toMatchObject({ said: 'mcp error missing-capability', questions: [] });
    }
    const { questions } = await ask(revision, sample({ includeContext: 'none' }), {
      capabilities,
      answer: result(SAID),
    });
    expect(questions).toHaveLength(1);
  });

  eachRevision('SAMP-04', 'has messages, a token limit, and valid preferences', async (revision) => {
    const modelPreferences = { hints: [{ name: 'a' }, { name: 'b' }], intelligencePriority: 0 };
    const { said, questions } = await ask(revision, sample({ modelPreferences }), {
      capabilities,
      answer: result(SAID),
    });
    expect(JSON.parse(said)).toMatchObject({ text: 'Ho', model: 'm-1' });
    const messages = [{ role: 'user', content: { type: 'text', text: 'Hi' } }];
    expect(questions).toMatchObject([{ params: { messages, maxTokens: 5, modelPreferences } }]);
    for (const costPriority of [2, -1]) {
      const wrong = sample({ modelPreferences: { costPriority } });
      expect((await ask(revision, wrong, { capabilities, answer: result(SAID) })).questions).toEqual([]);
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
      const refused = revision === STATELESS ? 'asked again' : 'client error undefined';
      if (seen === undefined) expect([given, answered.said]).toEqual([given, refused]);
      else expect(JSON.parse(answered.said)).toMatchObject({ content: seen });
    }
  });

  const TOOLS = { sampling: { tools: {} } };
  const use = (id: string) => ({ type: 'tool_use', id, name: 'weather', input: {} });
  const given = (toolUseId: string) => ({ type: 'tool_result', toolUseId, content: [{ type: 'text', text: '21' }] });
  const converse = (...contents: (readonly ['user' | 'assistant', readonly object[]])[]) =>
    sample({ messages: contents.map(([role, content]) => ({ role, content })) as never, tools: [] });

  /** All parameters about tools. */
  const WITH_TOOLS: readonly JsonObject[] = [
    { tools: [{ name: 'weather', inputSchema: { type: 'object' } }] },
    { tools: [] },
    { toolChoice: { mode: 'auto' } },
    {
      messages: [
        { role: 'assistant', content: [use('1')] },
        { role: 'user', content: given('1') },
      ],
    },
  ];
  const HI = { messages: [{ role: 'user', content: { type: 'text', text: 'Hi' } }], maxTokens: 5 };
  const returned = (params: JsonObject): Handler => {
    const requests = {
      first: { method: 'roots/list' },
      second: { method: 'sampling/createMessage', params: { ...HI, ...params } },
    } as const;
    return (context) => (context.answers ? 'answered' : needInput(requests));
  };

  /** The number of questions that a client gets if a handler returns one with these parameters. */
  const countOf = async (revision: Revision, params: JsonObject, declared: JsonObject): Promise<number> => {
    const requests = { say: { method: 'sampling/createMessage', params: { ...HI, ...params } } } as const;
    const server = serverWith({ ask: (context) => (context.answers ? 'answered' : needInput(requests)) });
    const answers = { 'sampling/createMessage': result(SAID) };
    const client = await RawClient.connect(server, { revision, capabilities: declared, answers });
    const { isError = false } = await client.call('ask').catch(() => ({ isError: true }));
    expect(isError).toBe(client.questions.length === 0);
    return client.questions.length;
  };

  eachSessionRevision('SAMP-01', 'is returned as a question only if the client has declared it', async (revision) => {
    expect(await countOf(revision, {}, { roots: {}, elicitation: {} })).toBe(0);
    expect(await countOf(revision, {}, capabilities)).toBe(1);
  });

  eachRevision('SAMP-04', 'has priorities from 0 to 1, whichever way the handler asks', async (revision) => {
    for (const name of ['costPriority', 'speedPriority', 'intelligencePriority']) {
      for (const [value, count] of [
        [0, 1],
        [0.5, 1],
        [1, 1],
        [1.01, 0],
        [-0.01, 0],
        [Number.NaN, 0],
        ['1', 0],
      ] as const) {
        const modelPreferences = { [name]: value };
        const options = { capabilities, answer: result(SAID) };
        const { questions } = await ask(revision, sample({ modelPreferences }), options);
        const returnedCount = await countOf(revision, { modelPreferences }, capabilities);
        expect([name, value, questions.length, returnedCount]).toEqual([name, value, count, count]);
      }
    }
  });

  eachRevision('SAMP-07', 'has only valid messages in a returned question too', async (revision) => {
    const message = (role: string, ...content: object[]) => ({ role, content });
    const words = text('Here');
    for (const [messages, count] of [
      [[message('assistant', use('1')), message('user', given('1'))], 1],
      [[message('assistant', use('1')), message('user', words, given('1'))], 0],
      [[message('assistant', use('1')), message('user', given('1'), words)], 0],
      [[message('assistant', use('1')), message('user', words)], 0],
      [[message('assistant', use('1'))], 0],
      [[message('user', given('1'))], 0],
      [[message('user', { type: 'video', data: 'AA==' })], 0],
    ] as const) {
      expect([messages, await countOf(revision, { messages }, TOOLS)]).toEqual([messages, count]);
    }
  });

  eachRevision('SAMP-02', 'has no tool results if the client does not support tools', async (revision) => {
    for (const options of WITH_TOOLS) {
      const refused = await ask(revision, sample(options), { capabilities, answer: result(SAID) });
      expect(refused).toMatchObject({ said: 'mcp error missing-capability', questions: [] });
    }
  });

  eachSessionRevision('SAMP-05', 'has no tool fields, whatever the client declares', async (revision) => {
    for (const options of WITH_TOOLS) {
      const refused = await ask(revision, sample(options), { capabilities: TOOLS, answer: result(SAID) });
      expect([options, refused.said, refused.questions]).toEqual([options, 'mcp error missing-capability', []]);
    }
    const { questions } = await ask(revision, sample(), { capabilities: TOOLS, answer: result(SAID) });
    expect(questions).toHaveLength(1);
  });

  it.each(REVISIONS)('has tools in a returned question only if the revision has them: %s', async (revision) => {
    for (const options of WITH_TOOLS) {
      const errors: unknown[] = [];
      const server = serverWith({ ask: returned(options) }, { onError: (error) => void errors.push(error) });
      const answers = { 'sampling/createMessage': result(SAID), 'roots/list': result({ roots: [] }) };
      const client = await RawClient.connect(server, { revision, capabilities: { ...TOOLS, roots: {} }, answers });
      const { content } = await client.call('ask');
      const has = revision >= '2025-11-25';
      expect(client.questions).toHaveLength(has ? 2 : 0);
      expect(content).toMatchObject([{ text: has ? 'answered' : expect.stringContaining('sampling/createMessage') }]);
    }
  });

  eachRevision('SAMP-07', 'has only tool results in a message that contains any', async (revision) => {
    const right = converse(['assistant', [use('1')]], ['user', [given('1')]]);
    expect((await ask(revision, right, { capabilities: TOOLS, answer: result(SAID) })).questions).toHaveLength(1);
    const wrong = converse(['assistant', [use('1')]], ['user', [{ type: 'text', text: 'Here' }, given('1')]]);
    expect((await ask(revision, wrong, { capabilities: TOOLS, answer: result(SAID) })).questions).toEqual([]);
  });

  eachRevision('SAMP-08', 'has a result for every tool use before anything else', async (revision) => {
    const right = converse(['assistant', [use('1'), use('2')]], ['user', [given('2'), given('1')]]);
    expect((await ask(revision, right, { capabilities: TOOLS, answer: result(SAID) })).questions).toHaveLength(1);
    const words = [{ type: 'text', text: 'So?' }];
    for (const wrong of [
      converse(['assistant', [use('1'), use('2')]], ['user', [given('1')]]),
      converse(['assistant', [use('1')]], ['user', words]),
      converse(['user', [given('1')]]),
      converse(['assistant', [use('1')]]),
      converse(['assistant', [use('1')]], ['user', [given('1')]], ['assistant', [use('2')]]),
      converse(['assistant', [use('1')]], ['user', words], ['user', [given('1')]]),
    ]) {
      expect((await ask(revision, wrong, { capabilities: TOOLS, answer: result(SAID) })).questions).toEqual([]);
    }
  });

  eachRevision('SAMP-10', 'has only blocks of known kinds', async (revision) => {
    const kinds = [
      { type: 'video', data: 'AA==' },
      { type: 'text' },
      { type: 'text', text: 7 },
      { type: 'image', data: 'AA==' },
      { type: 'image', mimeType: 'image/png' },
      { type: 'audio', data: 'AA==' },
      { type: 'audio', mimeType: 'audio/wav' },
      link('docs://a', { name: 'a' }),
      [
        { type: 'text', text: 'a' },
        { type: 'image', data: 'AA==' },
      ],
      {},
      'text',
      null,
      undefined,
    ];
    for (const content of kinds) {
      const messages = [{ role: 'user', content }] as never;
      const { questions } = await ask(revision, sample({ messages }), { capabilities, answer: result(SAID) });
      expect([content, questions]).toEqual([content, []]);
    }
  });

  eachSessionRevision('SAMP-11', 'may be rejected, and the handler gets the client’s error code', async (revision) => {
    const answer: Answer = () => ({ error: { code: -1, message: 'User rejected sampling request' } });
    expect(await ask(revision, sample(), { capabilities, answer })).toMatchObject({ said: 'client error -1' });
    for (const nonsense of [result({}), result({ ...SAID, content: 'Ho' }), result({ ...SAID, content: null })]) {
      const { said } = await ask(revision, sample(), { capabilities, answer: nonsense });
      expect(said).toBe('client error undefined');
    }
  });

  eachSessionRevision('SAMP-12', 'is requested only while a request of the client is in flight', async (revision) => {
    const late = deferred<Context>();
    const client = await RawClient.connect(serverWith({ leave: (context) => late.resolve(context) }), {
      revision,
      capabilities,
      answers: { 'sampling/createMessage': result(SAID) },
    });
    await client.call('leave');
    const context = await late.promise;
    const settled = context.sample({ messages: 'Hi', maxTokens: 1, timeoutMs: 20 }).catch((error: unknown) => error);
    expect(await settled).toBeInstanceOf(Error);
    expect(client.of('sampling/createMessage')).toEqual([]);
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
  for (const [id, what] of [
    ['ROOT-08', 'roots'],
    ['SAMP-15', 'sampling'],
  ] as const) {
    inStateless(
      id,
      `is left to handlers: nothing else asks for ${what}, and the pages for authors say so`,
      async () => {
        const client = await RawClient.connect(serverWith({ work: () => 'done' }), {
          revision: STATELESS,
          capabilities: { roots: {}, sampling: { tools: {}, context: {} } },
        });
        expect(textOf(await client.call('work'))).toBe('done');
        for (const method of ['server/discover', 'tools/list']) await client.result(method);
        expect(client.questions).toEqual([]);
        expect(deprecations('handlers', '2026-07-28')).toContain(what);
        expect(deprecations('revisions/2026-07-28', 'in this revision')).toContain(what);
      },
    );
  }
});
