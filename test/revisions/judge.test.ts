// Tests of the validators used by other tests.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';

import { type Posted, problemsOfBody, problemsOfHead, StreamCheck } from '../support/http-answers.js';
import { newerFields } from '../support/newer-fields.js';
import { type RawTransport, RawClient } from '../support/raw-client.js';
import { itShows, type Revision, REVISIONS, SESSION_REVISIONS } from '../support/requirements.js';
import { judge } from '../support/schemas.js';
import { EventReader } from '../../packages/http/test/events.js';
import { HttpClient } from '../support/http-client.js';
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

  const answer = '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"No"}}';

  it('detects a second answer to a request, and an answer to none', async () => {
    for (const [asks, answers, problems] of [
      [1, 1, 0],
      [2, 2, 0],
      [0, 1, 1],
      [1, 2, 1],
      [1, 3, 2],
    ] as const) {
      let receive = (_text: string) => {};
      const speaks: RawTransport = (_server, receiver) => {
        receive = receiver;
        return Promise.resolve({ send() {}, close() {} });
      };
      const client = await RawClient.connect(serverOf(), { revision: '2025-11-25', begins: false }, speaks);
      for (let time = 0; time < asks; time += 1) await client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
      // an id of another type is another id
      await client.send({ jsonrpc: '2.0', id: '1', method: 'tools/list' });
      for (let time = 0; time < answers; time += 1) receive(answer);
      expect([asks, answers, client.problems.splice(0).length]).toEqual([asks, answers, problems]);
    }
  });
});

describe('an HTTP response', () => {
  const head = (status: number, type?: string) =>
    problemsOfHead(new Response(null, { status, headers: type === undefined ? {} : { 'content-type': type } })).length;
  const ask = (id: number) => ({ jsonrpc: '2.0' as const, id, method: 'ping' });
  const reply = (id: number, more: object = { result: {} }) => ({ jsonrpc: '2.0' as const, id, ...more });
  const body = (posted: Posted, status: number, content: unknown) =>
    problemsOfBody(posted, status, content === '' ? '' : JSON.stringify(content)).length;
  const error = { error: { code: -1, message: 'No' } };

  it('has the status and the content type of what it carries', () => {
    const right = [
      head(200, 'application/json'),
      head(400, 'application/json; charset=utf-8'),
      head(200, 'text/event-stream'),
      head(202),
    ];
    expect(right).toEqual([0, 0, 0, 0]);
    const wrong = [
      head(200),
      head(200, 'text/plain'),
      head(404, 'text/html'),
      head(400, 'text/event-stream'),
      head(202, 'application/json'),
    ];
    expect(wrong).toEqual([1, 1, 1, 1, 1]);
  });

  it('answers each request exactly once', () => {
    expect(body(ask(1), 200, reply(1))).toBe(0);
    expect(body([ask(1), ask(2)], 200, [reply(2), reply(1)])).toBe(0);
    for (const content of [reply(2), [], [reply(1), reply(1)], { ...ask(1), method: 'other' }]) {
      expect([content, body(ask(1), 200, content)]).toEqual([content, 1]);
    }
    expect(body([ask(1), ask(2)], 200, [reply(2)])).toBe(1);
  });

  it('has a result only with 200, and no body with 202', () => {
    expect([body(ask(1), 404, reply(1, error)), body(undefined, 400, error)]).toEqual([0, 0]);
    expect([body(ask(1), 404, reply(1)), body(ask(1), 404, reply(2, error))]).toEqual([1, 1]);
    const notification = { jsonrpc: '2.0' as const, method: 'a' };
    expect([body(notification, 202, ''), body(notification, 202, {}), body(ask(1), 202, '')]).toEqual([0, 1, 1]);
  });

  it('that is a stream ends with the answer to its own request', () => {
    const log = { jsonrpc: '2.0' as const, method: 'notifications/message' };
    const check = new StreamCheck(ask(1));
    expect([log, reply(2), reply(1), log].map((message) => check.next(message).length)).toEqual([0, 1, 0, 1]);
  });
});

describe('an HTTP client', () => {
  const valid = { ...resultOf({ content: [text] }) };
  const invalid = { ...resultOf({ content: [{ ...text, colour: 'red' }] }) };

  it.each(['application/json', 'text/event-stream'])('detects an invalid message in %s', async (type) => {
    const isJson = type === 'application/json';
    for (const message of [valid, invalid]) {
      const words = JSON.stringify(message);
      const remote = createServer((_request, response) => {
        response.writeHead(200, { 'content-type': type }).end(isJson ? words : `data: ${words}\n\n`);
      });
      await new Promise<void>((resolve) => remote.listen(0, '127.0.0.1', resolve));
      const { port } = remote.address() as AddressInfo;
      const response = await HttpClient.alone(`http://127.0.0.1:${port}`, '2025-11-25').call(1, 'a');
      const reading: Promise<unknown> = isJson ? response.json() : new EventReader(response).message();
      if (message === valid) await reading;
      else await expect(reading).rejects.toThrow('colour');
      remote.closeAllConnections();
      await new Promise((resolve) => remote.close(resolve));
    }
  });
});

describe('a claim', () => {
  it('must name an existing row', () => {
    expect(() => itShows([['TOOL-99', '2025-11-25']], 'anything', () => {})).toThrow('no row');
  });

  it('must name a revision that the row applies to', () => {
    expect(() => itShows([['TOOL-20', '2025-03-26']], 'anything', () => {})).toThrow('does not apply');
  });
});
