// URLs that users visit: required ones, those that are made for a visit, and the notification of its end.
import { describe, expect, it } from '@jest/globals';
import { type Context, McpError, Prompt, QuestionError, sanitize } from '@decorum/core';

import { transportsOf } from '../support/http-transports.js';
import { RawClient, textOf } from '../support/raw-client.js';
import { eachRevision, REVISIONS, SESSION_REVISIONS } from '../support/requirements.js';
import { ADA, Bank, capabilities, doing, page, type Visit } from './url-visits.js';
import { ASKING, membersOf } from './members.js';
import { serverOf, serverWith } from './servers.js';

const WITH_SESSIONS = '2025-11-25';
const WITHOUT = '2026-07-28';
const UUID = /^[0-9a-f-]{36}$/;
const VISIT = { message: 'Link', url: 'https://bank.example/connect' };

const requireUrl = async (context: Context) => {
  try {
    await context.requireUrl(VISIT);
    return 'resolved';
  } catch (error) {
    if (error instanceof QuestionError) return `client error: ${error.message}`;
    if (error instanceof McpError && error.kind === 'missing-capability') return 'missing-capability';
    throw error;
  }
};

describe('ctx.requireUrl', () => {
  eachRevision(['ELIC-11', 'ELIC-18'], 'fails each kind of request with a new id and the URL', async (revision) => {
    for (const transport of Object.values(transportsOf(revision))) {
      const bank = new Bank();
      const require = (context: Context) => context.requireUrl(VISIT).then(() => 'been there');
      bank.server.addProvider(membersOf(require));
      const options = { revision, capabilities, principal: ADA, answers: { 'elicitation/create': doing('decline') } };
      const client = await RawClient.connect(bank.server, options, transport);
      const elicitation = { mode: 'url', ...VISIT, elicitationId: expect.stringMatching(UUID) };
      const ids = new Set<unknown>();
      for (const [method, params] of [...ASKING, ...ASKING]) {
        const { code, data } = await client.error(method, params);
        expect([method, code, data]).toEqual([method, -32042, { elicitations: [elicitation] }]);
        ids.add((data as { elicitations: { elicitationId: unknown }[] }).elicitations[0]?.elicitationId);
      }
      expect([ids.size, client.questions]).toEqual([2 * ASKING.length, []]);
      const error = await client.error('tools/call', { name: 'balance' });
      const [visit] = bank.visits as [Visit];
      const message = 'Link your bank account';
      const elicitations = [{ mode: 'url', message, elicitationId: visit.id, url: page(visit) }];
      expect(error).toEqual({ code: -32042, message, data: { elicitations } });
      bank.linked.add('ada').add(undefined);
      expect(textOf(await client.call('balance'))).toBe('12 €');
      // a visit that is not required is a question, whatever the user does
      expect(textOf(await client.call('link'))).toBe('decline');
      await client.close();
    }
  });

  it('does not ask a client that has not declared it', async () => {
    for (const revision of [WITH_SESSIONS, WITHOUT] as const) {
      for (const lacking of [{}, { elicitation: {} }, { elicitation: { form: {} } }]) {
        const client = await RawClient.connect(serverWith({ requireUrl }), { revision, capabilities: lacking });
        expect(textOf(await client.call('requireUrl'))).toBe('missing-capability');
        expect(client.questions).toEqual([]);
      }
    }
  });

  const throwing = {
    requireUrl,
    kind: () => Promise.reject(new McpError('url-elicitation-required', 'Link')),
    number: () => Promise.reject(new McpError(-32042, 'Link')),
    missing: () => Promise.reject(new McpError(-32002, 'Missing')),
  };

  it.each(SESSION_REVISIONS.filter((revision) => revision !== WITH_SESSIONS))(
    'has no error code in %s, whatever the client declares and the handler throws',
    async (revision) => {
      const client = await RawClient.connect(serverWith(throwing), { revision, capabilities });
      expect(textOf(await client.call('requireUrl'))).toBe('missing-capability');
      for (const name of ['kind', 'number']) {
        expect(await client.call(name)).toMatchObject({ isError: true, content: [{ text: 'Link' }] });
      }
      expect(client.texts.join()).not.toContain('-32042');
    },
  );

  eachRevision(['ELIC-19', 'RPC-28'], 'asks without a session, with no number and no notification', async () => {
    const server = serverWith(throwing);
    for (const transport of Object.values(transportsOf(WITHOUT))) {
      for (const [action, said] of [
        ['accept', 'resolved'],
        ['decline', 'client error: The user did not agree to open the required URL.'],
        ['cancel', 'client error: The user did not agree to open the required URL.'],
      ] as const) {
        const answers = { 'elicitation/create': doing(action) };
        const client = await RawClient.connect(server, { revision: WITHOUT, capabilities, answers }, transport);
        expect(textOf(await client.call('requireUrl'))).toBe(said);
        expect(client.questions).toEqual([{ method: 'elicitation/create', params: { mode: 'url', ...VISIT } }]);
        for (const name of ['kind', 'number']) {
          expect(await client.call(name)).toMatchObject({ isError: true, content: [{ text: 'Link' }] });
        }
        expect((await client.error('tools/call', { name: 'missing' })).code).toBe(-32602);
        server.notify.elicitationCompleted('any');
        await client.settled();
        expect(client.texts.join()).not.toMatch(/-32042|-32002|elicitation\/complete|elicitationId/);
        await client.close();
      }
    }
  });

  it('has no error code in a prompt either, which has no error results', async () => {
    class Letters {
      @Prompt()
      letter(): string {
        throw new McpError('url-elicitation-required', 'Link');
      }
    }
    const server = serverOf({ providers: [Letters] });
    const numbers = [];
    for (const revision of REVISIONS) {
      const client = await RawClient.connect(server, { revision, capabilities });
      numbers.push((await client.error('prompts/get', { name: 'letter' })).code);
    }
    expect(numbers).toEqual([-32603, -32603, -32603, -32042, -32603]);
  });
});

