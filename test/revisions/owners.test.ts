// What belongs to a caller: to the issuer, the subject and the client, or to the account whatever the client.
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type McpServer, type Principal, rateLimit, TicketError } from '@decorum/core';
import { accountOf, ownerOf } from '@decorum/core/internal';
import { connect, type ElicitQuestion } from '@decorum/testing';
import fastify, { type FastifyInstance } from 'fastify';

import { transportsOf } from '../support/http-transports.js';
import { RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, inStateless } from '../support/requirements.js';
import { Bank, capabilities, doing, EVE, page, SECRET, type Visit } from './url-visits.js';
import { many } from './lists.js';
import { ADA as ANSWER, asked, connect as connectRaw, INVALID, NAME } from './rounds.js';
import { serverOf, serverWith } from './servers.js';

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

describe('rateLimit', () => {
  eachRevision('SEC-14', 'counts by the issuer and the subject, whatever the client', async (revision) => {
    const keys: string[] = [];
    const interceptors = [rateLimit({ consume: async (key) => void keys.push(key) })];
    const server = serverWith({ work: () => '' }, { interceptors });
    const keyOf = async (principal: Principal) => {
      await (await connect(server, { revision, principal })).callTool('work');
      return keys.at(-1);
    };
    const key = await keyOf(ADA);
    for (const same of [AGAIN, ...OTHER_CLIENTS]) expect(await keyOf(same)).toBe(key);
    for (const other of STRANGERS) if (other) expect(await keyOf(other)).not.toBe(key);
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

/** The page behind the bank's URL, as in docs/questions.md. A header contains the signed-in user. */
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
  eachRevision(
    ['ELIC-20', 'ELIC-21'],
    'opens only for the issuer and the subject, whatever the client and the session',
    async (revision) => {
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
    },
  );

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
