// Sessions that several processes serve: what each of them learns of the others' changes.
import { once } from 'node:events';

import { describe, expect, it, jest } from '@jest/globals';
import { Context, NoInput, Tool } from '@decorum/core';
import type { Cluster } from '@decorum/http';

import { stopClock } from '../clock.js';
import { getStream } from '../events.js';
import { byUser as principal, whenBegun } from '../fixture.js';
import { call, cancelOf, request } from '../messages.js';
import { openSession, post, statusOf, statusOfGet } from '../sending.js';
import { Asker, callAsking, openAsked, serveNodes, settled } from './nodes.js';

const idOf = (session: Readonly<Record<string, string>>) => session['mcp-session-id'] as string;
// requests in flight need different ids
const subscribe = (uri: string) => request(`subscribe ${uri}`, 'resources/subscribe', { uri });
const unsubscribe = (uri: string) => request(`unsubscribe ${uri}`, 'resources/unsubscribe', { uri });
const pages = (count: number) => Array.from({ length: count }, (_, n) => `docs://page/${n}`);
const deleteAt = async (url: string, headers: Record<string, string>) =>
  (await fetch(url, { method: 'DELETE', headers })).status;

describe('at another process', () => {
  it('a cancellation ends the call', async () => {
    const { nodes } = await serveNodes();
    const session = await openSession(nodes[0].url);
    const [called] = await whenBegun(nodes[0].probe, post(nodes[0].url, call(5, 'wait'), session));
    const aborted = once(nodes[0].probe, 'aborted');
    expect(await statusOf(nodes[1].url, session, cancelOf(5))).toBe(202);
    await aborted;
    expect((await called).status).toBe(202);
  });

  it('a cancellation of a request that no process has is accepted', async () => {
    const { nodes } = await serveNodes();
    const session = await openSession(nodes[0].url);
    for (const { url } of nodes) expect(await statusOf(url, session, cancelOf('none'))).toBe(202);
  });

  it('a DELETE ends the session, its calls and its streams', async () => {
    const { nodes } = await serveNodes();
    const session = await openSession(nodes[0].url);
    const [called] = await whenBegun(nodes[0].probe, post(nodes[0].url, call(5, 'wait'), session));
    const stream = await getStream(nodes[1].url, session);
    const aborted = once(nodes[0].probe, 'aborted');
    expect(await deleteAt(nodes[2].url, session)).toBe(204);
    await aborted;
    await stream.rest();
    expect((await called).status).toBe(404);
    for (const { url } of nodes) expect(await statusOf(url, session)).toBe(404);
  });

  class Logging extends Asker {
    @Tool({ description: 'Logs when it has been asked' })
    async log(_input: NoInput, ctx: Context) {
      await ctx.roots();
      ctx.log.debug('details');
      ctx.log.error('broken');
      return 'logged';
    }
  }

  it.each([
    ['debug', ['details', 'broken']],
    ['emergency', []],
  ])('setLevel counts in a handler that runs: %s', async (level, logged) => {
    const { nodes } = await serveNodes({}, { providers: [new Logging()] });
    const session = await openAsked(nodes[0].url);
    const { stream, question } = await callAsking(nodes[0].url, 'log', session);
    expect(await statusOf(nodes[1].url, session, request(3, 'logging/setLevel', { level }))).toBe(200);
    await settled();
    const answer = { jsonrpc: '2.0', id: question.id, result: { roots: [] } };
    expect(await statusOf(nodes[2].url, session, answer)).toBe(202);
    const messages = (await stream.rest()).flatMap(({ message }) => message ?? []);
    expect(messages.flatMap(({ params }) => params?.['data'] ?? [])).toEqual(logged);
  });

  it('a session that does not exist is not found', async () => {
    const { nodes } = await serveNodes();
    const { courier } = nodes[0].parts;
    const letters = [
      { kind: 'ended' },
      { kind: 'push', frame: '{}' },
      { kind: 'adopted', stream: 'g00000000' },
      { kind: 'message', message: cancelOf(1) },
    ];
    for (const letter of letters) {
      const sent = { session: 'unknown', ...letter } as Parameters<typeof courier.send>[0];
      expect(await courier.send(sent, nodes[1].parts.courier.node)).toBe(false);
      expect(await courier.send(sent)).toBe(false);
    }
    expect(nodes.flatMap(({ errors }) => errors)).toEqual([]);
  });
});