describe('a URL created for each visit', () => {
  it('keeps its ticket, even if results are sanitized', async () => {
    for (const revision of [WITH_SESSIONS, WITHOUT] as const) {
      const urls: string[] = [];
      const url = ({ ticket }: Visit) => {
        const made = `https://bank.example/?token=${ticket}`;
        urls.push(made);
        return made;
      };
      const server = serverWith(
        {
          requires: (context) => context.requireUrl({ message: 'password=x', url }),
          asks: (context) => context.elicitUrl({ message: 'Link', url }),
        },
        { interceptors: [sanitize()] },
      );
      const answers = { 'elicitation/create': doing('accept') };
      const client = await RawClient.connect(server, { revision, capabilities, answers });
      if (revision === WITH_SESSIONS) {
        const error = await client.error('tools/call', { name: 'requires' });
        expect(error).toMatchObject({
          code: -32042,
          message: 'password=[redacted]',
          data: { elicitations: [{ url: urls[0] }] },
        });
      } else {
        await client.call('requires');
        expect(client.questions.at(-1)?.params['url']).toBe(urls[0]);
      }
      const before = urls.length;
      await client.call('asks');
      expect(client.questions.at(-1)?.params['url']).toBe(urls[before]);
    }
  });

  it('is the same question in the next round, and each round has its own ticket', async () => {
    const bank = new Bank();
    const answers = { 'elicitation/create': doing('accept') };
    const options = { revision: WITHOUT, capabilities, answers, principal: ADA } as const;
    const client = await RawClient.connect(bank.server, options);
    expect(textOf(await client.call('link'))).toBe('accept');
    expect(client.questions).toHaveLength(1);
    expect(bank.visits).toHaveLength(2);
    expect(new Set(bank.visits.map(({ ticket }) => ticket)).size).toBe(2);
    expect(client.questions[0]?.params['url']).toBe(page(bank.visits[0] as Visit));
    expect(textOf(await client.call('balance'))).toBe('Not linked yet.');
    // a round doesn't ask for visits that are already done
    answers['elicitation/create'] = () => {
      bank.linked.add('ada');
      return { result: { action: 'accept' } };
    };
    expect(textOf(await client.call('balance'))).toBe('12 €');
  });

  it('is a different question if it leads elsewhere', async () => {
    let isSignedIn = false;
    const server = serverWith({
      async both(context) {
        const ask = (host: string) =>
          context.elicitUrl({ message: 'Sign in', url: ({ ticket }) => `https://${host}.example/?ticket=${ticket}` });
        if (!isSignedIn) await ask('one');
        return (await ask('two')).action;
      },
    });
    const answers = {
      'elicitation/create': () => {
        isSignedIn = true;
        return { result: { action: 'accept' } };
      },
    };
    const client = await RawClient.connect(server, { revision: WITHOUT, capabilities, answers });
    expect(textOf(await client.call('both'))).toBe('accept');
    expect(client.questions.map(({ params }) => new URL(params['url'] as string).hostname)).toEqual([
      'one.example',
      'two.example',
    ]);
  });

  it('must be one that a user can visit', async () => {
    const server = serverWith({
      link: (context) => context.requireUrl({ message: 'Go', url: () => 'http://a.example' }),
    });
    for (const revision of [WITH_SESSIONS, WITHOUT] as const) {
      const client = await RawClient.connect(server, { revision, capabilities });
      expect(await client.call('link')).toMatchObject({ isError: true });
    }
  });
});

