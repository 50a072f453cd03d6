// Sessions, streams, questions and handles belong to the issuer, subject and client of a verified token. The contract
// in test/http-contract says how; here the tokens are real, and some of them an attacker's.
/* oxlint-disable jest/no-standalone-expect -- inEveryRevision registers a test */
import { once } from 'node:events';

import { expect } from '@jest/globals';
import { Context, type JsonObject, NoInput, TicketError } from '@decorum/core';

import { call, type Fields, json, post } from '../../packages/http/test/fixture.js';
import {
  inEverySessionRevision,
  inTheFirstRevision,
  inTheStatelessRevision,
  LET_GO,
  overEveryHost,
} from '../http-contract/contract.js';
import { HOSTS, type HttpHost } from '../http-contract/hosts.js';
import { HttpClient, initialize, SseClient } from '../support/http-client.js';
import { AUDIENCE, bearer, Issuers } from './threats.js';

const [LISTEN] = HOSTS as [HttpHost];

const issuers = new Issuers();
const as = issuers.as.bind(issuers);

/** Serves the users of both issuers. */
const serve = (host: HttpHost) => issuers.serve(host, { issuer: [issuers.trusted.url, issuers.evil.url] });

/** The headers of users who are not Alice with her client. */
const others = (): readonly Fields[] => [
  as('bob'),
  // another client that Alice uses
  as('alice', { client_id: 'spy' }),
  // whoever is called Alice elsewhere
  bearer(issuers.evil.sign({ aud: AUDIENCE, scope: 'mcp', sub: 'alice' })),
];

const READY = { jsonrpc: '2.0', method: 'notifications/initialized' };

overEveryHost('a session', (host) => {
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
});

/** Session ids that nobody was given. */
const CHOSEN = ['00000000-0000-4000-8000-000000000000', 'chosen', '__proto__', 'null', '0', '', 'x'.repeat(8000)];

inEverySessionRevision('a session is not found by an id that the client chose, nor begun with it', async (revision) => {
  const { url } = await serve(LISTEN);
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
});

inTheFirstRevision('a session of HTTP+SSE is not found by another user or by another id', async (revision) => {
  const { url, files } = await serve(LISTEN);
  const client = await SseClient.open(new URL('/sse', url).href, as('alice'));
  const modern = await HttpClient.open(url, revision, as('alice'));
  for (const other of others()) expect((await client.send(call(1, 'list'), other)).status).toBe(404);
  for (const key of [...CHOSEN, modern.headers['mcp-session-id'] as string]) {
    const answer = await post(`${new URL('/messages', url).href}?sessionId=${key}`, call(1, 'list'), as('alice'));
    expect([key, answer.status]).toEqual([key, 404]);
  }
  const key = new URL(client.target).searchParams.get('sessionId') as string;
  expect((await modern.post(modern.buildMessage(1, 'tools/list'), { 'mcp-session-id': key })).status).toBe(404);
  expect((await post(client.target, call(1, 'list'))).status).toBe(401);
  expect(files.ran).toEqual([]);
  expect(await client.ask(call(2, 'list'))).toMatchObject({ id: 2 });
});

inEverySessionRevision(
  'sessions of different users with the same request ids get their own answers',
  async (revision) => {
    const { url } = await serve(LISTEN);
    const users = ['alice', 'bob', 'carol', 'dave'];
    const clients = await Promise.all(users.map((user) => HttpClient.open(url, revision, as(user))));
    const ids = Array.from({ length: 40 }, (_, id) => id);
    const asked = clients.flatMap((client, user) =>
      ids.map(async (id) => {
        const [name, args] = id % 2 === 0 ? ['add', { a: id, b: 1000 * user }] : ['who', {}];
        const answer = await json(await client.call(id, name as string, { args: args as JsonObject }));
        const text = answer.result?.content?.[0]?.text ?? '';
        return [answer.id, name === 'add' ? text : (JSON.parse(text) as Context).principal?.subject];
      }),
    );
    const expected = users.flatMap((name, user) =>
      ids.map((id) => [id, id % 2 === 0 ? String(id + 1000 * user) : name]),
    );
    expect(await Promise.all(asked)).toEqual(expected);
  },
);

inEverySessionRevision('a session refuses the second of two requests in flight with the same id', async (revision) => {
  const { url, files } = await serve(LISTEN);
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

inEverySessionRevision('a question ignores the answer of another session, also of the same user', async (revision) => {
  const { url } = await serve(LISTEN);
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

inTheStatelessRevision('a handle of a question is of no use to another user, nor its ticket', async (revision) => {
  const { url, server } = await serve(LISTEN);
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
  const strangers = [
    { subject: 'bob', issuer },
    { subject: 'alice', issuer: issuers.evil.url },
    { subject: 'alice' },
    { subject: '', issuer },
    undefined,
  ];
  for (const user of strangers) expect(() => server.openTicket(ticket, user)).toThrow(TicketError);
  expect(server.openTicket(ticket, { subject: 'alice', issuer })).toMatchObject({ subject: 'alice', issuer });
});
