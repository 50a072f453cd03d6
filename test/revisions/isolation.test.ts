// Isolation of questions and credentials between users of one server.
import { inspect } from 'node:util';

import { describe, expect } from '@jest/globals';
import { type Context, type JsonObject, NoInput } from '@decorum/core';
import { listen, type ListenOptions } from '@decorum/http';

import { json, serve } from '../../packages/http/test/fixture.js';
import { endpointOf, overHttp } from '../support/http-transports.js';
import { RawClient, type RawOptions, textOf } from '../support/raw-client.js';
import { eachRevision, eachSessionRevision } from '../support/requirements.js';
import { HttpClient } from '../support/http-client.js';
import { Log, serverWith } from './servers.js';

const BOTH = { elicitation: { form: {}, url: {} } };
const NAME = { type: 'object', properties: { name: { type: 'string' } } } as const;
const ADA = { subject: 'ada' };
const EVE = { subject: 'eve' };
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
      const open = { revision, capabilities: BOTH } satisfies RawOptions;
      const ada = await RawClient.connect(server, { ...open, principal: ADA }, overHttp);
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
      headers.authorization === `Bearer ${TOKEN}` ? ADA : undefined;
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
      capabilities: BOTH,
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

  eachRevision(
    'SEC-14',
    'has the scopes of each request, and is not another whose name differs in case',
    async (revision) => {
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
    },
  );
});
