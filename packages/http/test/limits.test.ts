// What an endpoint takes, keeps and sends, at each limit and one beyond, and what it reports.
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import type { ReachedLimit } from '@decorum/core';
import type { Frame } from '@decorum/core/transport';
import { type EndpointLimits, listen, type ListenLimits, type ListenOptions } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';

import type { Sink } from '../src/endpoint/http-context.js';
import { type Reader, SlowReaders } from '../src/endpoint/slow-readers.js';
import { EndingSinks } from '../src/streams/stream-parts.js';
import { EventStream } from '../src/streams/stream.js';
import { afterwards, createServer, Probe, serve, whenBegun } from './fixture.js';
import { ADD, call, INITIALIZED, json, modern, modernCall, modernHeaders, request, SUM, WAIT } from './messages.js';
import { openSession, post, posted, statusOf } from './sending.js';
import { open, start, untilSlow } from './paused.js';

const MIB = 1_048_576;
const CLIENT = { remoteAddress: '127.0.0.1' };

describe('a limit of an endpoint', () => {
  it.each([
    ['1 MiB by default', {}, MIB],
    ['`bodyLimit`', { bodyLimit: 1000 }, 1000],
  ])('is reported for a body larger than %s, and not for the largest', async (_name, limits, max) => {
    const { url, hits } = await serve({ limits });
    const session = await openSession(url);
    const ping = JSON.stringify(request(1, 'ping'));
    expect([await statusOf(url, session, ping.padEnd(max)), hits]).toEqual([200, []]);
    expect(await statusOf(url, session, ping.padEnd(max + 1))).toBe(413);
    expect(hits).toEqual([{ limit: 'bodyLimit', ...CLIENT }]);
  });

  it('is reported for a message with too many values, with the caller', async () => {
    const alice = { subject: 'alice' };
    const { url, hits } = await serve({ auth: { authenticate: () => alice } });
    const large = call(1, 'add', { list: Array.from({ length: 100_000 }, () => 0) });
    expect(await statusOf(url, await openSession(url), large)).toBe(400);
    expect(hits).toEqual([{ limit: 'maxValues', ...CLIENT, principal: alice }]);
  });

  it.each([
    ['request whose headers do not arrive in time', 'POST /mcp HTTP/1.1\r\n'],
    ['connection that sends nothing, which gets no answer', ''],
  ])('is reported for a %s', async (_what, head) => {
    const { port, hits } = await serve({ limits: { requestTimeoutMs: 20 } });
    const socket = connect(port, '127.0.0.1');
    afterwards(() => socket.destroy());
    let text = '';
    // on a busy machine, the time may be over before the first byte
    socket.on('error', () => {}).on('data', (chunk: Buffer) => void (text += String(chunk)));
    if (head !== '') socket.write(head);
    await once(socket, 'close');
    expect(hits).toEqual([{ limit: 'requestTimeoutMs', ...CLIENT }]);
    expect(text).toMatch(head === '' ? /^$/ : /^(?:HTTP\/1\.1 408|$)/);
  });

  it('is reported for a connection too many from an address, which is closed', async () => {
    const { port, hits } = await serve({ limits: { maxConnectionsPerAddress: 2 } });
    const connectFrom = (localAddress: string) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      afterwards(() => socket.destroy());
      return socket.on('error', () => {});
    };
    const isServed = async (socket: Socket) => {
      socket.write(`OPTIONS /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
      const served = once(socket, 'data').then(() => true);
      return await Promise.race([served, once(socket, 'close').then(() => false)]);
    };
    const [first, second] = [connectFrom('127.0.0.1'), connectFrom('127.0.0.1')];
    expect([await isServed(first), await isServed(second)]).toEqual([true, true]);
    expect([await isServed(connectFrom('127.0.0.1')), await isServed(connectFrom('127.0.0.2'))]).toEqual([false, true]);
    expect(hits).toEqual([{ limit: 'maxConnectionsPerAddress', ...CLIENT }]);
    first.destroy();
    while (!(await isServed(connectFrom('127.0.0.1'))));
    expect(await isServed(second)).toBe(true);
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
    [{ maxUnfinishedBytes: 1000 }, '`maxUnfinishedBytes` is 1000, but must be at least `bodyLimit`, which is 1048576'],
    [{ bodyLimit: 9, maxUnfinishedBytesPerAddress: 8 }, '`maxUnfinishedBytesPerAddress` is 8, but must be at least'],
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

/** What a client sees of a message: the status, and of an error its id, code and message. */
async function answerTo(url: string, message: unknown, headers: Record<string, string>) {
  const response = await post(url, message, headers);
  const { id, error } = await json(response);
  return error === undefined ? response.status : [response.status, id, error.code, error.message];
}

/** A call with so many names, values and items in all. */
const callOf = (values: number, id = 1) =>
  // jsonrpc, id, method, params, name, arguments, list
  call(id, 'count', { list: Array.from({ length: values - 14 }, () => 0) });

/** A call with so many levels. */
const deepCall = (levels: number) => {
  let value: unknown[] = [];
  // message, params, arguments, value
  for (let level = 4; level < levels; level += 1) value = [value];
  return call(1, 'count', { value });
};

/** A call with so many different names. */
const namedCall = (names: number) =>
  call(1, 'count', {
    value: Object.fromEntries(Array.from({ length: names }, (_, name) => [`name ${name}`, '.'.repeat(10)])),
  });

const pings = (length: number) => Array.from({ length }, (_, id) => request(id, 'ping'));

const tooManyValues = (max: number, names: number) => [
  400,
  undefined,
  -32600,
  `The body has more than ${max} values or ${names} different names.`,
];
const tooDeep = (max: number) => [400, 1, -32600, `The message is nested more than ${max} levels deep.`];
const tooMany = (max: number) => [400, null, -32600, `A batch can contain at most ${max} messages.`];

describe('a POST', () => {
  type Case = [what: string, limit: string, max: number | undefined, fits: unknown, exceeds: unknown, refusal: unknown];
  const batchOf = (second: number) => [callOf(99, 1), callOf(second, 2)];
  const cases: Case[] = [
    ['100,000 values by default', 'maxValues', undefined, callOf(1e5), callOf(1e5 + 1), tooManyValues(1e5, 12_500)],
    ['`maxValues` names, values and items', 'maxValues', 200, callOf(200), callOf(201), tooManyValues(200, 1000)],
    ['an eighth as many names', 'maxValues', 1e5, namedCall(12_000), namedCall(15_000), tooManyValues(1e5, 12_500)],
    ['`maxValues` in a batch, with items', 'maxValues', 200, batchOf(99), batchOf(100), tooManyValues(200, 1000)],
    ['64 levels by default', 'maxDepth', undefined, deepCall(64), deepCall(65), tooDeep(64)],
    ['`maxDepth` levels', 'maxDepth', 10, deepCall(10), deepCall(11), tooDeep(10)],
    ['100 messages by default', 'maxBatch', undefined, pings(100), pings(101), tooMany(100)],
    ['`maxBatch` messages', 'maxBatch', 3, pings(3), pings(4), tooMany(3)],
  ];

  it.each(cases)('has at most %s', async (_what, limit, max, fits, exceeds, refusal) => {
    const { url, hits, server } = await serve({}, { limits: max === undefined ? {} : { [limit]: max } });
    server.addTool({ name: 'count', input: { type: 'object' } }, (given: object) => Object.keys(given).length);
    const session = await openSession(url, {}, '2025-03-26');
    const answer = await post(url, fits, session);
    const expected = Array.isArray(fits) ? fits.map(({ id }) => ({ id, result: {} })) : { result: {} };
    expect([answer.status, await answer.json(), hits]).toMatchObject([200, expected, []]);
    expect(await answerTo(url, exceeds, session)).toEqual(refusal);
    expect(hits).toMatchObject([{ limit }]);
  });

  it('that is stateless does not count towards `maxOpenCalls`', async () => {
    const { url, hits, probe } = await serve({}, { limits: { maxOpenCalls: 1 } });
    const waiting = [];
    for (let n = 0; n < 3; n += 1) waiting.push(...(await whenBegun(probe, answerTo(url, ...WAIT))));
    probe.emit('go');
    expect([await Promise.all(waiting), hits]).toEqual([[200, 200, 200], []]);
  });
});

/** A stream with a slow reader that has not taken some bytes. */
function createSlow(backlog: number, limits: { maxBufferedBytes: number; maxTotalBufferedBytes?: number }) {
  const { maxBufferedBytes, maxTotalBufferedBytes = MIB } = limits;
  const hits: string[] = [];
  const written: string[] = [];
  const hit = ({ limit }: ReachedLimit) => void hits.push(limit);
  const readers = new SlowReaders({ maxTotalBufferedBytes, readerTimeoutMs: 1000 }, hit);
  const stream = new EventStream({ open: new Set(), ending: new EndingSinks(), maxBufferedBytes, readers, hit });
  const sink: Sink & { slow: boolean } = {
    closed: false,
    backlog,
    left: 1,
    slow: true,
    own() {},
    start() {},
    write: (text) => written.push(text) > 0,
    end() {},
    destroy() {},
  };
  stream.attach(sink);
  readers.note(sink);
  /** Lets the reader catch up. Returns the texts that it gets. */
  const catchUp = () => {
    sink.slow = false;
    stream.drained(sink);
    sink.slow = true;
    return Array.from(
      written
        .splice(0)
        .join('')
        .matchAll(/data: (.*)/g),
      ([, text]) => text,
    );
  };
  return { stream, hits, catchUp };
}

const frame = (kind: Frame['kind'], text: string): Frame => ({ kind, text });

describe('a stream with a slow reader', () => {
  it.each(['progress', 'log'] as const)('takes %s until more than `maxBufferedBytes` wait', (kind) => {
    for (const [backlog, expected] of [
      [1000, ['a']],
      [1001, []],
    ] as const) {
      const { stream, hits, catchUp } = createSlow(backlog, { maxBufferedBytes: 1000 });
      stream.send(frame(kind, 'a'));
      expect(hits).toEqual(expected.length === 0 ? ['maxBufferedBytes'] : []);
      expect(catchUp()).toEqual(expected);
    }
  });

  it('counts what waits outside of the connection, in this tick and from earlier ones', () => {
    const { stream, hits, catchUp } = createSlow(0, { maxBufferedBytes: 100 });
    // an event has eight characters more
    stream.send(frame('response', 'x'.repeat(42)));
    stream.flush();
    stream.send(frame('progress', 'y'.repeat(42)));
    stream.send(frame('progress', 'z'));
    stream.send(frame('progress', 'too much'));
    expect(hits).toEqual(['maxBufferedBytes']);
    stream.send(frame('response', 'last'));
    expect(catchUp().map((text) => text?.at(0))).toEqual(['x', 'y', 'z', 'l']);
    // it has caught up, so it counts anew
    stream.send(frame('response', 'x'.repeat(100)));
    stream.send(frame('log', 'too much'));
    expect(hits).toEqual(['maxBufferedBytes', 'maxBufferedBytes']);
  });

  it('takes changes of `maxBufferedBytes` in all, and counts once when there are more', () => {
    const { stream, hits, catchUp } = createSlow(5000, { maxBufferedBytes: 10 });
    const send = (...texts: string[]) => {
      for (const text of texts) stream.send(frame('change', text));
    };
    send('aaaaa', 'bbbbb', 'aaaaa', 'bbbbb');
    expect(hits).toEqual([]);
    send('c', 'd');
    expect(hits).toEqual(['maxBufferedBytes']);
    expect(catchUp()).toEqual(['aaaaa', 'bbbbb']);
    send('c');
    expect(catchUp()).toEqual(['c']);
  });

  it('takes progress until 7/8 of `maxTotalBufferedBytes` would wait for all readers', () => {
    for (const [backlog, expected] of [
      [6999, ['a']],
      [7000, []],
    ] as const) {
      const { stream, hits, catchUp } = createSlow(backlog, { maxBufferedBytes: MIB, maxTotalBufferedBytes: 8000 });
      stream.send(frame('progress', 'a'));
      expect(hits).toEqual(expected.length === 0 ? ['maxTotalBufferedBytes'] : []);
      stream.send(frame('response', 'b'));
      expect(catchUp()).toEqual([...expected, 'b']);
    }
  });
});

describe('slow readers', () => {
  it('stay up to `maxTotalBufferedBytes`; one byte beyond, the one with the largest backlog is disconnected', () => {
    const hits: ReachedLimit[] = [];
    const readers = new SlowReaders({ maxTotalBufferedBytes: 1000, readerTimeoutMs: 1000 }, (hit) => hits.push(hit));
    const dropped: string[] = [];
    const reader = (name: string, backlog: number): Reader => ({ backlog, left: 1, destroy: () => dropped.push(name) });
    const small = reader('small', 300);
    readers.note(reader('large', 400));
    readers.note(small);
    readers.note(reader('medium', 300));
    expect([dropped, hits]).toEqual([[], []]);
    readers.note(small, 1);
    expect([dropped, hits]).toEqual([['large'], [{ limit: 'maxTotalBufferedBytes' }]]);
  });
});

describe('an HTTP+SSE session', () => {
  it.each([
    ['stays while 16 times `maxBufferedBytes` wait', 0],
    ['ends with the next message when one byte more waits', 1],
  ])('%s', async (_name, more) => {
    const { url, server, answers, hits } = await start({ legacySse: true, limits: { maxBufferedBytes: 1000 } });
    const input = { type: 'object', properties: { size: { type: 'number' } } };
    server.addTool({ name: 'say', input }, ({ size }: { size: number }) => 'x'.repeat(size));
    const stream = await open(new URL('/sse', url).href, {});
    const answer = answers[0] as ServerResponse;
    const [first] = (await once(stream.resume(), 'data')) as [Buffer];
    stream.pause();
    const messages = new URL(/^data: (.+)$/m.exec(String(first))?.[1] as string, url).href;
    const send = async (message: object) => await statusOf(messages, {}, message);
    const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
    await send(request(0, 'initialize', params));
    await send(INITIALIZED);
    // much more than sockets take
    await send(call(1, 'say', { size: 20 * MIB }));
    await untilSlow(answer);
    const event = (text: string) =>
      `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 2, result: { content: [{ type: 'text', text }] } })}\n\n`;
    expect(await send(call(2, 'say', { size: 16_000 - event('').length + more }))).toBe(202);
    expect([answer.destroyed, hits]).toEqual([false, []]);
    expect(await send(request(3, 'ping'))).toBe(202);
    expect([answer.destroyed, hits]).toEqual(more === 0 ? [false, []] : [true, [{ limit: 'maxBufferedBytes' }]]);
    expect(await send(request(4, 'ping'))).toBe(more === 0 ? 202 : 404);
  });
});

describe('the bodies of calls that wait', () => {
  const LARGE = 10_000;
  /** Sends a call with a body of this many bytes. Resolves with its answer. */
  const waitWith = async (url: string, bytes: number): Promise<IncomingMessage> => {
    const sized = (pad: number) => modernCall(1, 'wait', {}, { pad: 'x'.repeat(pad) });
    const message = sized(bytes - JSON.stringify(sized(0)).length);
    return await open(url, modernHeaders('tools/call', 'wait'), message);
  };

  it.each([
    ['maxUnfinishedBytesPerAddress', 429],
    ['maxUnfinishedBytes', 503],
  ])('may have %s in all; a byte more is refused, but small bodies are not', async (limit, status) => {
    for (const max of [2 * LARGE, 2 * LARGE - 1]) {
      const { url, probe, hits } = await start({ limits: { bodyLimit: LARGE, [limit]: max } });
      const answers = [...(await whenBegun(probe, waitWith(url, LARGE)))];
      if (max < 2 * LARGE) {
        const { statusCode, headers } = await waitWith(url, LARGE);
        expect([statusCode, headers['retry-after'], hits]).toEqual([status, '10', [{ limit, ...CLIENT }]]);
      } else {
        answers.push(...(await whenBegun(probe, waitWith(url, LARGE))));
        expect(hits).toEqual([]);
        expect((await waitWith(url, 4097)).statusCode).toBe(status);
        answers.push(...(await whenBegun(probe, waitWith(url, 4096))));
      }
      probe.emit('go');
      for (const answer of answers) expect((await answer).statusCode).toBe(200);
      // they no longer count
      const add = modernCall(2, 'add', SUM, { pad: 'x'.repeat(5000) });
      expect((await open(url, modernHeaders('tools/call', 'add'), add)).statusCode).toBe(200);
    }
  });
});

/** A fetch handler, and a function that subscribes from an address. */
async function startFetch(limits: EndpointLimits) {
  const { server, hits } = createServer(new Probe());
  const handler = fetchHandler(server, { limits });
  afterwards(() => server.close());
  const subscribe = async (remoteAddress?: string, params: object = { notifications: { toolsListChanged: true } }) => {
    const message = modern(1, 'subscriptions/listen', { ...params });
    const response = await handler(posted(message, modernHeaders('subscriptions/listen')), { remoteAddress });
    afterwards(() => response.body?.cancel().catch(() => {}));
    return response;
  };
  const add = async () => await handler(posted(...ADD));
  return { subscribe, add, hits };
}

const statuses = async (answers: readonly Promise<Response>[]) =>
  (await Promise.all(answers)).map(({ status }) => status);

describe('subscriptions/listen over HTTP', () => {
  it.each([
    ['maxListenStreamsPerAddress', 2, 429, 'This address has too many subscriptions.', '10.0.0.1'],
    ['maxListenStreams', 4, 503, 'There are too many subscriptions. Try again later.', '10.0.0.3'],
  ])('is served up to `%s`, %i, and beyond it gets %i', async (limit, max, status, message, remoteAddress) => {
    const { subscribe, hits } = await startFetch({ [limit]: max });
    expect(await statuses([subscribe('10.0.0.1'), subscribe('10.0.0.1')])).toEqual([200, 200]);
    if (status === 503) expect(await statuses([subscribe('10.0.0.2'), subscribe()])).toEqual([200, 200]);
    const refused = await subscribe(remoteAddress);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([status, '10']);
    expect(await refused.json()).toMatchObject({ id: 1, error: { code: -32600, message } });
    expect(hits).toEqual([{ limit, remoteAddress }]);
    if (status === 429) expect(await statuses([subscribe('10.0.0.2'), subscribe('10.0.0.2')])).toEqual([200, 200]);
  });

  it.each(['10.0.0.1', undefined])('frees its place when the reader of %s is gone, or if it is invalid', async (at) => {
    const { subscribe, add } = await startFetch({ maxListenStreams: 1 });
    for (let n = 0; n < 3; n += 1) {
      await subscribe(at, {});
      const stream = await subscribe(at);
      expect([stream.status, (await subscribe(at)).status]).toEqual([200, 503]);
      // other requests need no place
      expect((await add()).status).toBe(200);
      await stream.body?.cancel();
    }
  });

  it('has no quota per address where addresses are unknown', async () => {
    const { subscribe } = await startFetch({ maxListenStreamsPerAddress: 1 });
    expect(await statuses([subscribe(), subscribe(), subscribe()])).toEqual([200, 200, 200]);
  });
});
