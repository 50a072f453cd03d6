// What belongs to a caller, and not to another one or to all: states, cursors, tickets, questions and credentials.
import { inspect } from 'node:util';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type Context, type JsonObject, type McpServer, NoInput, type Principal, TicketError } from '@decorum/core';
import { accountOf, ownerOf } from '@decorum/core/internal';
import { listen, type ListenOptions } from '@decorum/http';
import { connect, type ElicitQuestion } from '@decorum/testing';
import fastify, { type FastifyInstance } from 'fastify';

import { json, serve } from '../../packages/http/test/fixture.js';
import { HttpClient } from '../support/http-client.js';
import { endpointOf, overHttp, transportsOf } from '../support/http-transports.js';
import { RawClient, type RawOptions, textOf } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision, inStateless } from '../support/requirements.js';
import { many } from './lists.js';
import { ADA as ANSWER, asked, connect as connectRaw, INVALID, NAME } from './rounds.js';
import { Log, serverOf, serverWith } from './servers.js';
import { Bank, capabilities, doing, EVE, page, SECRET, type Visit } from './url-visits.js';

const ADA: Principal = { subject: 'ada', issuer: 'https://id.example', clientId: 'editor' };
/** Ada again, with another token. */
const AGAIN: Principal = { ...ADA, scopes: ['more'], kind: 'user', claims: { a: 1 }, expiresAt: 4_102_444_800_000 };
/** The same account through other clients. */
const OTHER_CLIENTS: readonly Principal[] = [
  { ...ADA, clientId: 'Editor' },
  { subject: 'ada', issuer: 'https://id.example' },
];
/** Other accounts. */
const STRANGERS: readonly (Principal | undefined)[] = [
  { ...ADA, issuer: 'https://other.example' },
  { ...ADA, issuer: 'https://id.example/' },
  { ...ADA, issuer: undefined },
  { ...ADA, subject: 'bob' },
  { subject: 'ada' },
  { subject: 'ada', clientId: 'editor' },
  { subject: JSON.stringify(['https://id.example', 'ada', 'editor']) },
  { subject: 'editor', issuer: 'https://id.example', clientId: 'ada' },
  undefined,
];

const openAs = async (server: McpServer, principal: Principal | undefined) =>
  await connectRaw(server, principal && { principal });

const OTHER_SECRET = 'another thirty-two characters of it';
const WITH_SESSIONS = '2025-11-25';
const WITHOUT = '2026-07-28';

afterEach(() => void jest.restoreAllMocks());

describe('a request with questions', () => {
  eachRevision(['SEC-09', 'ELIC-20'], 'continues only for the issuer, subject and client that began it', async () => {
    const server = serverWith({ ask: async (ctx) => (await ctx.elicit(NAME, { message: 'Who?' })).action });
    const client = async (principal: Principal | undefined) => await openAs(server, principal);
    for (const owner of [ADA, undefined, ...OTHER_CLIENTS]) {
      const first = await (await client(owner)).request('tools/call', { name: 'ask' });
      const { inputRequests, requestState } = asked(first.result);
      const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, ANSWER]));
      const answer = async (principal: Principal | undefined) =>
        await (await client(principal)).request('tools/call', { name: 'ask', inputResponses, requestState });
      for (const other of [...STRANGERS, ...OTHER_CLIENTS, ADA].filter((each) => each !== owner)) {
        expect([other, await answer(other)]).toMatchObject([other, INVALID]);
      }
      expect((await answer(owner === ADA ? AGAIN : owner)).result).toMatchObject({ resultType: 'complete' });
    }
  });
});

describe('a cursor', () => {
  inStateless('SEC-09', 'is valid only for the issuer, subject and client that got it', async () => {
    const server = many(3, 1);
    for (const owner of [ADA, undefined, ...OTHER_CLIENTS]) {
      const { nextCursor: cursor } = await (await openAs(server, owner)).result('tools/list');
      for (const other of [...STRANGERS, ...OTHER_CLIENTS, ADA].filter((each) => each !== owner)) {
        const client = await openAs(server, other);
        expect([other, await client.error('tools/list', { cursor })]).toMatchObject([other, { code: -32602 }]);
      }
      const client = await openAs(server, owner === ADA ? AGAIN : owner);
      expect(await client.result('tools/list', { cursor })).toHaveProperty('tools');
    }
  });
});

