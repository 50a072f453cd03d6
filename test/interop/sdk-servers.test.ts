// Our client against servers of the official SDK from the time of each revision.
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect, it } from '@jest/globals';
import { type Client, type ClientOptions, connectClient, type ConnectTarget } from '@decorum/client';

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

async function clientOf(target: ConnectTarget, options: ClientOptions): Promise<Client> {
  const client = await connectClient(target, options);
  open.push(async () => await client.close());
  return client;
}

describe.each([
  ['0.6', 'stdio', '2024-11-05'],
  ['0.6', 'sse', '2024-11-05'],
  ['1.10', 'stdio', '2024-11-05'],
  ['1.10', 'http', '2024-11-05'],
  ['1.11', 'http', '2025-03-26'],
  ['1.13', 'stdio', '2025-06-18'],
  ['1.13', 'http', '2025-06-18'],
  ['1.32', 'stdio', '2025-11-25'],
  ['1.32', 'http', '2025-11-25'],
  ['1.32', 'sse', '2025-11-25'],
  ['2', 'stdio', '2026-07-28'],
  ['2', 'http', '2026-07-28'],
])('a client of a server with SDK %s over %s', (version, via, revision) => {
  it(`agrees on ${revision}, and calls, lists, asks, follows and cancels`, async () => {
    const asked: unknown[] = [];
    const client = await clientOf(await targetOf(version, via), {
      onSample(question, call) {
        asked.push(question.messages.length, call?.params['name']);
        return 'Me';
      },
    });
    expect(client.revision).toBe(revision);
    expect(client.serverInfo?.name).toMatch(/^sdk-/);
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['add', 'count', 'ask', 'hang']);
    expect(await client.callTool('add', { a: 1, b: 2 })).toMatchObject({ content: [{ text: '3' }] });
    const progress: unknown[] = [];
    await client.callTool('count', {}, { onProgress: (done, total) => void progress.push(done, total) });
    expect(progress).toEqual([1, 1]);
    expect(await client.callTool('ask')).toMatchObject({ content: [{ text: 'Me' }] });
    expect(asked).toEqual([1, 'ask']);
    await client.ping();
    await expect(client.callTool('hang', {}, { timeoutMs: 50 })).rejects.toMatchObject({ code: 'timeout' });
    await client.ping();
  });
});
