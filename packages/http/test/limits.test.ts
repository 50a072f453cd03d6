import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { listen, type ListenLimits, type ListenOptions, mcp } from '@decorum/http';
import { nodeHandler } from '@decorum/http/node';
import fastify from 'fastify';

import { EventReader, getStream } from './events.js';
import {
  serve,
  afterwards,
  whenBegun,
  call,
  createServer,
  INITIALIZE,
  openSession,
  post,
  Probe,
  request,
} from './fixture.js';

const ACCEPT = { accept: 'text/event-stream' };
const TYPE = { 'content-type': 'application/json' };

const serveLimited = async (limits: ListenLimits, options: ListenOptions = {}) => await serve({ limits, ...options });

/** A ping whose body has this many bytes. */
const pingOf = (bytes: number) => {
  const ping = JSON.stringify(request(1, 'ping'));
  return ping + ' '.repeat(bytes - ping.length);
};

const CLIENT = { remoteAddress: '127.0.0.1' };

describe('a limit of an endpoint', () => {
  it.each([
    ['1 MiB by default', {}, 1_048_576],
    ['`bodyLimit`', { bodyLimit: 1000 }, 1000],
  ])('is reported for a body larger than %s, and not for the largest', async (_name, limits, max) => {
    const { url, hits } = await serveLimited(limits);
    const session = await openSession(url);
    expect((await post(url, pingOf(max), session)).status).toBe(200);
    expect(hits).toEqual([]);
    expect((await post(url, pingOf(max + 1), session)).status).toBe(413);
    expect(hits).toEqual([{ limit: 'bodyLimit', ...CLIENT }]);
  });

  it('is reported for a message with too many values, with the caller', async () => {
    const alice = { subject: 'alice' };
    const { url, hits } = await serveLimited({}, { auth: { authenticate: () => alice } });
    const session = await openSession(url);
    const response = await post(url, call(1, 'add', { list: Array.from({ length: 100_000 }, () => 0) }), session);
    expect(response.status).toBe(400);
    expect(hits).toEqual([{ limit: 'maxValues', ...CLIENT, principal: alice }]);
  });

  it('is reported for a body that does not arrive in time', async () => {
    const { port, hits } = await serveLimited({ bodyTimeoutMs: 20 });
    const socket = connect(port, '127.0.0.1');
    afterwards(() => socket.destroy());
    const host = `host: 127.0.0.1:${port}`;
    socket.write(`POST /mcp HTTP/1.1\r\n${host}\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{`);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 408 [^]*\r\nconnection: close\r\n/i);
    expect(hits).toEqual([{ limit: 'bodyTimeoutMs', ...CLIENT }]);
  });

  it('is reported for a request whose headers do not arrive in time', async () => {
    const { port, hits } = await serveLimited({ requestTimeoutMs: 20 });
    const socket = connect(port, '127.0.0.1');
    afterwards(() => socket.destroy());
    // on a busy machine, the time may be over before the first byte
    socket.on('error', () => {}).resume();
    socket.write('POST /mcp HTTP/1.1\r\n');
    await once(socket, 'close');
    expect(hits).toEqual([{ limit: 'requestTimeoutMs', ...CLIENT }]);
  });

  it('is reported for a connection that sends nothing, which gets no answer', async () => {
    const { port, hits } = await serveLimited({ requestTimeoutMs: 20 });
    const socket = connect(port, '127.0.0.1');
    afterwards(() => socket.destroy());
    let text = '';
    socket.on('error', () => {}).on('data', (chunk: Buffer) => void (text += String(chunk)));
    await once(socket, 'close');
    expect([text, hits]).toEqual(['', [{ limit: 'requestTimeoutMs', ...CLIENT }]]);
  });

  it('is reported for a connection too many from an address, which is closed', async () => {
    const { port, hits } = await serveLimited({ maxConnectionsPerAddress: 2 });
    const host = `host: 127.0.0.1:${port}`;
    const open = (localAddress: string) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      afterwards(() => socket.destroy());
      return socket.on('error', () => {});
    };
    const isServed = async (socket: Socket) => {
      socket.write(`OPTIONS /mcp HTTP/1.1\r\n${host}\r\n\r\n`);
      const served = once(socket, 'data').then(() => true);
      return await Promise.race([served, once(socket, 'close').then(() => false)]);
    };
    const [first, second] = [open('127.0.0.1'), open('127.0.0.1')];
    expect([await isServed(first), await isServed(second)]).toEqual([true, true]);
    expect([await isServed(open('127.0.0.1')), await isServed(open('127.0.0.2'))]).toEqual([false, true]);
    expect(hits).toEqual([{ limit: 'maxConnectionsPerAddress', ...CLIENT }]);
    first.destroy();
    while (!(await isServed(open('127.0.0.1'))));
    expect(await isServed(second)).toBe(true);
  });

  it('is reported when a session is evicted, and when none can be', async () => {
    const { url, hits, probe } = await serveLimited({ maxSessions: 1 });
    await openSession(url);
    expect(hits).toEqual([]);
    const session = await openSession(url);
    expect(hits.map(({ limit }) => limit)).toEqual(['maxSessions']);
    const [pending] = await whenBegun(probe, post(url, call(1, 'wait'), session));
    const refused = await post(url, INITIALIZE);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
    expect(hits.at(-1)).toEqual({ limit: 'maxSessions', ...CLIENT });
    probe.emit('go');
    expect((await pending).status).toBe(200);
    // idle again as soon as its call is answered
    expect((await post(url, INITIALIZE)).status).toBe(200);
  });

  it('is reported when a session is evicted whose client is told to come back later', async () => {
    const { url, hits, probe } = await serveLimited({ maxSessions: 1 });
    const session = await openSession(url);
    const began = once(probe, 'began');
    const aborted = once(probe, 'aborted');
    const polling = post(url, call(1, 'poll'), session);
    await began;
    // the stream ends, but not its connection
    await (await polling).text();
    expect((await post(url, INITIALIZE)).status).toBe(200);
    await aborted;
    expect(hits).toEqual([{ limit: 'maxSessions', ...CLIENT }]);
  });

  it('is reported for one session too many of an address, and of a principal', async () => {
    const principal: ListenOptions['principal'] = ({ headers }) =>
      typeof headers['x-user'] === 'string' ? { subject: headers['x-user'] } : undefined;
    const { url, hits } = await serveLimited({ maxSessionsPerAddress: 1, maxSessionsPerPrincipal: 1 }, { principal });
    const ann = { 'x-user': 'ann' };
    const sessions = [await openSession(url), await openSession(url, ann)];
    expect(hits).toEqual([]);
    for (const session of sessions) await getStream(url, session);
    for (const headers of [{}, ann]) expect((await post(url, INITIALIZE, headers)).status).toBe(429);
    expect(hits).toEqual([
      { limit: 'maxSessionsPerAddress', ...CLIENT },
      { limit: 'maxSessionsPerPrincipal', ...CLIENT, principal: { subject: 'ann' } },
    ]);
  });

  it.each([
    ['maxUnfinishedBytes', 503],
    ['maxUnfinishedBytesPerAddress', 429],
  ])('is reported for unfinished bodies: %s', async (limit, status) => {
    const { port, hits } = await serveLimited({ bodyLimit: 1000, [limit]: 1000 });
    const head = `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n`;
    const [held, next] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    afterwards(() => [held, next].map((socket) => socket.destroy()));
    for (const socket of [held, next]) socket.write(`${head}content-length: 1000\r\n\r\n${' '.repeat(501)}`);
    const [answer] = (await Promise.race([once(held, 'data'), once(next, 'data')])) as [Buffer];
    expect(String(answer)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*\r\nretry-after: 10\r\n`, 'i'));
    expect(hits).toEqual([{ limit, ...CLIENT }]);
  });

  it('is reported for one stream too many, and the client is told when to try again', async () => {
    const { url, hits } = await serveLimited({ maxStreams: 2 });
    const session = await openSession(url);
    await getStream(url, session);
    await getStream(url, session);
    expect(hits).toEqual([]);
    const refused = await fetch(url, { headers: { ...session, ...ACCEPT } });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    expect(hits).toEqual([{ limit: 'maxStreams', ...CLIENT }]);
  });

  it('is reported for a reader that is too slow, but not for every message that it misses', async () => {
    const { url, hits, probe } = await serveLimited({ maxBufferedBytes: 100_000 });
    const session = await openSession(url);
    const flooded = once(probe, 'flooded');
    const headers = { ...session, ...TYPE, accept: 'application/json, text/event-stream' };
    const body = JSON.stringify(call(1, 'flood', { count: 3000 }, { progressToken: 1 }));
    const response = await fetch(url, { method: 'POST', headers, body });
    await flooded;
    expect(hits[0]).toEqual({ limit: 'maxBufferedBytes' });
    const messages = await new EventReader(response).rest();
    expect(hits.length).toBeLessThan(3000 - messages.length);
  });

  it('is reported by other hosts too', async () => {
    const { server, hits } = createServer(new Probe());
    const app = fastify();
    await app.register(mcp, { server, limits: { bodyLimit: 10 } });
    const answer = await app.inject({ method: 'POST', url: '/mcp', headers: TYPE, payload: '{}'.padEnd(11) });
    expect([answer.statusCode, hits]).toEqual([413, [{ limit: 'bodyLimit', ...CLIENT }]]);
    const handler = nodeHandler(server, { limits: { bodyLimit: 10 } });
    afterwards(() => Promise.all([app.close(), handler.close(), server.close()]));
    await handler.ready;
    const other = fastify();
    afterwards(() => other.close());
    other.removeAllContentTypeParsers();
    other.addContentTypeParser('*', (_request, _payload, done) => done(null));
    other.post('/mcp', (incoming, reply) => handler(incoming.raw, reply.hijack().raw));
    const url = await other.listen({ port: 0 });
    expect((await fetch(`${url}/mcp`, { method: 'POST', headers: TYPE, body: '{}'.padEnd(11) })).status).toBe(413);
    expect(hits.map(({ limit }) => limit)).toEqual(['bodyLimit', 'bodyLimit']);
  });
});

describe('an invalid limit', () => {
  const { server } = createServer(new Probe());

  it.each([
    [{ maxSession: 5 }, 'listen.limits: `maxSession` is not an option. Write `maxSessions`.'],
    [{ maxSessions: 0 }, 'listen.limits: `maxSessions` is 0, but must be a whole number from 1 to 10000000.'],
    [{ bodyLimit: 1.5 }, 'listen.limits: `bodyLimit` is 1.5, but must be'],
    [{ bodyTimeoutMs: 2 ** 31 }, 'listen.limits: `bodyTimeoutMs` is 2147483648, but must be'],
    [{ requestTimeoutMs: Number.NaN }, 'listen.limits: `requestTimeoutMs` is NaN, but must be'],
    [
      { maxUnfinishedBytes: 1000 },
      'limits: `maxUnfinishedBytes` is 1000, but must be at least `bodyLimit`, which is 1048576',
    ],
    [
      { bodyLimit: 9, maxUnfinishedBytesPerAddress: 8 },
      'limits: `maxUnfinishedBytesPerAddress` is 8, but must be at least',
    ],
    [{ maxStreams: '8' }, 'listen.limits: `maxStreams` is "8", but must be'],
    [5, 'listen: `limits` is 5, but must be an object.'],
  ])('fails at startup: %j', async (limits, problem) => {
    await expect(listen(server, { port: 0, limits: limits as ListenLimits })).rejects.toThrow(problem);
  });

  it('fails at startup outside of `limits`, and in handlers that do not have it', async () => {
    await expect(listen(server, { bodyLimit: 5 } as ListenOptions)).rejects.toThrow(
      'listen: `bodyLimit` is not an option. Write `limits: { bodyLimit }`.',
    );
    expect(() => nodeHandler(server, { limits: { requestTimeoutMs: 5 } as ListenLimits })).toThrow(
      'nodeHandler.limits: `requestTimeoutMs` is not an option.',
    );
  });
});
