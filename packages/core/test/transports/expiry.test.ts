import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { connectMemory, Context, NoInput, Resource, Tool } from '@decorum/core';
import { newestOf } from '@decorum/core/internal';
import type { JsonRpcMessage } from '@decorum/core/transport';

import { reporting } from '../kernel/serving.js';
import { ENVELOPE, openPipe } from './pipe-client.js';

const message = 'The credentials of this connection have expired. Connect with new ones.';
const EXPIRED = { code: -32600, message };
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

class Notes {
  release = () => {};

  @Tool({ scopes: ['notes'] }) read() {
    return 'read';
  }

  @Tool() async wait(_input: NoInput, ctx: Context) {
    await new Promise<void>((resolve) => (this.release = resolve));
    await ctx.progress(1);
    return `waited for ${(await ctx.roots()).length} roots`;
  }

  @Resource('notes://today') today() {}
}

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] }));
afterEach(() => void jest.useRealTimers());

const ada = (ms: number) => ({ subject: 'ada', scopes: ['notes'], expiresAt: Date.now() + ms });

function createServer() {
  const notes = new Notes();
  return { notes, ...reporting({ providers: [notes] }) };
}

/** A client over stdio whose principal expires after a minute. */
async function openStdio(ms = MINUTE) {
  const parts = createServer();
  return { ...parts, ...(await openPipe(parts.server, { principal: ada(ms) })) };
}

/** A client in memory that collects all messages. */
async function openMemory(ms = MINUTE) {
  const parts = createServer();
  const received: JsonRpcMessage[] = [];
  const receive = (got: JsonRpcMessage) => void received.push(got);
  const { send } = await connectMemory(parts.server, { receive, principal: ada(ms) });
  return { ...parts, received, send, ask: (request: object) => send({ jsonrpc: '2.0', ...request }) };
}

const initialize = (protocolVersion = newestOf('stateful').id) => ({
  id: 0,
  method: 'initialize',
  params: { protocolVersion, capabilities: {}, clientInfo: { name: 'a', version: '1' } },
});
const call = (id: number, params: object = {}) => ({ id, method: 'tools/call', params: { name: 'read', ...params } });

const LISTEN = {
  id: 1,
  method: 'subscriptions/listen',
  params: { notifications: { toolsListChanged: true }, _meta: ENVELOPE },
};

