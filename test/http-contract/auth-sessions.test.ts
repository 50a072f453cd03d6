// What belongs to a caller: sessions, streams, states and quotas. By issuer, subject and client, until the token expires.
import { once } from 'node:events';

import { expect, it } from '@jest/globals';
import type { JsonObject, Principal } from '@decorum/core';
import type { Auth } from '@decorum/http';

import { stopClock } from '../../packages/http/test/clock.js';
import { EventReader } from '../../packages/http/test/events.js';
import { call, json, post } from '../../packages/http/test/fixture.js';
import { HttpClient, initialize, SseClient, TOKEN } from '../support/http-client.js';
import { ANN, as, serveFiles } from './auth-fixture.js';
import {
  inEveryRevision,
  inEverySessionRevision,
  inTheFirstRevision,
  inTheStatelessRevision,
  overEveryHost,
} from './contract.js';

/** Callers that are not the one who has only the subject `ann`. */
const OTHERS: readonly Partial<Principal>[] = [
  { subject: 'bob' },
  { issuer: 'https://a.example' },
  { clientId: 'app' },
];

/** The session revisions in which users can be asked. */
const WITH_QUESTIONS = ['2025-06-18', '2025-11-25'] as const;

const MINUTE = 60_000;

/** The headers of a caller whose token expires after some milliseconds. */
const until = (ms: number) => as({ expiresAt: Date.now() + ms });

/** Short ticks, so that the tests need only move the clock. */
const TICKS = { keepAliveMs: 10 };

overEveryHost('a session with auth', (host) => {
  inEverySessionRevision('is found only by its issuer, subject and client [SESS-10]', async (revision) => {
    const { url } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    const events = await (await client.stream(1, 'steps')).rest();
    for (const other of OTHERS.map(as)) {
      expect((await client.post(client.buildMessage(2, 'tools/list'), other)).status).toBe(404);
      expect((await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, other)).status).toBe(404);
      expect((await client.get(other)).status).toBe(404);
      expect((await client.get({ ...other, 'last-event-id': events[0]?.id as string })).status).toBe(404);
      expect(await client.end(other)).toBe(404);
    }
    expect(await client.status()).toBe(200);
  });

  inEverySessionRevision('is no authentication [SEC-08]', async (revision) => {
    const { url, files } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    const events = await (await client.stream(1, 'steps')).rest();
    const message = client.buildMessage(2, 'tools/call', { name: 'list', arguments: {} });
    const notification = { jsonrpc: '2.0', method: 'notifications/roots/list_changed' };
    const answer = { jsonrpc: '2.0', id: 's1', result: {} };
    // neither the session nor what its client knows is a token
    const claims = [undefined, '', 'Bearer', 'Bearer ', `Bearer ${client.headers['mcp-session-id']}`];
    for (const authorization of claims) {
      for (const body of [message, notification, answer, client.buildMessage(3, 'ping')]) {
        expect([authorization, (await client.post(body, { authorization })).status]).toEqual([authorization, 401]);
      }
    }
    const { authorization: _token, ...headers } = client.headers;
    const accept = 'text/event-stream';
    for (const more of [{}, { 'last-event-id': events[0]?.id as string }]) {
      expect((await fetch(url, { headers: { accept, ...headers, ...more } })).status).toBe(401);
    }
    expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(401);
    expect([await client.status(), files.ran]).toEqual([200, []]);
  });

  it.each(WITH_QUESTIONS)('takes an answer only from the caller who was asked (%s)', async (revision) => {
    const { url } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    const reader = await client.stream(1, 'ask');
    const { message } = await reader.message();
    const answer = { jsonrpc: '2.0', id: message?.id, result: { action: 'accept', content: { name: 'Bob' } } };
    for (const other of OTHERS.map(as)) expect((await client.post(answer, other)).status).toBe(404);
    expect((await client.post({ ...answer, result: { action: 'decline' } })).status).toBe(202);
    expect((await reader.rest()).at(-1)?.message).toMatchObject({ id: 1, result: { content: [{ text: 'decline' }] } });
  });

  it('counts towards the quota of its issuer, subject and client, whose own idlest session ends', async () => {
    const { url } = await serveFiles(host, { limits: { maxSessionsPerPrincipal: 1 } });
    const others = await Promise.all(OTHERS.map((other) => HttpClient.open(url, '2025-11-25', as(other))));
    const first = await HttpClient.open(url, '2025-11-25', ANN);
    const second = await HttpClient.open(url, '2025-11-25', ANN);
    expect(await Promise.all([...others, first, second].map((client) => client.status()))).toEqual([
      200, 200, 200, 404, 200,
    ]);
  });
});