describe('the keys of owners and accounts', () => {
  it('are equal only for the same owner or account', () => {
    const all = [ADA, ...OTHER_CLIENTS, ...STRANGERS];
    expect(ownerOf(AGAIN)).toBe(ownerOf(ADA));
    expect(new Set(all.map(ownerOf)).size).toBe(new Set(all.map((each) => JSON.stringify(each))).size);
    for (const other of OTHER_CLIENTS) expect(accountOf(other)).toBe(accountOf(ADA));
    for (const other of STRANGERS) expect(accountOf(other)).not.toBe(accountOf(ADA));
    expect([ownerOf(undefined), accountOf(undefined)]).toEqual([undefined, undefined]);
  });

  it('do not exist for an empty subject, which is nobody', () => {
    for (const keyOf of [ownerOf, accountOf]) expect(() => keyOf({ subject: '' })).toThrow(TypeError);
  });
});

/** The page behind the bank's URL, as in docs/guides/questions.md. A header contains the signed-in user. */
function pageOf({ server, linked }: Bank): FastifyInstance {
  const app = fastify();
  app.get<{ Querystring: { ticket?: string } }>('/connect/*', async (request, reply) => {
    const user = request.headers['x-user'];
    if (typeof user !== 'string') return await reply.code(401).send('Sign in first.');
    try {
      const { id } = server.openTicket(request.query.ticket ?? '', { subject: user });
      linked.add(user);
      server.notify.elicitationCompleted(id);
      return await reply.send('Your account is linked.');
    } catch (error) {
      if (!(error instanceof TicketError)) throw error;
      return await reply.code(403).send(error.message);
    }
  });
  return app;
}

const accept = () => ({ action: 'accept' }) as const;

/** The ticket in the URL for a user. */
async function ticketOf(bank: Bank, revision: string, principal?: Principal): Promise<string> {
  let ticket = '';
  const onElicit = ({ url }: ElicitQuestion) => {
    ticket = new URL(url as string).searchParams.get('ticket') as string;
    return accept();
  };
  const client = await connect(bank.server, { revision, capabilities, onElicit, ...(principal && { principal }) });
  await client.callTool('link');
  await client.close();
  return ticket;
}

const REFUSAL = new TicketError().message;
const opening = (server: McpServer, ticket: string, principal?: Principal) => () =>
  server.openTicket(ticket, principal);