describe('a stdio connection whose principal expires (#22)', () => {
  it('refuses all requests from that millisecond on, in sessions and without', async () => {
    const { client, connection } = await openStdio();
    await client.initialize();
    jest.advanceTimersByTime(MINUTE - 1);
    expect(await client.call(1, 'read')).toMatchObject({ result: { content: [{ text: 'read' }] } });
    client.send(call(2, { _meta: ENVELOPE }));
    expect(await client.response(2)).toMatchObject({ result: { content: [{ text: 'read' }] } });
    jest.advanceTimersByTime(1);
    client.send(call(3), call(4, { _meta: ENVELOPE }), { id: 5, method: 'ping' }, { id: 6, method: 'tools/list' });
    for (const id of [3, 4, 5, 6]) expect(await client.response(id)).toEqual({ jsonrpc: '2.0', id, error: EXPIRED });
    await connection.close();
  });

  it('refuses them too if only the clock has moved, as on a machine that slept', async () => {
    const { client, connection } = await openStdio();
    await client.initialize();
    jest.setSystemTime(Date.now() + MINUTE);
    expect(await client.call(1, 'read')).toMatchObject({ error: EXPIRED });
    await connection.close();
  });

  it('refuses to begin with a principal that has expired before', async () => {
    const { client, connection } = await openStdio(-1);
    client.send(initialize());
    expect(await client.response(0)).toMatchObject({ error: EXPIRED });
    await connection.close();
  });

  it('answers the call in flight, with its progress and its questions', async () => {
    const { client, connection, notes } = await openStdio();
    await client.initialize({ roots: {} });
    client.send(call(1, { name: 'wait', _meta: { progressToken: 'p' } }));
    // answered after the call has begun
    await client.call(2, 'read');
    jest.advanceTimersByTime(MINUTE);
    notes.release();
    const { id } = await client.find(({ method }) => method === 'roots/list');
    client.send({ id, result: { roots: [{ uri: 'file:///a' }] } });
    expect(await client.response(1)).toMatchObject({ result: { content: [{ text: 'waited for 1 roots' }] } });
    expect(client.received.map(({ method }) => method)).toContain('notifications/progress');
    await connection.close();
  });

  it('ends `subscriptions/listen`, without a message of the client', async () => {
    const { client, connection } = await openStdio();
    client.send(LISTEN);
    await client.find(({ method }) => method === 'notifications/subscriptions/acknowledged');
    jest.advanceTimersByTime(MINUTE);
    expect(await client.response(1)).toMatchObject({ result: {} });
    client.send({ ...LISTEN, id: 2 });
    expect(await client.response(2)).toMatchObject({ error: EXPIRED });
    await connection.close();
  });

  it('gets no more notifications of its session', async () => {
    const { client, connection, server } = await openStdio();
    await client.initialize();
    client.send({ id: 1, method: 'resources/subscribe', params: { uri: 'notes://today' } });
    await client.response(1);
    server.notify.resourceUpdated('notes://today');
    await client.find(({ method }) => method === 'notifications/resources/updated');
    // also before a timer notices
    jest.setSystemTime(Date.now() + MINUTE);
    server.notify.resourceUpdated('notes://today');
    server.addTool({ name: 'more', description: 'More' }, () => 'more');
    jest.advanceTimersByTime(1000);
    client.send({ id: 2, method: 'ping' });
    await client.response(2);
    expect(client.received.flatMap(({ method }) => method ?? [])).toEqual(['notifications/resources/updated']);
    await connection.close();
  });

  it('lives for 30 days if the principal does, longer than a timer can wait', async () => {
    const { client, connection } = await openStdio(30 * DAY);
    await client.initialize();
    jest.advanceTimersByTime(29 * DAY);
    expect(await client.call(1, 'read')).toMatchObject({ result: {} });
    jest.advanceTimersByTime(DAY);
    expect(await client.call(2, 'read')).toMatchObject({ error: EXPIRED });
    await connection.close();
  });

  it('leaves no timer behind when it is closed', async () => {
    const { connection } = await openStdio();
    expect(jest.getTimerCount()).toBeGreaterThan(0);
    await connection.close();
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('an in-memory connection whose principal expires (#22)', () => {
  it('refuses all requests, and ends `subscriptions/listen`', async () => {
    const { ask, received } = await openMemory();
    await ask(initialize('2025-03-26'));
    await ask({ method: 'notifications/initialized' });
    const listening = ask(LISTEN);
    jest.advanceTimersByTime(MINUTE);
    await listening;
    expect(received.at(-1)).toMatchObject({ id: 1, result: {} });
    await ask(call(2));
    expect(received.at(-1)).toEqual({ jsonrpc: '2.0', id: 2, error: EXPIRED });
  });

  it('refuses each request of a batch', async () => {
    const { ask, send, received } = await openMemory();
    await ask(initialize('2025-03-26'));
    jest.advanceTimersByTime(MINUTE);
    await send([call(1), call(2)].map((each) => ({ jsonrpc: '2.0', ...each })));
    expect(received.at(-1)).toEqual([1, 2].map((id) => ({ jsonrpc: '2.0', id, error: EXPIRED })));
  });

  it('does not end the connection of another principal', async () => {
    const { server, received } = await openMemory();
    const receive = (got: JsonRpcMessage) => void received.push(got);
    const other = await connectMemory(server, { receive, principal: { subject: 'bob', scopes: ['notes'] } });
    jest.advanceTimersByTime(MINUTE);
    await other.send({ jsonrpc: '2.0', ...call(1, { _meta: ENVELOPE }) });
    expect(received).toMatchObject([{ id: 1, result: {} }]);
  });
});