overEveryHost('a stream with auth', (host) => {
  inEverySessionRevision(
    'of a GET ends after the token expires with a retry time, and goes on with a newer one [RESUME-09]',
    async (revision) => {
      const wind = stopClock();
      const { url, server } = await serveFiles(host, TICKS);
      const client = await HttpClient.open(url, revision, until(MINUTE));
      const reader = await client.listen();
      wind(MINUTE - 1);
      expect(await client.status()).toBe(200);
      server.notify.toolsChanged();
      const { id } = await reader.message();
      wind(1);
      expect((await reader.rest()).at(-1)).toEqual({ retry: expect.stringMatching(/^\d+$/) });
      const renewed = new EventReader(await client.get({ ...until(MINUTE), 'last-event-id': String(id) }));
      server.notify.toolsChanged();
      expect((await renewed.message()).message).toMatchObject({ method: 'notifications/tools/list_changed' });
    },
  );

  inEverySessionRevision('of a GET goes on if the session has seen a newer token', async (revision) => {
    const wind = stopClock();
    const { url, server } = await serveFiles(host, TICKS);
    const client = await HttpClient.open(url, revision, until(MINUTE));
    const reader = await client.listen();
    const list = client.buildMessage(1, 'tools/list');
    expect((await client.post(list, until(2 * MINUTE))).status).toBe(200);
    // an older one doesn't shorten it
    expect((await client.post(list)).status).toBe(200);
    wind(MINUTE);
    // the ticks of a call's own stream show that sweeps have run
    const steps = await client.stream(2, 'steps', { headers: until(MINUTE), meta: TOKEN });
    await steps.rest();
    server.notify.toolsChanged();
    expect((await reader.message()).message).toMatchObject({ method: 'notifications/tools/list_changed' });
    wind(MINUTE);
    await reader.rest();
  });

  inEverySessionRevision(
    'that was resumed ends too, but not the one of a call [HTTP-18] [RESUME-09]',
    async (revision) => {
      const wind = stopClock();
      const { url, files } = await serveFiles(host, TICKS);
      const client = await HttpClient.open(url, revision, until(MINUTE));
      const began = once(files, 'began');
      const own = await client.stream(1, 'stream');
      await began;
      const { id } = (await own.message()) as { id: string };
      wind(MINUTE);
      const resumed = new EventReader(await client.get({ 'last-event-id': id }));
      expect((await resumed.rest()).at(-1)).toEqual({ retry: expect.stringMatching(/^\d+$/) });
      // a call keeps its stream
      const again = once(files, 'began');
      const late = await client.stream(2, 'stream');
      await again;
      // the sweep that ends this one has found that one too
      await (await client.listen()).rest();
      files.emit('go');
      expect((await late.rest()).at(-1)?.message).toMatchObject({ id: 2, result: {} });
    },
  );

  inTheStatelessRevision('of subscriptions/listen ends after the token expires', async (revision) => {
    const wind = stopClock();
    const { url } = await serveFiles(host, TICKS);
    const client = await HttpClient.open(url, revision, until(MINUTE));
    const lasting = await HttpClient.open(url, revision, until(2 * MINUTE));
    const listen = async (each: HttpClient) => {
      const reader = new EventReader(
        await each.post(each.buildMessage(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } })),
      );
      await reader.message();
      return reader;
    };
    const [reader, other] = [await listen(client), await listen(lasting)];
    wind(MINUTE);
    expect((await reader.rest()).at(-1)?.message).toMatchObject({ id: 1, result: {} });
    wind(MINUTE);
    expect((await other.rest()).at(-1)?.message).toMatchObject({ id: 1, result: {} });
  });

  inTheFirstRevision('of HTTP+SSE ends with its session after the token expires', async () => {
    const wind = stopClock();
    const { url, files } = await serveFiles(host, { ...TICKS, legacySse: true });
    const sse = new URL('/sse', url).href;
    const client = await SseClient.open(sse, until(MINUTE));
    const kept = await SseClient.open(sse, until(MINUTE));
    expect((await kept.send(call(1, 'list'), until(2 * MINUTE))).status).toBe(202);
    wind(MINUTE);
    await client.reader.rest();
    expect((await client.send(call(2, 'list'), until(MINUTE))).status).toBe(404);
    expect((await kept.send(call(3, 'list'), until(MINUTE))).status).toBe(202);
    expect(files.ran).toEqual(['list', 'list']);
  });

  inEverySessionRevision('of an anonymous caller, or without an expiry, goes on', async (revision) => {
    const wind = stopClock();
    const { url, server } = await serveFiles(host, TICKS);
    const client = await HttpClient.open(url, revision, ANN);
    const reader = await client.listen();
    wind(1000 * MINUTE);
    expect(await client.status()).toBe(200);
    server.notify.toolsChanged();
    expect((await reader.message()).message).toMatchObject({ method: 'notifications/tools/list_changed' });
    await reader.cancel();
  });

  it.each<[string, number]>([
    ['in seconds', 1_900_000_000],
    ['that is not a number', Number.NaN],
  ])('is not opened for an expiry %s, which is a bug', async (_what, expiresAt) => {
    const auth: Auth = { authenticate: () => ({ subject: 'ann', expiresAt }) };
    const { url, errors } = await serveFiles(host, { auth });
    expect((await post(url, initialize('2025-11-25'))).status).toBe(500);
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining('milliseconds') })]);
  });
});

