// What one POST may contain, at each limit and one beyond.
import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import { type ReachedLimit, Resource, type ServerLimits } from '@decorum/core';
import { listen } from '@decorum/http';

import { afterwards, call, createServer, json, modern, modernHeaders, openSession, post, Probe } from './fixture.js';

class Pages {
  @Resource('x://{+page}', { input: { type: 'object', properties: { page: { type: 'string' } } } })
  page() {
    return '';
  }
}

async function serveLimited(limits: ServerLimits = {}) {
  const hits: ReachedLimit[] = [];
  const probe = new Probe();
  const options = { limits, providers: [probe, new Pages()], onLimit: (hit: ReachedLimit) => void hits.push(hit) };
  const { server } = createServer(probe, options);
  server.addTool({ name: 'count', input: { type: 'object' } }, (input: object) => Object.keys(input).length);
  const { url } = await listen(server, { port: 0 });
  afterwards(() => {
    probe.emit('go');
    return server.close();
  });
  return { url, hits, probe };
}

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

const tooManyValues = (max: number, names: number) => {
  const message = `The body has more than ${max} values or ${names} different names.`;
  return [400, undefined, -32600, message];
};

describe('a POST', () => {
  it.each([
    [100_000, 12_500],
    [200, 1000],
  ])('has at most `maxValues` names, values and items: %d', async (maxValues, names) => {
    const { url, hits } = await serveLimited(maxValues === 100_000 ? {} : { maxValues });
    const session = await openSession(url);
    expect(await answerTo(url, callOf(maxValues), session)).toBe(200);
    expect(hits).toEqual([]);
    expect(await answerTo(url, callOf(maxValues + 1), session)).toEqual(tooManyValues(maxValues, names));
    expect(hits).toMatchObject([{ limit: 'maxValues' }]);
  });

  it('has at most an eighth of `maxValues` different names, if it is large', async () => {
    const { url, hits } = await serveLimited({});
    const session = await openSession(url);
    const callWith = (names: number) => {
      const value = Object.fromEntries(Array.from({ length: names }, (_, name) => [`name ${name}`, '.'.repeat(10)]));
      return call(1, 'count', { value });
    };
    expect(await answerTo(url, callWith(12_000), session)).toBe(200);
    expect(hits).toEqual([]);
    expect(await answerTo(url, callWith(15_000), session)).toEqual(tooManyValues(100_000, 12_500));
    expect(hits).toMatchObject([{ limit: 'maxValues' }]);
  });

  it('has at most `maxValues` in all messages of a batch, and its items count', async () => {
    const { url, hits } = await serveLimited({ maxValues: 200 });
    const session = await openSession(url, {}, '2025-03-26');
    const fits = await post(url, [callOf(99, 1), callOf(99, 2)], session);
    expect([fits.status, await fits.json()]).toMatchObject([200, [{ result: {} }, { result: {} }]]);
    expect(hits).toEqual([]);
    expect(await answerTo(url, [callOf(99, 1), callOf(100, 2)], session)).toEqual(tooManyValues(200, 1000));
    expect(hits).toMatchObject([{ limit: 'maxValues' }]);
  });

  it.each([64, 10])('has at most `maxDepth` levels: %d', async (maxDepth) => {
    const { url, hits } = await serveLimited(maxDepth === 64 ? {} : { maxDepth });
    const session = await openSession(url);
    expect(await answerTo(url, deepCall(maxDepth), session)).toBe(200);
    expect(hits).toEqual([]);
    const message = `The message is nested more than ${maxDepth} levels deep.`;
    expect(await answerTo(url, deepCall(maxDepth + 1), session)).toEqual([400, 1, -32600, message]);
    expect(hits).toMatchObject([{ limit: 'maxDepth' }]);
  });

  it.each([100, 3])('has at most `maxBatch` messages: %d', async (maxBatch) => {
    const { url, hits } = await serveLimited(maxBatch === 100 ? {} : { maxBatch });
    const session = await openSession(url, {}, '2025-03-26');
    const batch = (length: number) => Array.from({ length }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
    const fits = await post(url, batch(maxBatch), session);
    expect([fits.status, ((await fits.json()) as unknown[]).length]).toEqual([200, maxBatch]);
    expect(hits).toEqual([]);
    const message = `A batch can contain at most ${maxBatch} messages.`;
    expect(await answerTo(url, batch(maxBatch + 1), session)).toEqual([400, null, -32600, message]);
    expect(hits).toMatchObject([{ limit: 'maxBatch' }]);
  });

  it('has an id of at most 256 characters', async () => {
    const { url } = await serveLimited();
    const session = await openSession(url);
    const ping = (length: number) => ({ jsonrpc: '2.0', id: 'i'.repeat(length), method: 'ping' });
    expect(await answerTo(url, ping(256), session)).toBe(200);
    expect(await answerTo(url, ping(257), session)).toEqual([400, undefined, -32600, expect.any(String)]);
  });

  it('has a progress token of at most 256 characters', async () => {
    const { url } = await serveLimited();
    const session = await openSession(url);
    const counts = (length: number) => call(1, 'count', {}, { progressToken: 't'.repeat(length) });
    expect(await answerTo(url, counts(256), session)).toBe(200);
    expect(await answerTo(url, counts(257), session)).toEqual([200, 1, -32602, expect.any(String)]);
  });

  it('is one of at most `maxOpenCalls` of its session, and gets 200 with an error beyond', async () => {
    const { url, hits, probe } = await serveLimited({ maxOpenCalls: 2 });
    const session = await openSession(url);
    const waiting = [];
    for (const id of [1, 2]) {
      const began = once(probe, 'began');
      waiting.push(answerTo(url, call(id, 'wait'), session));
      await began;
    }
    expect(hits).toEqual([]);
    expect(await answerTo(url, call(3, 'wait'), session)).toEqual([200, 3, -32603, expect.any(String)]);
    expect(await answerTo(url, { jsonrpc: '2.0', id: 4, method: 'ping' }, session)).toBe(200);
    expect(hits).toMatchObject([{ limit: 'maxOpenCalls' }]);
    probe.emit('go');
    expect(await Promise.all(waiting)).toEqual([200, 200]);
  });

  it('that is stateless does not count towards `maxOpenCalls`', async () => {
    const { url, hits, probe } = await serveLimited({ maxOpenCalls: 1 });
    const waiting = [];
    for (const id of [1, 2, 3]) {
      const began = once(probe, 'began');
      const message = modern(id, 'tools/call', { name: 'wait', arguments: {} });
      waiting.push(answerTo(url, message, modernHeaders('tools/call', 'wait')));
      await began;
    }
    probe.emit('go');
    expect([await Promise.all(waiting), hits]).toEqual([[200, 200, 200], []]);
  });

  it('can subscribe a session to `maxSubscriptions` resources, and gets 200 with an error beyond', async () => {
    const { url, hits } = await serveLimited({ maxSubscriptions: 2 });
    const session = await openSession(url);
    const subscribe = (page: number) => ({
      jsonrpc: '2.0',
      id: page,
      method: 'resources/subscribe',
      params: { uri: `x://${page}` },
    });
    for (const page of [1, 2]) expect(await answerTo(url, subscribe(page), session)).toBe(200);
    expect(hits).toEqual([]);
    expect(await answerTo(url, subscribe(3), session)).toEqual([200, 3, -32602, expect.any(String)]);
    expect(hits).toMatchObject([{ limit: 'maxSubscriptions' }]);
  });

  it('can listen to `maxSubscriptions` resources, and gets 200 with an error beyond', async () => {
    const { url, hits } = await serveLimited({ maxSubscriptions: 2 });
    const follow = (count: number) => {
      const resourceSubscriptions = Array.from({ length: count }, (_, n) => `x://${n}`);
      return modern(1, 'subscriptions/listen', { notifications: { resourceSubscriptions } });
    };
    const headers = modernHeaders('subscriptions/listen');
    const stream = await post(url, follow(2), headers);
    afterwards(() => stream.body?.cancel());
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(hits).toEqual([]);
    expect(await answerTo(url, follow(3), headers)).toEqual([200, 1, -32602, expect.any(String)]);
    expect(hits).toMatchObject([{ limit: 'maxSubscriptions' }]);
  });
});
