// Servers of the official SDK behind a proxy, for clients with and without sessions.
import { fileURLToPath } from 'node:url';

import { afterEach, expect, it } from '@jest/globals';
import { type Client, connectClient, type ConnectTarget, proxy } from '@decorum/client';
import { McpServer } from '@decorum/core';

import { ExampleProcess } from './example-process.js';

const PROGRAM = fileURLToPath(new URL('sdk-servers.js', import.meta.url));

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function targetOf(version: string, via: string): Promise<ConnectTarget> {
  if (via === 'stdio') return { command: process.execPath, args: [PROGRAM, version, via] };
  const server = await ExampleProcess.start(PROGRAM, version, via);
  open.push(async () => await server.stop());
  return server.url;
}

async function clientOf(target: ConnectTarget, via: string, revision: string): Promise<Client> {
  const own = via === 'stdio' ? ({ process: 'session' } as const) : {};
  const upstream = proxy(target, { prefix: 'sdk', forward: { sampling: true }, ...own });
  const server = new McpServer({ name: 'front', version: '1.0.0', providers: [upstream] });
  const onSample = () => 'Me';
  const client = await connectClient(server, { revision, onSample, principal: { subject: 'ann' } });
  open.push(async () => {
    await client.close();
    await server.close();
  });
  return client;
}

const [WITH_SESSIONS, WITHOUT] = ['2025-11-25', '2026-07-28'] as const;

/** Each version with both kinds of clients, over each of its transports. */
const SERVERS = [
  ['0.6', 'stdio', WITH_SESSIONS],
  ['0.6', 'sse', WITHOUT],
  ['1.10', 'http', WITH_SESSIONS],
  ['1.10', 'http', WITHOUT],
  ['1.11', 'http', WITH_SESSIONS],
  ['1.11', 'http', WITHOUT],
  ['1.13', 'stdio', WITHOUT],
  ['1.13', 'http', WITH_SESSIONS],
  ['1.32', 'stdio', WITH_SESSIONS],
  ['1.32', 'http', WITHOUT],
  ['2', 'stdio', WITHOUT],
  ['2', 'http', WITH_SESSIONS],
] as const;

it.each(SERVERS)(
  'a server with SDK %s over %s behind a proxy calls, asks, reports and cancels for clients of %s',
  async (version, via, revision) => {
    const client = await clientOf(await targetOf(version, via), via, revision);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['sdk_add', 'sdk_count', 'sdk_ask', 'sdk_hang']);
    expect(await client.callTool('sdk_add', { a: 1, b: 2 })).toMatchObject({ content: [{ text: '3' }] });
    const progress: unknown[] = [];
    await client.callTool('sdk_count', {}, { onProgress: (done, total) => void progress.push(done, total) });
    expect(progress).toEqual([1, 1]);
    expect(await client.callTool('sdk_ask')).toMatchObject({ content: [{ text: 'Me' }] });
    const control = new AbortController();
    const hanging = client.callTool('sdk_hang', {}, { signal: control.signal });
    control.abort();
    await expect(hanging).rejects.toThrow('abort');
    expect(await client.callTool('sdk_add', { a: 1, b: 2 })).toMatchObject({ content: [{ text: '3' }] });
  },
);
