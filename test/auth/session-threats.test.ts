// What attackers try with the sessions, streams, questions and handles of others. All of them have valid tokens.
/* oxlint-disable jest/no-standalone-expect -- inEveryRevision registers a test */
import { once } from 'node:events';

import { expect, it } from '@jest/globals';
import { Context, type JsonObject, NoInput, TicketError } from '@decorum/core';

import { EventReader } from '../../packages/http/test/events.js';
import { call, type Fields, json, post } from '../../packages/http/test/fixture.js';
import {
  inEveryRevision,
  inEverySessionRevision,
  inTheFirstRevision,
  inTheStatelessRevision,
  LET_GO,
  overEveryHost,
} from '../http-contract/contract.js';
import type { HttpHost } from '../http-contract/hosts.js';
import { carried, HttpClient, initialize, SseClient } from '../revisions/http-client.js';
import { AUDIENCE, bearer, Issuers, type Surroundings } from './threats.js';

const issuers = new Issuers();
const as = issuers.as.bind(issuers);

/** Serves the users of both issuers. */
const serve = (host: HttpHost, more: Surroundings = {}) =>
  issuers.serve(host, { issuer: [issuers.trusted.url, issuers.evil.url] }, more);

/** The headers of users who are not Alice with her client. */
const others = (): readonly Fields[] => [
  as('bob'),
  // another client that Alice uses
  as('alice', { client_id: 'spy' }),
  // whoever is called Alice elsewhere
  bearer(issuers.evil.sign({ aud: AUDIENCE, scope: 'mcp', sub: 'alice' })),
];

/** Session ids that nobody was given. */
const CHOSEN = [
  '00000000-0000-4000-8000-000000000000',
  'chosen',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'null',
  '0',
  '',
  'x'.repeat(8000),
];

/** The session revisions in which users can be asked. */
const WITH_QUESTIONS = ['2025-06-18', '2025-11-25'] as const;

const READY = { jsonrpc: '2.0', method: 'notifications/initialized' };

