// Bodies: what they cost until they are parsed, in which order that is done, and those that the application has read.
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter, once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { nodeHandler, type NodeHandlerOptions } from '@decorum/http/node';
import express, { type RequestHandler } from 'express';
import fc from 'fast-check';

import { Bodies, type BodyLimits, BodyReader } from '../src/endpoint/body.js';
import { exceedsValues } from '../src/endpoint/count-values.js';
import { closing } from '../src/endpoint/http-error.js';
import { Turns } from '../src/endpoint/turns.js';
import { Connection } from './connection.js';
import { afterwards, createServer, Probe, serveNode, serveSession } from './fixture.js';
import { ADD, calling, json, modernHeaders, request, SUM } from './messages.js';
import { post, statusOf } from './sending.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

class TestReader extends BodyReader {
  protected override readonly remoteAddress = '192.0.2.7';
  protected override stop() {}
}

const LIMITS = {
  bodyLimit: 1_000_000,
  bodyTimeoutMs: 20_000,
  maxUnfinishedBytes: 10_000_000,
  maxUnfinishedBytesPerAddress: 10_000_000,
  maxValues: 1000,
};

function createReader(headers: Record<string, string> = {}, limits: Partial<BodyLimits> = {}) {
  const bodies = new Bodies({ ...LIMITS, ...limits });
  afterwards(() => bodies.close(closing()));
  const answers: unknown[] = [];
  const body = (...answer: unknown[]) => void answers.push(answer);
  return { reader: new TestReader(bodies, { method: 'POST', headers }, { body }), answers, bodies };
}

