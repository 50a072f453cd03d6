// What one caller may hold: sessions by address and by principal, and bodies that have not arrived.
import { once } from 'node:events';

import { expect, it } from '@jest/globals';

import { type Fields, json, post } from '../../packages/http/test/fixture.js';
import { ADD, HttpClient, initialize, SseClient } from '../support/http-client.js';
import { Connection } from './connection.js';
import {
  connectTo,
  inEverySessionRevision,
  inTheFirstRevision,
  inAnyRevision,
  overEveryHost,
  serveOn,
} from './contract.js';
import type { HostOptions } from './hosts.js';

/** Trusts the caller's claim about its identity. */
const principal: HostOptions['principal'] = (header) => {
  const subject = header('x-user');
  return subject === undefined ? undefined : { subject };
};

const ANN = { 'x-user': 'ann' };
const BOB = { 'x-user': 'bob' };

/** A local proxy that isn't trusted adds this. The address of the client is then unknown. */
const FORWARDED = { 'x-forwarded-for': '192.0.2.7' };

const statuses = async (...clients: HttpClient[]) => {
  const found = [];
  for (const client of clients) found.push(await client.status());
  return found;
};

/** What a client sees that is refused at a quota. */
async function refusal(response: Response) {
  const { error } = await json(response);
  return [response.status, response.headers.get('retry-after'), error?.code];
}

overEveryHost('sessions of one address', (host) => {
  inEverySessionRevision(
    'are capped: the idlest one ends, and if all are connected, the next gets 429',
    async (revision) => {
      const { url } = await serveOn(host, { limits: { maxSessionsPerAddress: 2 } });
      const [first, second] = [await HttpClient.open(url, revision), await HttpClient.open(url, revision)];
      expect(await statuses(second, first)).toEqual([200, 200]);
      const third = await HttpClient.open(url, revision);
      expect(await statuses(first, second, third)).toEqual([200, 404, 200]);
      const streams = [await first.listen(), await third.listen()];
      expect(await refusal(await post(url, initialize(revision)))).toEqual([429, '10', -32600]);
      expect(await statuses(first, third)).toEqual([200, 200]);
      expect(streams.map(({ ended }) => ended)).toEqual([false, false]);
      expect(await third.end()).toBe(204);
      expect(await statuses(await HttpClient.open(url, revision), first)).toEqual([200, 200]);
    },
  );

  inEverySessionRevision('are not counted behind a proxy that is not trusted', async (revision) => {
    const { url } = await serveOn(host, { limits: { maxSessionsPerAddress: 1 } });
    const clients = [];
    for (let n = 0; n < 3; n++) clients.push(await HttpClient.open(url, revision, FORWARDED));
    expect(await statuses(...clients)).toEqual([200, 200, 200]);
  });

  inEverySessionRevision('are only those of anonymous callers', async (revision) => {
    const { url } = await serveOn(host, { limits: { maxSessionsPerAddress: 1 }, principal });
    const clients = [await HttpClient.open(url, revision, ANN), await HttpClient.open(url, revision, BOB)];
    clients.push(await HttpClient.open(url, revision));
    expect(await statuses(...clients)).toEqual([200, 200, 200]);
  });

  inTheFirstRevision('include those of HTTP+SSE', async (revision) => {
    const { url } = await serveOn(host, { limits: { maxSessionsPerAddress: 2 }, legacySse: true });
    const sse = new URL('/sse', url).href;
    const client = await HttpClient.open(url, revision);
    const old = [await SseClient.open(sse), await SseClient.open(sse)];
    expect(await client.status()).toBe(404);
    expect(await refusal(await fetch(sse))).toEqual([429, '10', -32600]);
    expect(await refusal(await post(url, initialize(revision)))).toEqual([429, '10', -32600]);
    for (const each of old) expect(await each.ask({ jsonrpc: '2.0', id: 1, method: 'ping' })).toMatchObject({ id: 1 });
  });
});

overEveryHost('sessions of one principal', (host) => {
  inEverySessionRevision('are capped like those of one address', async (revision) => {
    const { url } = await serveOn(host, { limits: { maxSessionsPerPrincipal: 2 }, principal });
    const bob = await HttpClient.open(url, revision, BOB);
    const [first, second] = [await HttpClient.open(url, revision, ANN), await HttpClient.open(url, revision, ANN)];
    expect(await statuses(second, first)).toEqual([200, 200]);
    const third = await HttpClient.open(url, revision, ANN);
    expect(await statuses(bob, first, second, third)).toEqual([200, 200, 404, 200]);
    for (const client of [first, third]) await client.listen();
    expect(await refusal(await post(url, initialize(revision), ANN))).toEqual([429, '10', -32600]);
    expect(await statuses(first, bob, await HttpClient.open(url, revision, BOB))).toEqual([200, 200, 200]);
  });
});

