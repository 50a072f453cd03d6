// The life of an endpoint as its `auth` sees it: how it opens and closes, and how it ends what a revoked caller has open.
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import { type Auth, type AuthEndpoint, type Denial, listen, mcp } from '@decorum/http';
import { nodeHandler } from '@decorum/http/node';
import fastify from 'fastify';

import { Connection } from '../../packages/http/test/connection.js';
import { EventReader } from '../../packages/http/test/events.js';
import { afterwards, createServer, Probe } from '../../packages/http/test/fixture.js';
import { ADD, call } from '../../packages/http/test/messages.js';
import { HttpClient, SseClient } from '../support/http-client.js';
import { as, AUTH, type Files, PublicFiles, serveFiles } from './auth-fixture.js';
import {
  inAnyRevision,
  inEveryRevision,
  inEverySessionRevision,
  inTheFirstRevision,
  inTheStatelessRevision,
  overEveryBinding,
} from './contract.js';
import type { HostOptions, HttpHost } from './hosts.js';

const grant = (id: string) => as({ claims: { grant_id: id } });
const [REVOKED, KEPT] = [grant('revoked'), grant('kept')];

async function served(host: HttpHost, options: HostOptions = {}, more: Partial<Auth & { files: Files }> = {}) {
  const { files, ...own } = more;
  const endpoints: AuthEndpoint[] = [];
  let asked = () => {};
  const auth: Auth = {
    ...AUTH,
    ...own,
    async authenticate(head, request) {
      const found = await AUTH.authenticate(head, request);
      asked();
      return found;
    },
    opened: (_warn, _path, endpoint) => void (endpoint && endpoints.push(endpoint)),
  };
  /** Resolves once the next request is authenticated. */
  const authenticated = async () => {
    await new Promise<void>((resolve) => (asked = resolve));
    await turn();
  };
  const revoke = () => endpoints.forEach((each) => each.revoke(({ claims }) => claims?.['grant_id'] === 'revoked'));
  return { ...(await serveFiles(host, { auth, ...options }, files)), revoke, authenticated };
}

overEveryBinding('a revoked caller', (host) => {
  inEveryRevision('loses its calls in flight, and other callers do not', async (revision) => {
    const { url, files, revoke } = await served(host);
    const begin = async <T>(sent: Promise<T>): Promise<T> => (await once(files, 'began'), await sent);
    const client = await HttpClient.open(url, revision, REVOKED);
    const other = await HttpClient.open(url, revision, KEPT);
    const began = once(files, 'began');
    const waiting = client.call(1, 'wait');
    await began;
    const [stream, kept] = [await begin(client.stream(2, 'stream')), await begin(other.stream(3, 'stream'))];
    await stream.message();
    revoke();
    const refused = await waiting;
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer scope="mcp"']);
    expect((await refused.json()) as object).toMatchObject({
      id: 1,
      error: { message: 'The credentials have been revoked.' },
    });
    expect((await stream.rest()).at(-1)?.message).toMatchObject({ id: 2, error: { code: -32600 } });
    expect(files.aborted).toBeGreaterThan(0);
    files.emit('go');
    expect((await kept.rest()).at(-1)?.message).toMatchObject({ id: 3, result: {} });
  });

  inEverySessionRevision('loses the streams that it reads, but not its session', async (revision) => {
    for (const events of [undefined, false] as const) {
      const { url, server, revoke } = await served(host, { ...(events === false && { events }) });
      const client = await HttpClient.open(url, revision, REVOKED);
      const reader = await client.listen();
      const kept = new EventReader(await client.get(KEPT));
      revoke();
      await reader.rest();
      server.notify.toolsChanged();
      expect((await kept.message()).message).toMatchObject({ method: 'notifications/tools/list_changed' });
      await kept.cancel();
    }
  });

  inEverySessionRevision("loses another caller's stream that it has resumed, but not the call", async (revision) => {
    const { url, files, revoke } = await served(host);
    const client = await HttpClient.open(url, revision, KEPT);
    const began = once(files, 'began');
    const own = await client.stream(1, 'stream');
    await began;
    const { id } = await own.message();
    const resumed = new EventReader(await client.get({ ...REVOKED, 'last-event-id': String(id) }));
    revoke();
    await resumed.rest();
    expect((await client.get({ ...REVOKED, 'last-event-id': String(id) })).status).toBe(401);
    const again = new EventReader(await client.get({ 'last-event-id': String(id) }));
    files.emit('go');
    expect((await again.rest()).at(-1)?.message).toMatchObject({ id: 1, result: {} });
  });

  inEverySessionRevision('is never an anonymous one', async (revision) => {
    const { url, server, revoke } = await served(host, {}, { files: new PublicFiles() });
    const reader = await (await HttpClient.open(url, revision)).listen();
    revoke();
    server.notify.toolsChanged();
    expect((await reader.message()).message).toMatchObject({ method: 'notifications/tools/list_changed' });
  });

  inTheStatelessRevision('loses its subscriptions', async (revision) => {
    const { url, revoke } = await served(host);
    const client = await HttpClient.open(url, revision, REVOKED);
    const notifications = { toolsListChanged: true };
    const sent = client.post(client.buildMessage(1, 'subscriptions/listen', { notifications }));
    const reader = new EventReader(await sent);
    await reader.message();
    revoke();
    expect((await reader.rest()).at(-1)?.message).toMatchObject({ id: 1, error: { code: -32600 } });
  });

  inTheFirstRevision('loses its HTTP+SSE session', async () => {
    const { url, revoke } = await served(host, { legacySse: true });
    const client = await SseClient.open(new URL('/sse', url).href, REVOKED);
    const kept = await SseClient.open(new URL('/sse', url).href, KEPT);
    revoke();
    await client.reader.rest();
    expect((await kept.send(call(1, 'list'), KEPT)).status).toBe(202);
  });

  inAnyRevision('is refused if its body arrives after that', async () => {
    const denials: Denial[] = [];
    const challenge = (denial: Denial) => (denials.push(denial), { status: 401, headers: {} });
    const { url, revoke, authenticated } = await served(host, {}, { challenge });
    const [message, headers] = ADD;
    const { headers: session } = await HttpClient.open(url, '2025-11-25', REVOKED);
    for (const [sent, from, status] of [
      [message, { ...headers, ...REVOKED }, 401],
      [message, { ...headers, ...KEPT }, 200],
      [call(1, 'list'), session, 401],
    ] as const) {
      const body = JSON.stringify(sent);
      const connection = await Connection.open(url);
      const typed = { ...from, 'content-type': 'application/json', connection: 'close' };
      const admitted = authenticated();
      connection.head('POST', typed, body.length, body.slice(0, 9));
      await admitted;
      revoke();
      connection.socket.write(body.slice(9));
      await once(connection.socket, 'close');
      expect(connection.text).toContain(` ${status} `);
    }
    expect(denials.map(({ reason, inSession }) => [reason, inSession])).toEqual([
      ['unauthorized', false],
      ['unauthorized', true],
    ]);
  });
});