describe('changes of three processes at once', () => {
  it('are all kept: 20 subscriptions', async () => {
    const { cluster, nodes } = await serveNodes();
    const session = await openSession(nodes[0].url);
    const statuses = pages(20).map((uri, n) =>
      statusOf((nodes[n % 3] as { url: string }).url, session, subscribe(uri)),
    );
    expect(await Promise.all(statuses)).toEqual(pages(20).map(() => 200));
    const { subscriptions = [] } = cluster.sessions.get(idOf(session)) ?? {};
    expect(subscriptions.toSorted()).toEqual(pages(20).toSorted());
    await settled();
    const stream = await getStream(nodes[1].url, session);
    nodes[2].server.notify.resourceUpdated('docs://page/19');
    expect((await stream.message()).message?.params).toEqual({ uri: 'docs://page/19' });
  });

  it('keep to the cap of subscriptions', async () => {
    const { cluster, nodes } = await serveNodes({}, { limits: { maxSubscriptions: 7 } });
    const session = await openSession(nodes[0].url);
    const answers = await Promise.all(
      pages(20).map(async (uri, n) => {
        const answer = await post((nodes[n % 3] as { url: string }).url, subscribe(uri), session);
        return { uri, isDone: (await answer.text()).includes('"result"') };
      }),
    );
    const done = answers.filter(({ isDone }) => isDone).map(({ uri }) => uri);
    const { subscriptions = [] } = cluster.sessions.get(idOf(session)) ?? {};
    expect(subscriptions.toSorted()).toEqual(done.toSorted());
    expect(done).toHaveLength(7);
  });

  it('do not undo each other: a subscription ends while others begin', async () => {
    const { cluster, nodes } = await serveNodes();
    const session = await openSession(nodes[0].url);
    for (const uri of pages(6)) await statusOf(nodes[0].url, session, subscribe(uri));
    await settled();
    const changes = [
      ...pages(6).map(unsubscribe),
      ...pages(12)
        .slice(6)
        .map((uri) => subscribe(uri)),
    ];
    const setLevel = request(3, 'logging/setLevel', { level: 'error' });
    const all = [...changes, setLevel].map((each, n) => statusOf((nodes[n % 3] as { url: string }).url, session, each));
    expect(new Set(await Promise.all(all))).toEqual(new Set([200]));
    const record = cluster.sessions.get(idOf(session));
    expect([record?.subscriptions?.toSorted(), record?.logLevel]).toEqual([pages(12).slice(6).toSorted(), 'error']);
  });
});

describe('the end of a visit', () => {
  it.each([
    ['the process that asked', 0, 0],
    ['another process', 1, 2],
  ])('reaches the stream once: it is at %s', async (_where, read, told) => {
    const { nodes } = await serveNodes();
    const session = await openAsked(nodes[0].url);
    const stream = await getStream((nodes[read] as { url: string }).url, session);
    const { question } = await callAsking(nodes[0].url, 'visit', session);
    const { elicitationId } = question.params as { elicitationId: string };
    const { notify } = (nodes[told] as (typeof nodes)[0]).server;
    notify.elicitationCompleted(elicitationId);
    await settled();
    notify.elicitationCompleted(elicitationId);
    notify.toolsChanged();
    expect((await stream.message()).message).toMatchObject({
      method: 'notifications/elicitation/complete',
      params: { elicitationId },
    });
    expect((await stream.message()).message?.method).toBe('notifications/tools/list_changed');
  });
});

