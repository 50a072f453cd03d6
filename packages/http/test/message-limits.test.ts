// What one POST may contain, at each limit and one beyond.
import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import type { ServerLimits } from '@decorum/core';

import { serve, call, json, modern, modernHeaders, openSession, post } from './fixture.js';

async function serveLimited(limits: ServerLimits = {}) {
  const served = await serve({}, { limits });
  const input = { type: 'object' };
  served.server.addTool({ name: 'count', input }, (given: object) => Object.keys(given).length);
  return served;
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
});