describe('a ticket', () => {
  eachRevision(['ELIC-20', 'ELIC-21'], 'opens only for its issuer and subject, in any session', async (revision) => {
    const bank = new Bank();
    // another session of the same user
    const tickets = [await ticketOf(bank, revision, ADA), await ticketOf(bank, revision, ADA)];
    const { issuer } = ADA;
    for (const ticket of tickets) {
      for (const other of [...STRANGERS, { ...ADA, subject: '' }, { ...ADA, subject: 'Ada' }]) {
        expect(opening(bank.server, ticket, other)).toThrow(TicketError);
        expect(opening(bank.server, ticket, other)).toThrow(REFUSAL);
      }
      for (const user of [ADA, { subject: 'ada', issuer }, AGAIN, ...OTHER_CLIENTS]) {
        const { id, ...owner } = bank.server.openTicket(ticket, user);
        expect(owner).toEqual({ subject: 'ada', issuer });
        expect(bank.visits.map((visit) => visit.id)).toContain(id);
      }
    }
    // a ticket of nobody is no user's
    const nobodys = await ticketOf(bank, revision);
    for (const user of [ADA, EVE, { subject: '' }]) expect(opening(bank.server, nobodys, user)).toThrow(TicketError);
    expect(bank.server.openTicket(nobodys, undefined)).toEqual({ id: expect.any(String) });
    // a visit by one user doesn't count for another
    bank.linked.add('ada');
    const mine = await connect(bank.server, { revision, capabilities, onElicit: accept, principal: ADA });
    const hers = await connect(bank.server, { revision, capabilities, onElicit: accept, principal: EVE });
    expect((await mine.callTool('balance')).content).toEqual([{ type: 'text', text: '12 €' }]);
    await hers.callTool('balance').catch(() => undefined);
    const { ticket } = bank.visits.at(-1) as Visit;
    expect(opening(bank.server, ticket, ADA)).toThrow(TicketError);
    expect(bank.server.openTicket(ticket, EVE).subject).toBe('eve');
  });

  eachRevision('ELIC-21', 'lets a page reject a user who was lured to it', async (revision) => {
    const bank = new Bank();
    const app = pageOf(bank);
    const answers = { 'elicitation/create': doing('accept') };
    const options = { revision, capabilities, answers, principal: EVE };
    const client = await RawClient.connect(bank.server, options, transportsOf(revision)['HTTP']);
    // Eve starts a call and sends the URL to Ada, who is signed in
    await client.request('tools/call', { name: 'balance' });
    const { pathname, search } = new URL(page(bank.visits.at(-1) as Visit));
    const open = async (user?: string) =>
      (await app.inject({ url: pathname + search, headers: user === undefined ? {} : { 'x-user': user } })).statusCode;
    expect(await open('ada')).toBe(403);
    expect(await open()).toBe(401);
    expect([...bank.linked]).toEqual([]);
    expect(await open('eve')).toBe(200);
    expect([...bank.linked]).toEqual(['eve']);
    await client.settled();
    const told = client.of('notifications/elicitation/complete').map(({ params }) => params?.['elicitationId']);
    expect(told).toEqual(revision === WITHOUT ? [] : [bank.visits.at(-1)?.id]);
    expect(textOf(await client.call('balance'))).toBe('12 €');
  });

  it('returns the session, if there is one', async () => {
    const bank = new Bank();
    const transport = transportsOf(WITH_SESSIONS)['HTTP'];
    const answers = { 'elicitation/create': doing('accept') };
    const client = await RawClient.connect(bank.server, { revision: WITH_SESSIONS, capabilities, answers }, transport);
    await client.call('link');
    const [visit] = bank.visits as [Visit];
    expect(bank.server.openTicket(visit.ticket, undefined)).toEqual({ id: visit.id, sessionId: expect.any(String) });
  });

  it('rejects a tampered ticket, and anything else', async () => {
    const bank = new Bank();
    const ticket = await ticketOf(bank, WITHOUT, ADA);
    for (let at = 0; at < ticket.length; at++) {
      const changed = ticket.slice(0, at) + (ticket[at] === 'A' ? 'B' : 'A') + ticket.slice(at + 1);
      expect(opening(bank.server, changed, ADA)).toThrow(REFUSAL);
    }
    for (const text of [
      '',
      ticket.slice(1),
      `${ticket}A`,
      `${ticket}=`,
      ` ${ticket}`,
      undefined as never,
      {} as never,
    ]) {
      expect(opening(bank.server, text, ADA)).toThrow(REFUSAL);
    }
  });

  it('rejects a request state, which is sealed with another key', async () => {
    const bank = new Bank();
    const client = await RawClient.connect(bank.server, { revision: WITHOUT, capabilities });
    const { result } = await client.request('tools/call', { name: 'link' });
    expect(opening(bank.server, result?.['requestState'] as string)).toThrow(REFUSAL);
  });

  it('rejects an expired ticket', async () => {
    const bank = new Bank({ requestStateTtlMs: 1000 });
    const ticket = await ticketOf(bank, WITHOUT, ADA);
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now + 1001);
    expect(opening(bank.server, ticket, ADA)).toThrow(REFUSAL);
    jest.spyOn(Date, 'now').mockReturnValue(now - 1);
    expect(bank.server.openTicket(ticket, ADA).subject).toBe('ada');
  });

  it('accepts tickets of all keys, and seals with the first', async () => {
    const ticket = await ticketOf(new Bank({ secret: SECRET }), WITHOUT, ADA);
    const [replacing, replaced] = [new Bank({ secret: [OTHER_SECRET, SECRET] }), new Bank({ secret: OTHER_SECRET })];
    expect(replacing.server.openTicket(ticket, ADA).subject).toBe('ada');
    expect(opening(replaced.server, ticket, ADA)).toThrow(REFUSAL);
    expect(replaced.server.openTicket(await ticketOf(replacing, WITHOUT, ADA), ADA).subject).toBe('ada');
  });

  /** Creates something while DECORUM_SECRET has a value. */
  function inEnvironment<T>(value: string | undefined, make: () => T): T {
    const given = process.env['DECORUM_SECRET'];
    const set = (to: string | undefined) => {
      if (to === undefined) delete process.env['DECORUM_SECRET'];
      else process.env['DECORUM_SECRET'] = to;
    };
    set(value);
    try {
      return make();
    } finally {
      set(given);
    }
  }

  it('reads several keys from the environment, and trims spaces', async () => {
    const both = inEnvironment(` ${SECRET} , ${OTHER_SECRET}\n`, () => serverOf({}));
    for (const secret of [SECRET, OTHER_SECRET]) {
      const ticket = await ticketOf(new Bank({ secret }), WITHOUT, ADA);
      expect(both.openTicket(ticket, ADA).subject).toBe('ada');
    }
    expect(() => inEnvironment(`${SECRET},`, () => serverOf({}))).toThrow(/DECORUM_INVALID_OPTION/);
  });

  it('warns once if the key is random', async () => {
    const warn = jest.fn();
    const server = inEnvironment(undefined, () => serverOf({ logger: { warn, error: () => {} } }));
    server.addTool({ name: 'link' }, (_input, context) => context.elicitUrl({ message: 'Link', url: page }));
    const onElicit = () => ({ action: 'accept' }) as const;
    const client = await connect(server, { revision: WITHOUT, capabilities, onElicit });
    await client.callTool('link');
    expect(warn).toHaveBeenCalledTimes(1);
  });
});