/** An `auth` that notes how its endpoints open and close. */
function createAuth({ opens = async () => {}, closes = async () => {} } = {}) {
  const events: unknown[] = [];
  const auth: Auth = {
    ...AUTH,
    async opened(_warn, path, endpoint) {
      events.push(['opened', path, endpoint]);
      await opens();
    },
    async closed(endpoint) {
      await closes();
      events.push(['closed', endpoint]);
    },
  };
  return { auth, events };
}

/** Opens an endpoint, and returns what closes it. */
type Door = (options: {
  readonly auth: Auth;
  readonly server: ReturnType<typeof createServer>['server'];
}) => Promise<() => Promise<unknown>>;

const DOORS: readonly (readonly [name: string, door: Door])[] = [
  ['listen', async ({ server, auth }) => (await listen(server, { port: 0, auth })).close],
  [
    'nodeHandler',
    async ({ server, auth }) => {
      const handler = nodeHandler(server, { auth, path: '/mcp' });
      await handler.ready;
      return async () => await handler.close();
    },
  ],
  [
    'Fastify',
    async ({ server, auth }) => {
      const app = fastify();
      afterwards(async () => await app.close());
      await app.register(mcp, { server, auth });
      await app.ready();
      return async () => await app.close();
    },
  ],
];

describe.each(DOORS)('an endpoint of %s', (_name, door) => {
  const endpoint = { revoke: expect.any(Function) };
  const OPENED = ['opened', '/mcp', endpoint];
  const CLOSED = ['closed', endpoint];

  it('waits for `opened` and `closed`, and tells each once', async () => {
    const { auth, events } = createAuth({ opens: turn, closes: turn });
    const { server } = createServer(new Probe());
    const close = await door({ server, auth });
    expect(events).toEqual([OPENED]);
    await Promise.all([close(), close()]);
    await server.close();
    expect(events).toEqual([OPENED, CLOSED]);
    expect((events as unknown[][])[1]?.[1]).toBe((events as unknown[][])[0]?.[2]);
  });

  it('tells `closed` if the server closes', async () => {
    const { auth, events } = createAuth();
    const { server } = createServer(new Probe());
    await door({ server, auth });
    await server.close();
    expect(events).toEqual([OPENED, CLOSED]);
  });

  it('fails with `opened`, and reports what `closed` throws', async () => {
    const fails = async (): Promise<void> => await Promise.reject(new Error('no lock'));
    const { server, errors } = createServer(new Probe());
    await expect(door({ server, auth: createAuth({ opens: fails }).auth })).rejects.toThrow('no lock');
    errors.length = 0;
    const close = await door({ server, auth: createAuth({ closes: fails }).auth });
    await close();
    expect(errors).toMatchObject([{ message: 'no lock' }]);
  });

  it('tells `closed` if the server does not start', async () => {
    const { auth, events } = createAuth();
    class Broken extends Probe {
      onStart(): void {
        throw new Error('no disk');
      }
    }
    await expect(door({ server: createServer(new Broken()).server, auth })).rejects.toThrow('no disk');
    expect(events).toEqual([OPENED, CLOSED]);
  });
});
