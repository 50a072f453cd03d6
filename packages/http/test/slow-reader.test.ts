import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import type { McpServer } from '@decorum/core';

import { call, modern, modernHeaders, openSession, post, request } from './fixture.js';
import { open, start } from './paused.js';

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly uri?: string };
}

const NOTIFICATIONS = { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['docs://guide'] };
const LISTEN = modern('sub', 'subscriptions/listen', { notifications: NOTIFICATIONS });
const LISTEN_HEADERS = { ...modernHeaders('subscriptions/listen'), 'content-type': 'application/json' };
const PARTS = ['docs://guide/a', 'docs://guide/b', 'docs://guide/c'];
const LISTS = ['notifications/tools/list_changed', 'notifications/prompts/list_changed'];

/** The changes that every reader gets in the end. */
const ALL = [...PARTS, ...LISTS].sort();

const listen = (url: string) => open(url, LISTEN_HEADERS, LISTEN);

async function openGet(url: string): Promise<IncomingMessage> {
  const session = await openSession(url);
  await (await post(url, request(1, 'resources/subscribe', { uri: 'docs://guide' }), session)).text();
  return await open(url, session);
}

/** Sends changes of different resources until the sockets are full. Returns their number. */
async function backUp(server: McpServer, answer: ServerResponse): Promise<number> {
  const path = 'x'.repeat(20_000);
  let count = 0;
  for (let quiet = 0; quiet < 50; quiet += 1) {
    if (!answer.writableNeedDrain) quiet = 0;
    if (quiet === 0) server.notify.resourceUpdated(`docs://guide/${(count += 1)}/${path}`, 'docs://guide');
    await turn();
  }
  return count;
}

/** Sends 100,000 changes of three resources, with list changes in between. */
async function flood(server: McpServer): Promise<void> {
  for (let n = 0; n < 100_000; n += 1) {
    server.notify.resourceUpdated(PARTS[n % PARTS.length] as string, 'docs://guide');
    if (n % 1000 !== 0) continue;
    server.notify.toolsChanged();
    server.notify.promptsChanged();
    await turn();
  }
}

/** Reads until all expected changes have arrived, then calls `end`. Returns all messages of the stream. */
async function readAll(response: IncomingMessage, end: () => unknown): Promise<Message[]> {
  const messages: Message[] = [];
  const missing = new Set(ALL);
  let rest = '';
  for await (const chunk of response) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) if (line.startsWith('data: {')) messages.push(JSON.parse(line.slice(6)) as Message);
    if (missing.size === 0) continue;
    for (const { method = '', params } of messages) missing.delete(params?.uri ?? method);
    if (missing.size === 0) void end();
  }
  return messages;
}

const subjects = (messages: readonly Message[]) => messages.map(({ method, params }) => params?.uri ?? method);

describe('a stalled reader', () => {
  it.each([
    ['subscriptions/listen', listen],
    ['the GET stream of a session', openGet],
  ])('of %s costs no memory, and gets every change once it reads', async (_which, begin) => {
    const { url, server, app, answers } = await start();
    const response = await begin(url);
    const answer = answers.at(-1) as ServerResponse;
    const before = await backUp(server, answer);
    const waiting = answer.writableLength;
    await flood(server);
    expect(answer.writableLength).toBeLessThanOrEqual(waiting);
    const messages = await readAll(response, () => app.close());
    const after = messages.findLastIndex(({ params }) => params?.uri?.startsWith(`docs://guide/${before}/`)) + 1;
    expect(after).toBeGreaterThanOrEqual(before);
    const changes = subjects(messages.slice(after)).filter((subject) => subject !== undefined);
    // the sockets may have drained a little in between, and then changes are buffered again
    expect(changes.length).toBeLessThan(50);
    expect([...new Set(changes)].sort()).toEqual(ALL);
  });

  it('gets the acknowledgement first and the result last, even if changes are dropped', async () => {
    const { url, server, app, answers } = await start({ limits: { maxBufferedBytes: 1 } });
    const response = await listen(url);
    await backUp(server, answers.at(-1) as ServerResponse);
    // the buffer has no room for changes
    for (const part of PARTS) server.notify.resourceUpdated(part, 'docs://guide');
    const closing = app.close();
    const messages = await readAll(response, () => {});
    await closing;
    expect(messages[0]).toMatchObject({ method: 'notifications/subscriptions/acknowledged' });
    expect(messages.at(-1)).toMatchObject({ id: 'sub', result: { resultType: 'complete' } });
    expect(subjects(messages)).not.toContain(PARTS[0]);
  });

  it('loses different changes only beyond the limit', async () => {
    const { url, server, app, answers } = await start({ limits: { maxBufferedBytes: 200_000 } });
    const response = await listen(url);
    await backUp(server, answers.at(-1) as ServerResponse);
    const uris = Array.from({ length: 400 }, (_, n) => `docs://guide/p${n}/${'y'.repeat(1000)}`);
    for (const uri of uris) server.notify.resourceUpdated(uri, 'docs://guide');
    const closing = app.close();
    const heard = subjects(await readAll(response, () => {})).filter((uri) => uri?.startsWith('docs://guide/p'));
    await closing;
    expect(heard).toEqual(uris.slice(0, heard.length));
    expect(heard.length).toBeGreaterThan(150);
    expect(heard.length).toBeLessThan(200);
  });

  it('gets no keep-alive comments, while others do', async () => {
    const { url, server, answers } = await start({ keepAliveMs: 5 });
    await listen(url);
    const answer = answers.at(-1) as ServerResponse;
    await backUp(server, answer);
    const waiting = answer.writableLength;
    const other = { notifications: { toolsListChanged: true } };
    const reader = await open(url, LISTEN_HEADERS, modern(2, 'subscriptions/listen', other));
    let text = '';
    for await (const chunk of reader) {
      text += String(chunk);
      if (text.split(': keep-alive').length > 5) break;
    }
    expect(answer.writableLength).toBe(waiting);
  });
});

describe('an HTTP+SSE client that keeps sending requests without reading responses', () => {
  it('is disconnected before the responses pile up, and notices it', async () => {
    const { url, server, answers } = await start({ legacySse: true, limits: { maxBufferedBytes: 100_000 } });
    server.addTool({ name: 'large', description: 'Says a lot' }, () => 'x'.repeat(500_000));
    const stream = await open(new URL('/sse', url).href, {});
    const answer = answers[0] as ServerResponse;
    const closed = once(answer, 'close');
    stream.resume();
    const [first] = (await once(stream, 'data')) as [Buffer];
    stream.pause();
    const messages = new URL(/^data: (.+)$/m.exec(String(first))?.[1] as string, url).href;
    const initialize = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'a', version: '1' } };
    await post(messages, request(0, 'initialize', initialize));
    await post(messages, { jsonrpc: '2.0', method: 'notifications/initialized' });
    let most = 0;
    for (let id = 1; id < 100 && !answer.destroyed; id += 1) {
      expect((await post(messages, call(id, 'large'))).status).toBe(202);
      await turn();
      most = Math.max(most, answer.writableLength);
    }
    await closed;
    // the limit plus one write
    expect(most).toBeLessThan(16 * 100_000 + 600_000);
    expect((await post(messages, request(0, 'ping'))).status).toBe(404);
    await expect(stream.toArray()).rejects.toThrow('aborted');
  });
});
