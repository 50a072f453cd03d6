// Tests of the validators used by other tests.
import { describe, expect, it } from '@jest/globals';

import { newerFields } from '../support/newer-fields.js';
import { type RawTransport, RawClient } from '../support/raw-client.js';
import { type Revision, REVISIONS, SESSION_REVISIONS, shows } from '../support/requirements.js';
import { judge } from '../support/schemas.js';
import { serverOf } from './servers.js';

const resultOf = (result: object) => ({ jsonrpc: '2.0', id: 1, result });
const tool = { name: 'a', inputSchema: { type: 'object', properties: {}, additionalProperties: false } };
const text = { type: 'text', text: 'a' };

/** A result with a new field: the first revision with it, the method and the result. */
const CASES = [
  ['2025-03-26', 'tools/list', { tools: [{ ...tool, annotations: { title: 'A' } }] }],
  ['2025-06-18', 'tools/list', { tools: [{ ...tool, title: 'A' }] }],
  ['2025-06-18', 'tools/list', { tools: [{ ...tool, outputSchema: { type: 'object' } }] }],
  ['2025-11-25', 'tools/list', { tools: [{ ...tool, icons: [{ src: 'https://example.com/a.png' }] }] }],
  ['2025-03-26', 'tools/call', { content: [{ type: 'audio', data: 'AA==', mimeType: 'audio/wav' }] }],
  ['2025-06-18', 'tools/call', { content: [{ type: 'resource_link', uri: 'a://b', name: 'b' }] }],
  ['2025-06-18', 'tools/call', { content: [{ ...text, _meta: { a: 1 } }] }],
  ['2025-06-18', 'tools/call', { content: [{ ...text, annotations: { lastModified: '2025-01-12T15:00:58Z' } }] }],
  ['2025-06-18', 'tools/call', { content: [text], structuredContent: {} }],
  ['2026-07-28', 'tools/call', { content: [text], resultType: 'complete' }],
  ['2025-06-18', 'resources/read', { contents: [{ uri: 'a://b', text: 'a', _meta: { a: 1 } }] }],
] as const;

describe('the judge', () => {
  it.each(CASES)('detects a field that is new in %s in a result of %s: %j', (since, method, result) => {
    for (const revision of SESSION_REVISIONS) {
      // both the schema and the field matrix detect it
      expect(judge(revision, resultOf(result), method).length > 0).toBe(revision < since);
      expect(newerFields(revision, resultOf(result), method).length > 0).toBe(revision < since);
    }
  });

  it('detects a field that no revision has', () => {
    for (const revision of SESSION_REVISIONS) {
      expect(judge(revision, resultOf({ tools: [{ ...tool, colour: 'red' }] }), 'tools/list')).not.toEqual([]);
      expect(judge(revision, resultOf({ ok: true }), 'ping')).not.toEqual([]);
    }
  });

  it('detects a request that a revision does not have', () => {
    const params = { message: 'a', requestedSchema: { type: 'object', properties: {} } };
    const question = { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params };
    expect(SESSION_REVISIONS.map((revision) => judge(revision, question).length === 0)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});

describe('a raw client', () => {
  /** The problems found in received texts. */
  async function problemsOf(revision: Revision, ...texts: string[]): Promise<string[]> {
    const speaks: RawTransport = (_server, receive) => {
      for (const words of texts) receive(words);
      return Promise.resolve({ send() {}, close() {} });
    };
    const client = await RawClient.connect(serverOf(), { revision, begins: false }, speaks);
    return client.problems.splice(0);
  }

  it('detects an empty array in every revision', async () => {
    for (const revision of REVISIONS) expect(await problemsOf(revision, '[]')).not.toEqual([]);
  });

  it('detects a batch in a revision without batches', async () => {
    const log = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'a' } };
    for (const revision of REVISIONS) {
      expect(await problemsOf(revision, JSON.stringify(log))).toEqual([]);
      const wrong = await problemsOf(revision, JSON.stringify([log]));
      expect([revision, wrong.length]).toEqual([revision, revision === '2025-03-26' ? 0 : 1]);
    }
  });
});

describe('a claim', () => {
  it('must name an existing row', () => {
    expect(() => shows('TOOL-99', '2025-11-25', 'anything')).toThrow('no row');
  });

  it('must name a revision that the row applies to', () => {
    expect(() => shows('TOOL-20', '2025-03-26', 'anything')).toThrow('does not apply');
    expect(shows('TOOL-20', '2025-06-18', 'sentence')).toBe('sentence \u2063[TOOL-20 2025-06-18]');
  });
});