describe('server.notify.elicitationCompleted', () => {
  eachRevision('ELIC-17', 'notifies only the session that was asked', async (revision) => {
    const { memory, HTTP } = transportsOf(revision);
    for (const transport of [memory, HTTP]) {
      const bank = new Bank();
      const answers = { 'elicitation/create': doing('accept') };
      const options = { revision, capabilities, answers, principal: ADA };
      const [asked, other] = [
        await RawClient.connect(bank.server, options, transport),
        await RawClient.connect(bank.server, options, transport),
      ];
      await asked.call('link');
      await asked.error('tools/call', { name: 'balance' });
      await other.call('link');
      const [first, second] = bank.visits as [Visit, Visit];
      for (const { id } of [first, second, first]) bank.server.notify.elicitationCompleted(id);
      bank.server.notify.elicitationCompleted('unheard of');
      await asked.settled();
      await other.settled();
      const told = asked.of('notifications/elicitation/complete').map(({ params }) => params);
      expect(told).toEqual([{ elicitationId: first.id }, { elicitationId: second.id }]);
      expect(other.of('notifications/elicitation/complete')).toEqual([]);
      await asked.close();
      await other.close();
    }
  });

  it.each(REVISIONS.filter((revision) => revision !== WITH_SESSIONS))('tells nobody in %s', async (revision) => {
    const bank = new Bank();
    const answers = { 'elicitation/create': doing('accept') };
    const client = await RawClient.connect(bank.server, { revision, capabilities, answers });
    for (const name of ['link', 'balance']) await client.call(name);
    expect(bank.visits.length).toBeGreaterThan(0);
    for (const { id } of bank.visits) bank.server.notify.elicitationCompleted(id);
    await client.settled();
    expect(client.received.filter(({ method }) => method?.startsWith('notifications/'))).toEqual([]);
  });

  it('remembers the last hundred visits of a session', async () => {
    const bank = new Bank();
    const answers = { 'elicitation/create': doing('accept') };
    const client = await RawClient.connect(bank.server, { revision: WITH_SESSIONS, capabilities, answers });
    for (let visit = 0; visit < 101; visit++) await client.call('link');
    for (const { id } of bank.visits) bank.server.notify.elicitationCompleted(id);
    const told = client.of('notifications/elicitation/complete').map(({ params }) => params?.['elicitationId']);
    expect(told).toEqual(bank.visits.slice(1).map(({ id }) => id));
  });
});