/** Bytes that this process retains. */
function retained(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('a body in chunks of one byte', () => {
  it('takes a few bytes of memory for each, and is read correctly', async () => {
    const { reader, answers } = createReader();
    const count = 100_000;
    const before = retained();
    reader.push(Buffer.from('"'));
    for (let n = 0; n < count; n++) reader.push(Buffer.from(n === 500 ? '\u00e9' : 'x'));
    expect(retained() - before).toBeLessThan(40 * count);
    reader.push(Buffer.from('"'));
    reader.end();
    while (answers.length === 0) await turn();
    expect(answers).toEqual([[null, `${'x'.repeat(500)}\u00e9${'x'.repeat(count - 501)}`]]);
  });

  it('takes no memory for bytes that are only announced', () => {
    const announced = 200_000_000;
    const bodyLimit = announced;
    const { reader } = createReader({ 'content-length': `${announced}` }, { bodyLimit });
    reader.begin();
    const before = retained();
    for (const byte of 'ab') reader.push(Buffer.from(byte));
    // far above what the process allocates for itself meanwhile
    expect(retained() - before).toBeLessThan(announced / 10);
  });
});

describe('a large body that has arrived', () => {
  it('is not refused for its time when many others are parsed before', async () => {
    const { reader, answers, bodies } = createReader({}, { bodyTimeoutMs: 4 });
    const others = 12;
    // each takes a turn of its own, in which the timer may run once
    for (let n = 0; n < others; n += 1) {
      bodies.turns.add(() => {
        const until = performance.now() + 11;
        while (performance.now() < until);
      });
    }
    const body = JSON.stringify('x'.repeat(10_000));
    reader.push(Buffer.from(body));
    reader.end();
    while (answers.length === 0) await turn();
    expect(answers).toEqual([[null, JSON.parse(body)]]);
  });
});

/** Names, values and items, over all levels. */
const count = (value: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  const weight = Array.isArray(value) ? 1 : 2;
  return Object.values(value).reduce<number>((sum, each) => sum + weight + count(each), 0);
};

describe('the number of values in a text', () => {
  it('is known without parsing it, however it is spaced and whatever its strings contain', () => {
    const anything = fc.jsonValue({ depthSize: 'large' });
    fc.assert(
      fc.property(
        anything,
        fc.constantFrom('', ' ', '\t', '\n\n'),
        fc.string({ unit: 'binary' }),
        (value, space, text) => {
          const all = { value, [text]: text };
          const written = JSON.stringify(all, undefined, space) + ' '.repeat(10_000);
          const values = count(all);
          expect([exceedsValues(written, values - 1), exceedsValues(written, values)]).toEqual([true, false]);
        },
      ),
    );
  });

  it.each([
    String.raw`["\"", "\\", "\\\"", ","]`,
    String.raw`{"a\"],{": "[[,", "b": [[], {}, [ ], { }]}`,
    '[ [ [ ] , [ 1 ] ] ]',
  ])('is exact for %s', (text) => {
    const values = count(JSON.parse(text));
    const written = text + ' '.repeat(100);
    expect([exceedsValues(written, values - 1), exceedsValues(written, values)]).toEqual([true, false]);
  });

  it.each(['"', '["', '["\\', '[,,', '{{', ']]'])('is not looked for beyond the end of %s', (text) => {
    expect(exceedsValues(text + ' '.repeat(100), 40)).toBe(false);
  });

  it.each(['{"x":{%}}', '[%]'])('counts the different names of %s, of which an eighth as many are allowed', (form) => {
    const [allowed, names] = [80_000, 10_000];
    const member = (name: number) => `"n${name.toString(36)}" : 0`;
    const textOf = (total: number, different: number) => {
      const members = Array.from({ length: total }, (_, index) => member(index % different));
      return form.replace('%', (form.includes('{') ? members : members.map((each) => `{${each}}`)).join());
    };
    expect(exceedsValues(textOf(names, names), allowed)).toBe(false);
    // some share a slot
    expect(exceedsValues(textOf(1.2 * names, 1.2 * names), allowed)).toBe(true);
    expect(exceedsValues(textOf(2 * names, names / 2), allowed)).toBe(false);
  });

  it('allows a thousand names, however few values', () => {
    const text = (total: number) => `{${Array.from({ length: total }, (_, name) => `"${name}":0`).join()}}`;
    expect([exceedsValues(text(1000), 2000), exceedsValues(text(1030), 2060)]).toEqual([false, true]);
  });

  it('does not take the strings of lists or values for names', () => {
    const strings = Array.from({ length: 3000 }, (_, index) => `"${index}"`);
    const text = `[${strings.join()},${strings.map((each) => `{"a":${each}}`).join()}]`;
    expect(exceedsValues(text, count(JSON.parse(text)))).toBe(false);
  });
});

describe('work that is spread over turns of the event loop', () => {
  let now = 0;
  const done: string[] = [];
  beforeEach(() => {
    done.splice(0);
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
    afterwards(() => clock.mockRestore());
  });

  /** Work that takes some milliseconds. */
  const work = (name: string, ms: number) => () => {
    done.push(name);
    now += ms;
  };

  it('goes on for 10 ms in each, in order', async () => {
    const turns = new Turns();
    for (const name of ['a', 'b', 'c', 'd', 'e']) turns.add(work(name, 5));
    expect([turns.isBusy, done.join('')]).toEqual([true, '']);
    await turn();
    expect(done.join('')).toBe('ab');
    turns.add(work('f', 5));
    await turn();
    expect(done.join('')).toBe('abcd');
    await turn();
    expect([turns.isBusy, done.join('')]).toEqual([false, 'abcdef']);
  });

  it('goes on with at least one piece in each', async () => {
    const turns = new Turns();
    for (const name of ['a', 'b', 'c']) turns.add(work(name, 100));
    for (const all of ['a', 'ab', 'abc']) {
      await turn();
      expect(done.join('')).toBe(all);
    }
  });

  it('goes on when some more is added later, or by other work', async () => {
    const turns = new Turns();
    turns.add(work('a', 1));
    await turn();
    turns.add(() => turns.add(work('b', 1)));
    await turn();
    expect(done.join('')).toBe('ab');
  });

  it('has the `AsyncLocalStorage` of its own request', async () => {
    const storage = new AsyncLocalStorage<string>();
    const turns = new Turns();
    for (const name of ['first', 'second']) {
      storage.run(name, () => turns.add(() => void done.push(storage.getStore() ?? 'nothing')));
    }
    await turn();
    expect(done).toEqual(['first', 'second']);
  });
});

describe('a small request', () => {
  it('is answered before large bodies that arrived earlier', async () => {
    const { url, session } = await serveSession();
    const names = Array.from({ length: 45_000 }, (_, index) => [`name${index}`, 0]);
    let answered = 0;
    const sent = Array.from({ length: 12 }, async (_, id) => {
      await post(url, request(id, 'ping', Object.fromEntries(names)), session);
      answered += 1;
    });
    await Promise.race(sent);
    expect(await statusOf(url, session)).toBe(200);
    expect(answered).toBeLessThan(12);
    await Promise.all(sent);
  });
});

/** Serves the handler behind a middleware. */
async function behind(middleware: RequestHandler, options: NodeHandlerOptions = {}) {
  const { server, errors } = createServer(new Probe());
  afterwards(() => server.close());
  const url = await serveNode(express().use(middleware).use('/mcp', nodeHandler(server, options)));
  return { url: `${url}/mcp`, errors };
}

/** Status and JSON-RPC code of an answer. */
const outcome = async (response: Response) => [response.status, (await json(response)).error?.code];

const passOn: RequestHandler = (_request, _response, next) => next();
const drain: RequestHandler = async (incoming, _response, next) => {
  incoming.resume();
  await once(incoming, 'end');
  next();
};

const PARSERS = {
  'an object': express.json({ limit: '2mb' }),
  text: express.text({ type: '*/*' }),
  bytes: express.raw({ type: '*/*' }),
};
const JSON_TYPE = { 'content-type': 'application/json' };

describe('a body that a parser has read', () => {
  it.each(Object.entries(PARSERS))('is taken as %s, and answered at once if it is empty', async (_what, parser) => {
    const { url, errors } = await behind(parser);
    expect((await json(await post(url, ...ADD))).result?.content?.[0]?.text).toBe('3');
    const notice = { jsonrpc: '2.0', method: 'notifications/a' };
    expect(await statusOf(url, modernHeaders('notifications/a'), notice)).toBe(202);
    expect(errors).toEqual([]);
    expect(await statusOf(url, {}, '')).toBe(400);
  });

  it('is taken from an `authenticate` that has read it', async () => {
    const authenticate = async (_head: object, incoming: IncomingMessage & { body?: unknown }) => {
      incoming.body = Buffer.concat((await incoming.toArray()) as Buffer[]);
      return { subject: 'ann' };
    };
    const { url, errors } = await behind(passOn, { auth: { authenticate } });
    expect((await json(await post(url, ...ADD))).result?.content?.[0]?.text).toBe('3');
    expect(errors).toEqual([]);
  });

  it.each([
    ['depth', JSON.parse(`${'[{"a":'.repeat(100)}1${'}]'.repeat(100)}`)],
    ['number of values', Array.from({ length: 100_001 }, () => 0)],
    ['names', JSON.parse('{"__proto__":{}}')],
  ])('is checked for its %s', async (_what, value) => {
    for (const middleware of [PARSERS['an object'], passOn]) {
      const { url } = await behind(middleware);
      expect(await outcome(await post(url, ...calling('add', { ...SUM, more: value })))).toEqual([400, -32600]);
    }
  });

  it('is rejected by its announced size, and as text or bytes by its own', async () => {
    const limits = { bodyLimit: 500 };
    const large = calling('add', { text: 'x'.repeat(500) });
    for (const parser of Object.values(PARSERS)) {
      const { url } = await behind(parser, { limits });
      expect(await outcome(await post(url, ...large))).toEqual([413, -32600]);
    }
    const { url } = await behind(PARSERS.bytes, { limits });
    const body = new Blob([JSON.stringify(large[0])]).stream();
    const headers = { ...JSON_TYPE, ...large[1] };
    const chunked = { method: 'POST', headers, body, duplex: 'half' } as RequestInit;
    expect(await outcome(await fetch(url, chunked))).toEqual([413, -32600]);
  });

  it('is checked for UTF-8 and JSON if it is bytes', async () => {
    const { url } = await behind(PARSERS.bytes);
    for (const body of [new Uint8Array([0x22, 0xff, 0x22]), '{']) {
      expect(await outcome(await post(url, body))).toEqual([400, -32700]);
    }
  });

  it('gives 500 if the parser has left nothing, and the log tells why', async () => {
    const { url, errors } = await behind(drain);
    expect(await outcome(await post(url, ...ADD))).toEqual([500, -32603]);
    expect(errors.map(String)).toEqual([expect.stringContaining('Mount the handler before it')]);
  });

  it('is not needed to end a session, even if the client sends a content type', async () => {
    const { url, errors } = await behind(drain);
    const headers = { ...JSON_TYPE, 'mcp-session-id': 'unknown' };
    expect(await outcome(await fetch(url, { method: 'DELETE', headers }))).toEqual([404, -32600]);
    expect(errors).toEqual([]);
  });

  it('is read by the handler if the parser takes other types only', async () => {
    const skips: RequestHandler = (incoming, _response, next) => {
      // as the body parser of Express 4 does
      incoming.body = {};
      next();
    };
    const { url } = await behind(skips);
    expect((await post(url, ...ADD)).status).toBe(200);
  });

  it('is given up when the client disconnects while a parser reads', async () => {
    const arrived = new EventEmitter();
    const patient: RequestHandler = (incoming, _response, next) => {
      arrived.emit('request', incoming);
      // goes on after an error, as some middleware does
      incoming.on('data', () => {});
      incoming.once('error', () => next());
    };
    const { url, errors } = await behind(patient);
    const connection = await Connection.open(url);
    connection.head('POST', JSON_TYPE, 9, '{');
    const [incoming] = (await once(arrived, 'request')) as [IncomingMessage];
    const closed = new Promise((resolve) => incoming.once('close', resolve));
    connection.leave();
    await closed;
    expect(errors).toEqual([]);
  });
});