describe('the record of a session', () => {
  it('is read at most every two seconds by each process', async () => {
    const advance = stopClock();
    const reads = jest.fn();
    const spoil = (parts: Cluster): Cluster => {
      const { get } = parts.sessions;
      const counted: Cluster['sessions']['get'] = (id) => {
        reads();
        return get(id);
      };
      return { ...parts, sessions: { ...parts.sessions, get: counted } };
    };
    const { nodes } = await serveNodes({}, { spoil });
    const session = await openSession(nodes[0].url);
    const ask = async () => {
      for (const { url } of [...nodes, ...nodes, ...nodes]) expect(await statusOf(url, session)).toBe(200);
    };
    await ask();
    expect(reads).toHaveBeenCalledTimes(2);
    advance(1999);
    await ask();
    expect(reads).toHaveBeenCalledTimes(2);
    advance(1);
    await ask();
    expect(reads).toHaveBeenCalledTimes(5);
  });

  it.each([
    ['after two seconds', 2000],
    ['after the clock was set back', -3_600_000],
  ])('is read again %s, in case a letter was lost', async (_when, ms) => {
    const advance = stopClock();
    const lose = (parts: Cluster): Cluster => ({ ...parts, courier: { ...parts.courier, send: () => false } });
    const { nodes } = await serveNodes({}, { spoil: lose });
    const session = await openSession(nodes[0].url);
    for (const { url } of nodes) expect(await statusOf(url, session)).toBe(200);
    expect(await deleteAt(nodes[0].url, session)).toBe(204);
    expect(await statusOf(nodes[1].url, session)).toBe(200);
    advance(ms);
    for (const { url } of nodes) expect(await statusOf(url, session)).toBe(404);
  });
});

describe('a principal that signs in at one process', () => {
  const ANN = { 'x-user': 'ann' };
  const BOB = { 'x-user': 'bob' };

  it('gets the session in all of them, and nobody else does', async () => {
    const { nodes } = await serveNodes({ principal });
    const session = await openSession(nodes[0].url);
    const stream = await getStream(nodes[1].url, session);
    for (const { url } of nodes) expect(await statusOf(url, session)).toBe(200);
    expect(await statusOf(nodes[2].url, { ...session, ...ANN })).toBe(200);
    // the stream that was opened anonymously ends
    await stream.rest();
    for (const { url } of nodes) {
      expect(await statusOf(url, session)).toBe(401);
      expect(await statusOf(url, { ...session, ...BOB })).toBe(404);
      expect(await statusOf(url, { ...session, ...ANN })).toBe(200);
      expect(await statusOfGet(url, { ...session, ...ANN })).toBe(200);
    }
  });

  it('is the only one, even if several sign in at once', async () => {
    const { nodes } = await serveNodes({ principal });
    const session = await openSession(nodes[0].url);
    for (const { url } of nodes) expect(await statusOf(url, session)).toBe(200);
    const users = [ANN, BOB, { 'x-user': 'cid' }];
    const statuses = await Promise.all(
      users.map((user, n) => statusOf((nodes[n] as { url: string }).url, { ...session, ...user })),
    );
    expect(statuses.toSorted()).toEqual([200, 404, 404]);
    const winner = users[statuses.indexOf(200)] as typeof ANN;
    for (const { url } of nodes) {
      for (const user of users) expect(await statusOf(url, { ...session, ...user })).toBe(user === winner ? 200 : 404);
    }
  });

  it('keeps what it has subscribed to', async () => {
    const { cluster, nodes } = await serveNodes({ principal });
    const session = await openSession(nodes[0].url);
    expect(await statusOf(nodes[1].url, session, subscribe('docs://guide'))).toBe(200);
    const mine = { ...session, ...ANN };
    expect(await statusOf(nodes[2].url, mine)).toBe(200);
    await settled();
    expect(await statusOf(nodes[0].url, mine, subscribe('docs://page/1'))).toBe(200);
    const { subscriptions = [] } = cluster.sessions.get(idOf(session)) ?? {};
    expect(subscriptions.toSorted()).toEqual(['docs://guide', 'docs://page/1']);
  });
});
