// What clients do with the weather server, the same in every application.
import { expect } from '@jest/globals';
import type { JsonObject } from '@decorum/core';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { json, modernCall, modernHeaders, post } from '../../packages/http/test/fixture.js';
import { BODY_LIMIT } from './inside.js';

const INFO = { name: 'frameworks', version: '1.0.0' };

/** The members that both versions of the official client share. */
interface Client extends Pick<
  ClientV1,
  'close' | 'listTools' | 'listResources' | 'readResource' | 'getPrompt' | 'complete'
> {
  callTool(params: { name: string; arguments: object }, ...options: unknown[]): Promise<unknown>;
}

/** Connects a client of one SDK version, in one revision. */
type Connect = (url: string) => Promise<Client>;

/** Makes the client of SDK 1 request an older revision instead of its newest one. */
function offering(revision: string, transport: HttpV1): HttpV1 {
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    if (!Array.isArray(message) && 'method' in message && message.method === 'initialize') {
      await send({ ...message, params: { ...message.params, protocolVersion: revision } }, options);
    } else await send(message, options);
  };
  return transport;
}

const withV1 =
  (revision: string): Connect =>
  async (url) => {
    const client = new ClientV1(INFO);
    await client.connect(offering(revision, new HttpV1(new URL(url))) as Parameters<ClientV1['connect']>[0]);
    return client as unknown as Client;
  };

const withV2 =
  (mode: 'legacy' | { pin: string }): Connect =>
  async (url) => {
    const client = new ClientV2(INFO, { versionNegotiation: { mode } });
    await client.connect(new HttpV2(new URL(url)));
    return client as unknown as Client;
  };

/** Connects a client to a program that a command runs. */
export const overStdio =
  (command: string, ...args: readonly string[]): Connect =>
  async (program) => {
    const client = new ClientV1(INFO);
    await client.connect(new StdioV1({ command, args: [...args, program, '--stdio'] }));
    return client as unknown as Client;
  };

/** The official clients, in each revision that they can speak. */
export const CLIENTS: readonly (readonly [name: string, connect: Connect])[] = [
  ...['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'].map(
    (revision) => [`SDK 1 in ${revision}`, withV1(revision)] as const,
  ),
  ['SDK 2 in a session', withV2('legacy')],
  ['SDK 2 in 2026-07-28', withV2({ pin: '2026-07-28' })],
];

/** Calls `walk`, which ends only if its progress arrives while it runs. */
async function walk(client: Client): Promise<void> {
  const seen: Promise<unknown>[] = [];
  const options = {
    onprogress: () => void seen.push(client.callTool({ name: 'seen', arguments: {} })),
  };
  const given = (client as object) instanceof ClientV1 ? [undefined, options] : [options];
  const result = await client.callTool({ name: 'walk', arguments: {} }, ...given);
  expect(result).toMatchObject({ content: [{ text: 'walked' }] });
  expect(await Promise.all(seen)).toHaveLength(1);
}

/** Performs the actions of each client. */
export async function useWeather(connect: Connect, url: string): Promise<void> {
  const client = await connect(url);
  try {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('forecast');
    const forecast = await client.callTool({ name: 'forecast', arguments: { city: 'Oslo' } });
    expect(JSON.stringify(forecast)).toContain('snow');
    const wrong = await client.callTool({ name: 'forecast', arguments: { units: 'kelvin' } });
    expect(wrong).toMatchObject({ isError: true });
    expect(JSON.stringify(wrong)).toMatch(/city.*units/s);
    const unknown = await client.callTool({ name: 'forecast', arguments: { city: 'Atlantis' } });
    expect(JSON.stringify(unknown)).toContain('Bergen, Oslo, Rome');
    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name)).toEqual(['Bergen', 'Oslo', 'Rome']);
    const { contents } = await client.readResource({ uri: 'weather://Rome/today' });
    expect(JSON.parse((contents[0] as { text: string }).text)).toEqual({ city: 'Rome', sky: 'sun', celsius: 21 });
    const { messages } = await client.getPrompt({ name: 'pack', arguments: { city: 'Oslo' } });
    expect(messages).toMatchObject([{ role: 'user', content: { type: 'text' } }]);
    const ref = { type: 'ref/prompt', name: 'pack' } as const;
    const { completion } = await client.complete({ ref, argument: { name: 'city', value: 'b' } });
    expect(completion.values).toEqual(['Bergen']);
    if (tools.some(({ name }) => name === 'walk')) await walk(client);
  } finally {
    await client.close();
  }
}

/** Sends a body of 1 MiB, and a body over the limit. */
export async function sendLargeBodies(
  url: string,
  name = 'forecast',
  args: JsonObject = { city: 'Oslo' },
): Promise<void> {
  const ask = (size: number) =>
    post(url, modernCall(1, name, args, { note: 'x'.repeat(size) }), modernHeaders('tools/call', name));
  const served = await ask(2 ** 20);
  expect([served.status, (await json(served)).error]).toEqual([200, undefined]);
  const refused = await ask(BODY_LIMIT);
  expect([refused.status, (await json(refused)).error?.code]).toEqual([413, -32600]);
}