overEveryHost('a session', (host) => {
  inEverySessionRevision('with an id that the client chose is not found, and not begun either', async (revision) => {
    const { url } = await serve(host);
    const client = await HttpClient.open(url, revision, as('alice'));
    for (const id of CHOSEN) {
      const chosen = { 'mcp-session-id': id };
      const answers = [
        await post(url, initialize(revision), { ...as('alice'), ...chosen }),
        await client.post(client.buildMessage(1, 'tools/list'), chosen),
        await client.post(READY, chosen),
        await client.get(chosen),
      ];
      const statuses = [...answers.map(({ status }) => status), await client.end(chosen)];
      expect([id, ...statuses]).toEqual([id, 404, 404, 404, 404, 404]);
    }
    expect(await client.status()).toBe(200);
  });

  inEverySessionRevision('is not found by another user, and goes on', async (revision) => {
    const { url, files } = await serve(host);
    const client = await HttpClient.open(url, revision, as('alice'));
    const reader = await client.listen();
    for (const other of others()) {
      const list = client.buildMessage(1, 'tools/call', { name: 'list', arguments: {} });
      for (const message of [list, READY]) expect((await client.post(message, other)).status).toBe(404);
      expect([(await client.get(other)).status, await client.end(other)]).toEqual([404, 404]);
    }
    expect([await client.status(), reader.ended, files.ran]).toEqual([200, false, []]);
  });

  inTheFirstRevision(
    'of HTTP+SSE is not found by its key alone, by another user or by another id',
    async (revision) => {
      const { url, files } = await serve(host);
      const client = await SseClient.open(new URL('/sse', url).href, as('alice'));
      const modern = await HttpClient.open(url, revision, as('alice'));
      for (const other of others()) expect((await client.send(call(1, 'list'), other)).status).toBe(404);
      const messages = new URL('/messages', url).href;
      for (const key of [...CHOSEN, modern.headers['mcp-session-id'] as string]) {
        const answer = await post(`${messages}?sessionId=${key}`, call(1, 'list'), as('alice'));
        expect([key, answer.status]).toEqual([key, 404]);
      }
      const key = new URL(client.target).searchParams.get('sessionId') as string;
      expect((await modern.post(modern.buildMessage(1, 'tools/list'), { 'mcp-session-id': key })).status).toBe(404);
      expect((await post(client.target, call(1, 'list'))).status).toBe(401);
      expect(files.ran).toEqual([]);
      expect(await client.ask(call(2, 'list'))).toMatchObject({ id: 2 });
    },
  );

  inEverySessionRevision('keeps answers apart from those of other sessions with the same ids', async (revision) => {
    const { url } = await serve(host);
    const users = ['alice', 'bob', 'carol', 'dave'];
    const clients = await Promise.all(users.map((user) => HttpClient.open(url, revision, as(user))));
    const asked = clients.flatMap((client, user) =>
      Array.from({ length: 40 }, async (_, id) => {
        const [name, args] = id % 2 === 0 ? ['add', { a: id, b: 1000 * user }] : ['who', {}];
        const answer = await json(await client.call(id, name as string, { args: args as JsonObject }));
        const text = answer.result?.content?.[0]?.text ?? '';
        return [answer.id, name === 'add' ? text : (JSON.parse(text) as Context).principal?.subject];
      }),
    );
    const expected = users.flatMap((name, user) =>
      Array.from({ length: 40 }, (_, id) => [id, id % 2 === 0 ? String(id + 1000 * user) : name]),
    );
    expect(await Promise.all(asked)).toEqual(expected);
  });

  inEverySessionRevision('refuses the second of two requests in flight with the same id', async (revision) => {
    const { url, files } = await serve(host);
    const client = await HttpClient.open(url, revision, as('alice'));
    const began = once(files, 'began');
    const first = client.call(777, 'wait');
    await began;
    const second = await client.call(777, 'list');
    expect([second.status, await json(second)]).toMatchObject([400, { error: { code: -32600 } }]);
    files.emit('go');
    expect(await json(await first)).toMatchObject({ id: 777, result: LET_GO });
    expect(files.ran).toEqual([]);
  });

  it.each(WITH_QUESTIONS)('ignores the answer of another session to a question (%s)', async (revision) => {
    const { url } = await serve(host);
    const client = await HttpClient.open(url, revision, as('alice'));
    const reader = await client.stream(1, 'ask');
    const { message } = await reader.message();
    const answer = { jsonrpc: '2.0', id: message?.id, result: { action: 'accept', content: { name: 'Mallory' } } };
    for (const other of others()) expect((await client.post(answer, other)).status).toBe(404);
    for (const user of [as('bob'), as('alice')]) {
      const session = await HttpClient.open(url, revision, user);
      for (const result of [answer, { jsonrpc: '2.0', id: message?.id, error: { code: 1, message: 'no' } }]) {
        expect((await session.post(result)).status).toBe(202);
      }
    }
    expect((await client.post({ ...answer, result: { action: 'decline' } })).status).toBe(202);
    expect((await reader.rest()).at(-1)?.message).toMatchObject({ id: 1, result: { content: [{ text: 'decline' }] } });
  });

  inEverySessionRevision('makes room for others if its user opens too many', async (revision) => {
    const { url } = await serve(host, { limits: { maxSessionsPerPrincipal: 10, maxSessions: 20 } });
    const bob = await HttpClient.open(url, revision, as('bob'));
    const used = await HttpClient.open(url, revision, as('alice'));
    await used.listen();
    const opened = await Promise.all(
      Array.from({ length: 50 }, async () => await HttpClient.open(url, revision, as('alice')).catch(() => undefined)),
    );
    const alive = await Promise.all(opened.map(async (client) => (await client?.status()) === 200));
    expect(alive.filter(Boolean)).toHaveLength(9);
    expect([await bob.status(), await used.status()]).toEqual([200, 200]);
  });
});