const USER = { subject: 'ada' };
const YES = { action: 'accept', content: { name: 'Eve' } };

const QUESTIONS: Readonly<Record<string, (context: Context) => Promise<{ readonly action: string }>>> = {
  form: (context) => context.elicit(NAME, { message: 'Who are you?' }),
  visit: (context) => context.elicitUrl({ message: 'Please', url: ({ ticket }) => `https://example.com/${ticket}` }),
};

describe('a question to a user', () => {
  eachSessionRevision('ELIC-20', 'is answered only by that user in their session', async (revision) => {
    for (const [name, question] of Object.entries(QUESTIONS)) {
      const sessions = new Map<string | undefined, string>();
      const server = serverWith({
        async ask(context) {
          sessions.set(context.principal?.subject, context.sessionId as string);
          return `${context.principal?.subject}: ${(await question(context)).action}`;
        },
      });
      const open = { revision, capabilities } satisfies RawOptions;
      const ada = await RawClient.connect(server, { ...open, principal: USER }, overHttp);
      const eve = await RawClient.connect(server, { ...open, principal: EVE }, overHttp);
      const waiting = ada.request('tools/call', { name: 'ask' }, 'call');
      const { id } = await ada.find(({ method }) => method === 'elicitation/create');
      const answer = { jsonrpc: '2.0', id: id as string, result: YES };
      // in her own session, without and with a pending question of hers, and in the session of another user
      await eve.send(answer);
      const hers = eve.request('tools/call', { name: 'ask' }, 'call');
      const question2 = await eve.find(({ method }) => method === 'elicitation/create');
      await eve.send(answer);
      const { url } = await endpointOf(server);
      for (const [user, status] of [
        [{ 'x-user': 'eve' }, 404],
        [{}, 401],
      ] as const) {
        const headers = {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': revision,
          'mcp-session-id': sessions.get('ada') as string,
          ...user,
        };
        const stolen = await fetch(url, { method: 'POST', headers, body: JSON.stringify(answer) });
        expect([name, stolen.status]).toEqual([name, status]);
        await stolen.text();
      }
      await ada.settled();
      expect(ada.received.filter((message) => message.id === 'call')).toEqual([]);
      await ada.send({ jsonrpc: '2.0', id: id as string, result: { action: 'decline' } });
      expect(textOf((await waiting).result as JsonObject)).toBe('ada: decline');
      if (question2.id !== id) await eve.send({ ...answer, id: question2.id as string });
      expect(textOf((await hers).result as JsonObject)).toBe('eve: accept');
    }
  });
});

const TOKEN = 'the-token-of-the-caller';
const OTHERS = ['proxy-authorization', 'x-api-key', 'x-auth-token', 'x-access-token', 'x-forwarded-access-token'];
const CREDENTIALS = {
  authorization: `Bearer ${TOKEN}`,
  cookie: `session=${TOKEN}`,
  ...Object.fromEntries(OTHERS.map((name) => [name, TOKEN])),
};

/** All data reachable from a context. */
function everything(context: Context): string {
  const members = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(context) as object));
  const values = members.map(([name, { get }]) => [name, get?.call(context) as unknown]);
  return inspect([context, Object.fromEntries(values)], { depth: 10, getters: true, showHidden: true });
}