overEveryHost('anonymous callers', (host) => {
  inEverySessionRevision('never displace a principal: their sessions end first', async (revision) => {
    const { url } = await serveOn(host, { limits: { maxSessions: 2 }, principal });
    const ann = await HttpClient.open(url, revision, ANN);
    const anonymous = [await HttpClient.open(url, revision), await HttpClient.open(url, revision)] as const;
    expect(await statuses(ann, ...anonymous)).toEqual([200, 404, 200]);
    await anonymous[1].listen();
    expect(await refusal(await post(url, initialize(revision)))).toEqual([503, '10', -32600]);
    expect(await statuses(ann, anonymous[1])).toEqual([200, 200]);
  });

  inEverySessionRevision('make room for a principal even if they are connected', async (revision) => {
    const { client, url } = await connectTo(host, revision, { limits: { maxSessions: 2 }, principal });
    const ann = await HttpClient.open(url, revision, ANN);
    const stream = await client.listen();
    const bob = await HttpClient.open(url, revision, BOB);
    await stream.rest();
    expect([stream.ended, ...(await statuses(client, ann, bob))]).toEqual([true, 404, 200, 200]);
    // without anonymous callers, the principal that is idle for longest makes room
    expect(await statuses(await HttpClient.open(url, revision, { 'x-user': 'eve' }), ann, bob)).toEqual([
      200, 404, 200,
    ]);
  });
});

overEveryHost('a session whose client is gone', (host) => {
  inEverySessionRevision('can be evicted although its call is still running', async (revision) => {
    const { client, url, probe } = await connectTo(host, revision, { limits: { maxSessions: 2 } });
    const staying = await HttpClient.open(url, revision);
    await staying.listen();
    for (const name of ['wait', 'stream']) {
      const leaving = name === 'wait' ? client : await HttpClient.open(url, revision);
      const connection = await Connection.open(url);
      const began = once(probe, 'began');
      connection.post(
        leaving.buildMessage(name, 'tools/call', { name, arguments: {}, _meta: { progressToken: 1 } }),
        leaving.headers,
      );
      await began;
      if (name === 'stream') await connection.until(/progress/);
      // while its client waits, it can't be evicted
      expect((await post(url, initialize(revision))).status).toBe(503);
      const aborted = once(probe, 'aborted');
      connection.leave();
      // the server has noticed it when these are answered
      for (let n = 0; n < 3; n++) expect(await staying.status()).toBe(200);
      const next = await HttpClient.open(url, revision);
      await aborted;
      expect(await statuses(leaving, next, staying)).toEqual([404, 200, 200]);
      await next.end();
    }
  });
});

const CHUNKED = { 'content-type': 'application/json' };

/** A chunk of a body. */
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const LAST = '0\r\n\r\n';

overEveryHost('unfinished bodies', (host) => {
  const PING = JSON.stringify({ jsonrpc: '2.0', id: 'late', method: 'ping' });
  const REFUSED = (status: number) =>
    new RegExp(`^HTTP/1\\.1 ${status} [^]*\\r\\nretry-after: 10\\r\\n[^]*"code":-32600`, 'i');

  const caps: [limit: string, headers: Fields, status: number][] = [
    ['maxUnfinishedBytesPerAddress', {}, 429],
    ['maxUnfinishedBytes', FORWARDED, 503],
  ];
  for (const [limit, headers, status] of caps)
    inAnyRevision(`together may hold ${limit}, and the one that exceeds it is rejected`, async () => {
      const { client, url } = await connectTo(host, '2025-11-25', { limits: { bodyLimit: 1000, [limit]: 1000 } });
      const send = async (text: string) => {
        const connection = await Connection.open(url);
        connection.head('POST', { ...CHUNKED, ...headers, ...client.headers });
        connection.socket.write(chunk(text));
        // what was sent has arrived when this is answered
        expect(await client.status()).toBe(200);
        return connection;
      };
      const held = await send(PING + ' '.repeat(600 - PING.length));
      const next = await send('x'.repeat(400));
      expect([held.text, next.text]).toEqual(['', '']);
      next.socket.write(chunk('x'));
      expect(await next.closed()).toMatch(REFUSED(status));
      // complete messages are served meanwhile
      expect((await client.call(1, 'add', { args: ADD })).status).toBe(200);
      // the rejected body no longer counts
      const last = await send('x'.repeat(400));
      expect(last.text).toBe('');
      held.socket.write(LAST);
      expect(await held.until(/"result"/)).toMatch(/^HTTP\/1\.1 200 [^]*"id":"late"/);
      last.leave();
    });

  it('are not counted by address behind a proxy that is not trusted', async () => {
    const { client, url } = await connectTo(host, '2025-11-25', {
      limits: { bodyLimit: 1000, maxUnfinishedBytesPerAddress: 1000, maxUnfinishedBytes: 10_000 },
    });
    const connections = [];
    for (let n = 0; n < 5; n++) {
      const connection = await Connection.open(url);
      connection.head('POST', { ...CHUNKED, ...FORWARDED });
      connection.socket.write(chunk('x'.repeat(900)));
      connections.push(connection);
    }
    expect(await client.status()).toBe(200);
    expect(connections.map(({ text }) => text)).toEqual(Array(5).fill(''));
    for (const connection of connections) connection.leave();
  });
});