overEveryHost('a stream', (host) => {
  inEverySessionRevision('is not taken over by a second one, which gets messages of its own', async (revision) => {
    const { url, server } = await serve(host);
    const client = await HttpClient.open(url, revision, as('alice'));
    const first = await client.listen();
    const second = await client.listen();
    for (const other of others()) expect((await client.get(other)).status).toBe(404);
    // one of them gets the message, and neither has ended
    server.notify.toolsChanged();
    const messages = [first, second].map(async (reader) => await reader.message());
    const { message } = await Promise.race(messages);
    // the other one ends without a message
    for (const each of messages) each.catch(() => {});
    expect(message).toMatchObject({ method: 'notifications/tools/list_changed' });
    expect([first.ended, second.ended]).toEqual([false, false]);
  });

  inEverySessionRevision('is not resumed in another session, or by another user', async (revision) => {
    const { url } = await serve(host);
    const client = await HttpClient.open(url, revision, as('alice'));
    const events = await (await client.stream(1, 'steps')).rest();
    expect(events.length).toBeGreaterThan(3);
    const sessions = await Promise.all([as('alice'), ...others()].map((user) => HttpClient.open(url, revision, user)));
    for (const { id } of events) {
      for (const session of sessions) {
        const answer = await session.get({ 'last-event-id': id as string });
        expect([answer.status, await answer.text()]).toEqual([400, expect.not.stringContaining('progress')]);
      }
      for (const other of others()) {
        expect((await client.get({ ...other, 'last-event-id': id as string })).status).toBe(404);
      }
    }
    // all of it is still there for its user
    const missed = await (await client.listen(events[0]?.id)).rest();
    expect(carried(missed)).toEqual(carried(events).slice(events[0]?.message ? 1 : 0));
  });

  inEverySessionRevision('is refused to a session that has too many', async (revision) => {
    const { url } = await serve(host);
    const client = await HttpClient.open(url, revision, as('alice'));
    const statuses = [];
    for (let n = 0; n < 40; n++) {
      const answer = await client.get();
      statuses.push(answer.status);
      if (answer.status === 200) new EventReader(answer);
      else await answer.text();
    }
    expect(statuses).toEqual([...Array(8).fill(200), ...Array(32).fill(429)]);
    expect(await client.status()).toBe(200);
  });

  inTheStatelessRevision('for subscriptions is refused to an address that has too many', async (revision) => {
    const { url } = await serve(host, { limits: { maxListenStreamsPerAddress: 50 } });
    const client = await HttpClient.open(url, revision, as('alice'));
    const statuses = [];
    for (let n = 0; n < 150; n++) {
      const filter = { notifications: { toolsListChanged: true } };
      const answer = await client.post(client.buildMessage(n, 'subscriptions/listen', filter));
      statuses.push(answer.status);
      if (answer.status === 200) new EventReader(answer);
      else await answer.text();
    }
    expect(statuses).toEqual([...Array(50).fill(200), ...Array(100).fill(429)]);
    expect(await client.status()).toBe(200);
  });
});

overEveryHost('a handle', (host) => {
  inTheStatelessRevision('of a question is of no use to another user, nor its ticket', async (revision) => {
    const { url, server } = await serve(host);
    server.addTool({ name: 'link', input: NoInput }, async (_input, ctx: Context) => {
      return (await ctx.elicitUrl({ message: 'Link', url: ({ ticket }) => `https://shop.example/${ticket}` })).action;
    });
    const client = await HttpClient.open(url, revision, as('alice'));
    const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } };
    const { result } = await json(await client.call(1, 'link', { meta }));
    const { inputRequests, requestState } = result as { inputRequests: JsonObject; requestState: string };
    const [[key, question]] = Object.entries(inputRequests) as [[string, { params: { url: string } }]];
    const inputResponses = { [key]: { action: 'accept' } };
    const params = { name: 'link', arguments: {}, _meta: meta, inputResponses, requestState };
    for (const other of others()) {
      const stolen = await json(await client.post(client.buildMessage(2, 'tools/call', params), other));
      expect(stolen).toMatchObject({ error: { code: -32602 } });
    }
    const again = await json(await client.post(client.buildMessage(3, 'tools/call', params)));
    expect(again).toMatchObject({ result: { content: [{ text: 'accept' }] } });
    // the user is the same with each client
    const ticket = new URL(question.params.url).pathname.slice(1);
    const { url: issuer } = issuers.trusted;
    for (const user of [
      { subject: 'bob', issuer },
      { subject: 'alice', issuer: issuers.evil.url },
      { subject: 'alice' },
      { subject: '', issuer },
      undefined,
    ]) {
      expect(() => server.openTicket(ticket, user)).toThrow(TicketError);
    }
    expect(server.openTicket(ticket, { subject: 'alice', issuer })).toMatchObject({ subject: 'alice', issuer });
  });

  inEveryRevision('of the rest of a list is of no use to another user', async (revision) => {
    const { url } = await serve(host, { server: { pageSize: 2 } });
    const client = await HttpClient.open(url, revision, as('alice'));
    const { result } = await json(await client.post(client.buildMessage(1, 'tools/list')));
    const next = { cursor: result?.['nextCursor'] };
    for (const other of others()) {
      const theirs = await HttpClient.open(url, revision, other);
      const answer = await theirs.post(theirs.buildMessage(2, 'tools/list', next));
      expect(await json(answer)).toMatchObject({ error: { code: -32602 } });
    }
    expect((await client.post(client.buildMessage(3, 'tools/list', next))).status).toBe(200);
  });
});