overEveryHost('a state with auth', (host) => {
  inTheStatelessRevision('can only be used by its issuer, subject and client [SEC-09]', async (revision) => {
    const { url } = await serveFiles(host);
    const client = await HttpClient.open(url, revision, ANN);
    const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const { result } = await json(await client.call(1, 'ask', { meta }));
    const { inputRequests, requestState } = result as { inputRequests: JsonObject; requestState: string };
    const [key] = Object.keys(inputRequests);
    const inputResponses = { [key as string]: { action: 'decline' } };
    const params = { name: 'ask', arguments: {}, _meta: meta, inputResponses, requestState };
    for (const other of OTHERS.map(as)) {
      expect(await json(await client.post(client.buildMessage(2, 'tools/call', params), other))).toMatchObject({
        error: { code: -32602 },
      });
    }
    expect(await json(await client.post(client.buildMessage(3, 'tools/call', params)))).toMatchObject({
      result: { content: [{ text: 'decline' }] },
    });
  });

  inEveryRevision('that is a cursor can only be used by its caller', async (revision) => {
    const { url } = await serveFiles(host, {}, undefined, { pageSize: 2 });
    const client = await HttpClient.open(url, revision, ANN);
    const { result } = await json(await client.post(client.buildMessage(1, 'tools/list')));
    const next = { cursor: result?.['nextCursor'] };
    for (const other of OTHERS.map(as)) {
      const theirs = await HttpClient.open(url, revision, other);
      const answer = await theirs.post(theirs.buildMessage(2, 'tools/list', next));
      expect(await json(answer)).toMatchObject({ error: { code: -32602 } });
    }
    expect((await client.post(client.buildMessage(3, 'tools/list', next))).status).toBe(200);
  });
});
