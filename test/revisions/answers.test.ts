// Answers of clients are validated before a handler sees them.
import { describe, expect, it } from '@jest/globals';
import type { Context, JsonObject } from '@decorum/core';

import { REVISIONS, type Revision, SESSION_REVISIONS, STATELESS } from '../support/requirements.js';
import { ask, type Asking } from './asking.js';

const CAPABILITIES = { sampling: { tools: {} }, roots: {}, elicitation: { form: {}, url: {} } };
const SAID = { role: 'assistant', model: 'm-1', content: { type: 'text', text: 'Ho' } };
const USE = { type: 'tool_use', id: 'u', name: 'add', input: {} };
const IMAGE = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
const AUDIO = { type: 'audio', data: 'AAA=', mimeType: 'audio/wav' };

const sample: Asking = (context) => context.sample({ messages: 'Hi', maxTokens: 5 });
const roots: Asking = (context) => context.roots();

const SEVERAL: JsonObject = { type: 'array', items: { type: 'string', enum: ['a', 'b'] } };
const choose = (context: Context) =>
  context.elicit({ type: 'object', properties: { several: SEVERAL } } as JsonObject, { message: 'Which?' });

/** The outcome of an answer for the handler. */
async function given(revision: Revision, question: Asking, result: object): Promise<string> {
  return (await ask(revision, question, { capabilities: CAPABILITIES, answer: () => ({ result }) })).said;
}

/** Outcome of an invalid answer: the handler gets an error, or the client is asked again. */
const refused = (revision: Revision) => (revision === STATELESS ? 'asked again' : 'client error undefined');

const since = (first: Revision): readonly Revision[] => REVISIONS.filter((revision) => revision >= first);
const before = (first: Revision): readonly Revision[] => REVISIONS.filter((revision) => revision < first);

describe.each(REVISIONS)('the answer of a client (%s)', (revision) => {
  const INVALID: readonly object[] = [
    { ...SAID, role: 'root' },
    { ...SAID, role: undefined },
    { ...SAID, model: undefined },
    { ...SAID, model: 4 },
    { ...SAID, stopReason: 1 },
    { ...SAID, _meta: [] },
    { ...SAID, content: undefined },
    { ...SAID, content: [] },
    { ...SAID, content: [[SAID.content]] },
    { ...SAID, content: { type: 'text' } },
    { ...SAID, content: { type: 'text', text: 1 } },
    { ...SAID, content: { type: 'constructor' } },
    { ...SAID, content: { type: 'video', data: 'AAAA', mimeType: 'video/mp4' } },
    { ...SAID, content: { type: 'resource_link', uri: 'a://b', name: 'a' } },
    { ...SAID, content: { ...IMAGE, data: 'no base64' } },
    { ...SAID, content: { ...IMAGE, mimeType: undefined } },
    { ...SAID, content: { ...SAID.content, annotations: { priority: 2 } } },
    { ...SAID, content: { ...SAID.content, annotations: { audience: ['root'] } } },
    { ...SAID, content: { ...USE, input: 'a=1' } },
    { ...SAID, content: { ...USE, id: 1 } },
  ];

  it('from its model is checked, and passed on without unknown fields', async () => {
    for (const answer of INVALID)
      expect([answer, await given(revision, sample, answer)]).toEqual([answer, refused(revision)]);
    const content = { ...SAID.content, annotations: { audience: ['user'], priority: 1 }, _meta: { a: 1 } };
    const answer = { ...SAID, content, stopReason: 'endTurn', text: 'Hu', a: 1 };
    const said = JSON.parse(await given(revision, sample, answer));
    expect(said).toEqual({ role: 'assistant', content: [content], text: 'Ho', model: 'm-1', stopReason: 'endTurn' });
  });

  it('has roots that are files', async () => {
    for (const root of [
      { uri: 'file://%' },
      { uri: 'https://example.com' },
      { uri: 'file:///a', name: 1 },
      { uri: 'file:///a', _meta: 'm' },
      null,
      'file:///a',
    ]) {
      const said = await given(revision, roots, { roots: [{ uri: 'file:///fine' }, root] });
      expect([root, said]).toEqual([root, refused(revision)]);
    }
  });
});

describe('a sampling result', () => {
  it.each([
    ['several blocks', [SAID.content, SAID.content], '2025-11-25'],
    ['the use of a tool', USE, '2025-11-25'],
    ['audio', AUDIO, '2025-03-26'],
    ['an image', IMAGE, '2024-11-05'],
  ] as const)('may be %s from the revision on that has it', async (_what, content, first) => {
    for (const revision of since(first)) {
      expect(JSON.parse(await given(revision, sample, { ...SAID, content }))).toMatchObject({ model: 'm-1' });
    }
    for (const revision of before(first)) {
      expect([revision, await given(revision, sample, { ...SAID, content })]).toEqual([revision, refused(revision)]);
    }
  });
});

it('a form with separate choices accepts yes or no for each', async () => {
  const [, , revision] = SESSION_REVISIONS;
  const accept = (content: object) => given(revision, choose, { action: 'accept', content });
  expect(JSON.parse(await accept({ 'several: a': true, 'several: b': false }))).toMatchObject({
    content: { several: ['a'] },
  });
  expect(await accept({ 'several: a': 'true' })).toMatch(/^ToolError: .*several/);
});
