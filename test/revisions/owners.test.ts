// What belongs to a caller: to the issuer, the subject and the client, or to the account whatever the client.
import { describe, expect, it } from '@jest/globals';
import { type Context, type McpServer, NoInput, type Principal, rateLimit, TicketError } from '@decorum/core';
import { accountOf, ownerOf } from '@decorum/core/transport';
import { connect, type ElicitQuestion } from '@decorum/testing';

import { eachRevision, inStateless } from '../support/requirements.js';
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

const open = async (server: McpServer, principal: Principal | undefined) =>
  await connectRaw(server, principal && { principal });

describe('a request with questions', () => {
  for (const id of ['SEC-09', 'ELIC-20']) {
    inStateless(id, 'continues only for the issuer, subject and client that began it', async () => {
      const server = serverWith({ ask: async (ctx) => (await ctx.elicit(NAME, { message: 'Who?' })).action });
      for (const owner of [ADA, undefined, ...OTHER_CLIENTS]) {
        const first = await (await open(server, owner)).request('tools/call', { name: 'ask' });
        const { inputRequests, requestState } = asked(first.result);
        const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, ANSWER]));
        const answer = async (principal: Principal | undefined) =>
          await (await open(server, principal)).request('tools/call', { name: 'ask', inputResponses, requestState });
        for (const other of [...STRANGERS, ...OTHER_CLIENTS, ADA].filter((each) => each !== owner)) {
          expect([other, await answer(other)]).toMatchObject([other, INVALID]);
        }
        expect((await answer(owner === ADA ? AGAIN : owner)).result).toMatchObject({ resultType: 'complete' });
      }
    });
  }
});

describe('a cursor', () => {
  inStateless('SEC-09', 'is valid only for the issuer, subject and client that got it', async () => {
    const server = many(3, 1);
    for (const owner of [ADA, undefined, ...OTHER_CLIENTS]) {
      const { nextCursor: cursor } = await (await open(server, owner)).result('tools/list');
      for (const other of [...STRANGERS, ...OTHER_CLIENTS, ADA].filter((each) => each !== owner)) {
        const client = await open(server, other);
        expect([other, await client.error('tools/list', { cursor })]).toMatchObject([other, { code: -32602 }]);
      }
      const client = await open(server, owner === ADA ? AGAIN : owner);
      expect(await client.result('tools/list', { cursor })).toHaveProperty('tools');
    }
  });
});

describe('a ticket', () => {
  eachRevision('ELIC-21', 'opens only for the issuer and the subject, whatever the client', async (revision) => {
    const server = serverOf();
    server.addTool({ name: 'link', input: NoInput }, async (_input, ctx: Context) => {
      await ctx.elicitUrl({ message: 'Link', url: ({ ticket }) => `https://shop.example/?ticket=${ticket}` });
    });
    let ticket = '';
    const onElicit = ({ url }: ElicitQuestion) => {
      ticket = new URL(url as string).searchParams.get('ticket') as string;
      return { action: 'accept' } as const;
    };
    const capabilities = { elicitation: { url: {} } };
    const client = await connect(server, { revision, principal: ADA, capabilities, onElicit });
    await client.callTool('link');
    for (const other of [...STRANGERS, { ...ADA, subject: '' }]) {
      expect(() => server.openTicket(ticket, other)).toThrow(TicketError);
    }
    for (const user of [{ subject: 'ada', issuer: 'https://id.example' }, AGAIN, ...OTHER_CLIENTS]) {
      expect(server.openTicket(ticket, user)).toMatchObject({ subject: 'ada', issuer: 'https://id.example' });
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
