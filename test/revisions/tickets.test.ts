import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type McpServer, NoInput, type Principal, TicketError } from '@decorum/core';
import { connect, type ElicitQuestion } from '@decorum/testing';
import fastify, { type FastifyInstance } from 'fastify';

import { transportsOf } from '../support/http-transports.js';
import { RawClient, textOf } from '../support/raw-client.js';
import { eachRevision } from '../support/requirements.js';
import { ADA, Bank, capabilities, doing, EVE, page, SECRET, type Visit } from './bank.js';
import { serverOf } from './servers.js';

const OTHER_SECRET = 'another thirty-two characters of it';
const WITH_SESSIONS = '2025-11-25';
const WITHOUT = '2026-07-28';

const ticketIn = (url: unknown) => new URL(url as string).searchParams.get('ticket') as string;

afterEach(() => void jest.restoreAllMocks());

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

describe('server.openTicket', () => {
  /** The ticket in the URL for a user. */
  async function ticketOf(bank: Bank, revision: string, principal?: Principal): Promise<string> {
    let url: unknown;
    const onElicit = (question: ElicitQuestion) => {
      ({ url } = question);
      return { action: 'accept' } as const;
    };
    const client = await connect(bank.server, { revision, capabilities, onElicit, ...(principal && { principal }) });
    await client.callTool('link');
    await client.close();
    return ticketIn(url);
  }

  const REFUSAL = new TicketError().message;
  const opening = (server: McpServer, ticket: string, principal?: Principal) => () =>
    server.openTicket(ticket, principal);

  eachRevision('ELIC-21', 'opens only for the user who started the call', async (revision) => {
    const bank = new Bank();
    const ticket = await ticketOf(bank, revision, ADA);
    const again: Principal = { subject: 'ada', scopes: ['any'], clientId: 'any' };
    expect(bank.server.openTicket(ticket, again)).toEqual({
      id: bank.visits[0]?.id,
      subject: 'ada',
    });
    for (const user of [EVE, { subject: 'Ada' }, { subject: '' }, undefined]) {
      expect(opening(bank.server, ticket, user)).toThrow(TicketError);
      expect(opening(bank.server, ticket, user)).toThrow(REFUSAL);
    }
    // a ticket of nobody is no user's
    const nobodys = await ticketOf(bank, revision, undefined);
    for (const user of [ADA, { subject: '' }]) expect(opening(bank.server, nobodys, user)).toThrow(TicketError);
    expect(bank.server.openTicket(nobodys, undefined).subject).toBeUndefined();
  });

  eachRevision('ELIC-20', 'belongs to the user, not to a session', async (revision) => {
    const bank = new Bank();
    // the same user in another session, because state belongs to the user
    const tickets = [await ticketOf(bank, revision, ADA), await ticketOf(bank, revision, ADA)];
    for (const ticket of tickets) expect(bank.server.openTicket(ticket, ADA).subject).toBe('ada');
    // a visit by one user doesn't count for another
    bank.linked.add(bank.server.openTicket(tickets[0] as string, ADA).subject);
    const onElicit = () => ({ action: 'accept' }) as const;
    const mine = await connect(bank.server, { revision, capabilities, onElicit, principal: ADA });
    const hers = await connect(bank.server, { revision, capabilities, onElicit, principal: EVE });
    expect((await mine.callTool('balance')).content).toEqual([{ type: 'text', text: '12 €' }]);
    const asked = bank.visits.length;
    await hers.callTool('balance').catch(() => undefined);
    expect(bank.visits.length).toBeGreaterThan(asked);
    const ticket = (bank.visits.at(-1) as Visit).ticket;
    expect(opening(bank.server, ticket, ADA)).toThrow(TicketError);
    expect(bank.server.openTicket(ticket, EVE).subject).toBe('eve');
  });

  eachRevision('ELIC-20', 'belongs to the user of one issuer', async (revision) => {
    const bank = new Bank();
    const user = { subject: 'ada', issuer: 'https://one.example' };
    const ticket = await ticketOf(bank, revision, user);
    const plain = await ticketOf(bank, revision, ADA);
    expect(bank.server.openTicket(ticket, user)).toMatchObject(user);
    const others = ['https://two.example', 'https://one.example/', '', undefined];
    for (const issuer of others) {
      expect(opening(bank.server, ticket, { subject: 'ada', issuer })).toThrow(TicketError);
    }
    expect(opening(bank.server, plain, user)).toThrow(TicketError);
  });

  it.each([WITH_SESSIONS, WITHOUT])('of an anonymous caller opens for nobody in %s', async (revision) => {
    const bank = new Bank();
    const ticket = await ticketOf(bank, revision);
    expect(bank.server.openTicket(ticket, undefined)).toEqual({ id: bank.visits[0]?.id });
    for (const user of [ADA, { subject: '' }]) expect(opening(bank.server, ticket, user)).toThrow(TicketError);
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

describe('a third-party credential', () => {
  eachRevision(
    'ELIC-23',
    'never passes through the client: it is neither in handlers nor in messages',
    async (revision) => {
      for (const transport of Object.values(transportsOf(revision))) {
        const vault = new Map<string | undefined, string>();
        const bank = new Bank();
        bank.server.addTool({ name: 'pay', input: NoInput }, async (_input, context) => {
          const token = vault.get(context.principal?.subject);
          context.log.error({ token, authorization: `Bearer ${token}` });
          const seen = JSON.stringify([context.principal, context.meta, context.client, context.sessionId]);
          return `${seen.includes(String(token))}`;
        });
        const answers = { 'elicitation/create': doing('accept') };
        const options = { revision, capabilities, answers, principal: ADA, logLevel: 'error' };
        const client = await RawClient.connect(bank.server, options, transport);
        await client.call('link');
        // the page stores what the bank returned when the user signed in
        const [{ ticket }] = bank.visits as [Visit];
        vault.set(bank.server.openTicket(ticket, ADA).subject, 'upstream-token-1');
        expect(textOf(await client.call('pay'))).toBe('false');
        expect(client.of('notifications/message')).toHaveLength(1);
        expect(client.texts.join()).not.toContain('upstream-token-1');
        await client.close();
      }
    },
  );
});