describe('credentials', () => {
  eachRevision('ELIC-23', 'of the caller are not visible to handlers, sent or logged', async (revision) => {
    const seen: string[] = [];
    const log = new Log();
    const server = serverWith(
      {
        look(context) {
          seen.push(everything(context));
          context.log.error({ context, headers: context.transport.headers });
          return seen.at(-1);
        },
        fail(context) {
          throw Object.assign(new Error(everything(context)), { context });
        },
      },
      { logger: log },
    );
    const principal: ListenOptions['principal'] = ({ headers }) =>
      headers.authorization === `Bearer ${TOKEN}` ? USER : undefined;
    const listening = await listen(server, { port: 0, principal });
    try {
      const client = await HttpClient.open(listening.url, revision, CREDENTIALS);
      const meta = client.stateless ? { 'io.modelcontextprotocol/logLevel': 'debug' } : {};
      const frames: string[] = [];
      for (const name of ['look', 'fail']) frames.push(await (await client.call(name, name, { meta })).text());
      // the tool has run, and sees the caller and the headers
      expect(seen.join()).toMatch(/subject: 'ada'.*host|host.*subject: 'ada'/s);
      expect(frames.join()).toMatch(/notifications\/message.*Internal error/s);
      expect(log.entries).toHaveLength(1);
      for (const shown of [seen, frames, [inspect(log.entries, { depth: 10, getters: true })]]) {
        expect(shown.join()).not.toContain(TOKEN);
      }
    } finally {
      await listening.close();
    }
  });

  eachRevision('ELIC-23', 'that a client sends with its answer to a URL are dropped', async (revision) => {
    const server = serverWith({
      visit: async (context) => JSON.stringify(await QUESTIONS['visit']!(context)),
    });
    const content = { token: TOKEN };
    const client = await RawClient.connect(server, {
      revision,
      capabilities,
      answers: { 'elicitation/create': () => ({ result: { action: 'accept', content, token: TOKEN } }) },
    });
    expect(textOf(await client.call('visit'))).toBe('{"action":"accept"}');
  });
});

describe('the user of a session', () => {
  const user = (subject: string, scopes = '') => ({ 'x-user': subject, 'x-scopes': scopes });

  /** A server whose users and scopes are in the headers. Paying needs a scope. */
  async function open() {
    const served = await serve({
      principal: ({ headers }) => ({
        subject: String(headers['x-user']),
        scopes: String(headers['x-scopes'] ?? '').split(' '),
      }),
    });
    const paid: unknown[] = [];
    const access = (principal?: { scopes?: readonly string[] }) => principal?.scopes?.includes('pay') ?? false;
    served.server.addTool({ name: 'pay', access, input: NoInput }, (_input: NoInput, { principal }: Context) => {
      paid.push(principal?.scopes);
      return 'paid';
    });
    return { url: served.url, paid };
  }

  eachRevision('SEC-14', 'has the scopes of each request, and a name with its case', async (revision) => {
    const { url, paid } = await open();
    const client = await HttpClient.open(url, revision, user('ada', 'read'));
    const call = async (scopes: string) => {
      const { result, error } = await json(await client.call(1, 'pay', { headers: user('ada', scopes) }));
      return result?.content?.[0]?.text ?? error?.code;
    };
    const listed = async (scopes: string) =>
      (await (await client.post(client.buildMessage(2, 'tools/list'), user('ada', scopes))).text()).includes('"pay"');
    const told = [];
    for (const scopes of ['read', 'read pay', 'read', 'pay', '', 'PAY']) {
      told.push([scopes, await call(scopes), await listed(scopes)]);
    }
    expect(told).toEqual([
      ['read', -32602, false],
      ['read pay', 'paid', true],
      ['read', -32602, false],
      ['pay', 'paid', true],
      ['', -32602, false],
      ['PAY', -32602, false],
    ]);
    expect(paid).toEqual([['read', 'pay'], ['pay']]);
    for (const subject of ['Ada', 'adA']) {
      const response = await client.call(1, 'pay', { headers: user(subject, client.stateless ? '' : 'pay') });
      expect([subject, response.status]).toEqual([subject, client.stateless ? 200 : 404]);
      if (!client.stateless) expect(await client.end(user(subject, 'pay'))).toBe(404);
    }
    expect(paid).toHaveLength(2);
  });
});
