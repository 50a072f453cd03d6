// Stores that hang, fail or are slow: what requests get, how soon, and that they work again as soon as the store does.
import { setTimeout as wait } from 'node:timers/promises';

import { describe, expect, it, jest } from '@jest/globals';
import { MemorySingleUse, type SingleUse } from '@decorum/core';
import type { Cluster } from '@decorum/http';

import { stopClock } from '../clock.js';
import { afterwards, serve } from '../fixture.js';
import { ADD, call, initialize, json, modernCall, modernHeaders, request, SUM } from '../messages.js';
import { openSession, post, statusOf, statusOfGet } from '../sending.js';
import { serveNodes } from './nodes.js';

const TIMEOUT_MS = 20;

/** What happens to each call of a store. */
const OUTAGES: Readonly<Record<string, () => Promise<unknown>>> = {
  hangs: () => new Promise<never>(() => {}),
  'fails at once': () => {
    throw new Error('no store');
  },
  'fails later': async () => await Promise.reject(new Error('no store')),
  'is too slow': async () => await wait(10 * TIMEOUT_MS),
};

describe.each(Object.entries(OUTAGES))('a store of sessions that %s', (_how, outage) => {
  /** Nodes whose store can be stopped. */
  async function serveStoppable() {
    let isStopped = false;
    const stoppable =
      <A extends readonly unknown[], R>(method: (...args: A) => R) =>
      async (...args: A) => {
        if (isStopped) await outage();
        return await method(...args);
      };
    const spoil = (parts: Cluster): Cluster => {
      const { get, set, touch, delete: remove } = parts.sessions;
      const sessions = {
        get: stoppable(get),
        set: stoppable(set),
        touch: stoppable(touch),
        delete: stoppable(remove),
      } as Cluster['sessions'];
      return { ...parts, sessions };
    };
    const { nodes } = await serveNodes({ storeTimeoutMs: TIMEOUT_MS }, { spoil });
    return { nodes, stop: (stops: boolean) => void (isStopped = stops) };
  }

  it('costs requests that need it a 503 in time, and no others', async () => {
    const advance = stopClock();
    const { nodes, stop } = await serveStoppable();
    const [{ url }] = nodes;
    const session = await openSession(url);
    const other = await openSession(url);
    stop(true);
    // later, the processes know nothing of the record for sure
    advance(2000);
    const needy = [
      () => post(url, call(1, 'add', SUM), session),
      () => post(url, initialize('2025-11-25')),
      () => fetch(url, { headers: { accept: 'text/event-stream', ...session } }),
      () => fetch(url, { method: 'DELETE', headers: other }),
    ];
    const answers = await Promise.all(needy.map(async (send) => await send()));
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '10']);
      await answer.text();
    }
    const [message, headers] = ADD;
    for (let n = 0; n < 20; n += 1) expect(await statusOf(url, headers, message)).toBe(200);
    stop(false);
    for (const node of nodes) {
      expect(await statusOf(node.url, session)).toBe(200);
      expect(await statusOfGet(node.url, session)).toBe(200);
      expect(await statusOf(node.url, {}, initialize('2025-11-25'))).toBe(200);
    }
  });

  it('costs a change of the session a 503 in time, and the client can repeat it', async () => {
    const { nodes, stop } = await serveStoppable();
    const [{ url }, other] = nodes;
    const session = await openSession(url);
    const changes = [
      request(1, 'resources/subscribe', { uri: 'docs://guide' }),
      request(2, 'logging/setLevel', { level: 'error' }),
    ];
    for (const change of changes) {
      stop(true);
      expect(await statusOf(url, session, change)).toBe(503);
      stop(false);
      expect(await statusOf(url, session, change)).toBe(200);
    }
    const kept = await other.parts.sessions.get(session['mcp-session-id'] as string);
    expect(kept).toMatchObject({ subscriptions: ['docs://guide'], logLevel: 'error' });
  });
});

it('a store of sessions that hangs holds no more calls than `maxStoreCalls`', async () => {
  const sessionStore = { get: () => new Promise<never>(() => {}), set() {}, touch() {}, delete() {} };
  const { url, errors } = await serve({ sessionStore, storeTimeoutMs: 1000, limits: { maxStoreCalls: 3 } });
  const session = { 'mcp-session-id': 'any', 'mcp-protocol-version': '2025-11-25' };
  const statuses = await Promise.all(Array.from({ length: 10 }, () => statusOf(url, session)));
  expect(new Set(statuses)).toEqual(new Set([503]));
  // reported once, until the store answers again
  expect(errors.map((error) => (error as Error).message)).toEqual(['3 calls wait for a store.']);
});

describe('records of used ids', () => {
  /** Makes the deadline of 3 seconds pass at once. */
  const hurry = () => {
    const { setTimeout: start } = globalThis;
    const hurried = (run: () => void, ms: number) => start(run, ms === 3000 ? TIMEOUT_MS : ms);
    const timers = jest.spyOn(globalThis, 'setTimeout').mockImplementation(hurried as typeof setTimeout);
    afterwards(() => timers.mockRestore());
  };

  it.each(Object.entries(OUTAGES))('cost a round a 503 in time if their store %s', async (_how, outage) => {
    hurry();
    const memory = new MemorySingleUse();
    let isStopped = true;
    const singleUse: SingleUse = {
      claim: async (id, ttlMs) => {
        if (isStopped) await outage();
        return memory.claim(id, ttlMs);
      },
    };
    const { url, errors } = await serve({}, { singleUse, secret: 'the same for all processes, 32 bytes' });
    const headers = modernHeaders('tools/call', 'ask');
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
    const first = await json(await post(url, modernCall(1, 'ask', {}, capabilities), headers));
    const { requestState, inputRequests } = first.result as { requestState: string; inputRequests: object };
    const answers = Object.keys(inputRequests).map((key) => [key, { action: 'accept', content: { name: 'Ada' } }]);
    const { params, ...rest } = modernCall(2, 'ask', {}, capabilities);
    const round = { ...rest, params: { ...params, requestState, inputResponses: Object.fromEntries(answers) } };
    const refused = await post(url, round, headers);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
    expect(await json(refused)).toMatchObject({ id: 2, error: { code: -32603, message: UNAVAILABLE } });
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringMatching(/no store|does not answer/) })]);
    // calls without questions don't need them
    expect(await statusOf(url, ADD[1], ADD[0])).toBe(200);
    isStopped = false;
    expect(await json(await post(url, round, headers))).toMatchObject({
      result: { content: [{ text: 'Hello, Ada' }] },
    });
    expect((await json(await post(url, round, headers))).error?.message).toContain('used before');
  });
});

const UNAVAILABLE = 'The server cannot reach its data. Try again later.';

it('a bus that hangs or fails delays no request', async () => {
  const bus = { publish: () => new Promise<never>(() => {}), subscribe: () => new Promise<never>(() => {}) };
  const { nodes } = await serveNodes({}, { spoil: (parts) => ({ ...parts, bus }) });
  const session = await openSession(nodes[0].url);
  nodes[0].server.notify.toolsChanged();
  nodes[0].server.notify.resourceUpdated('docs://guide');
  for (const { url } of nodes) expect(await statusOf(url, session)).toBe(200);
});
