// oidc-provider with its own pages and defaults, and the official clients.
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';

import { Program, type Served, serve } from './processes.js';
import { User } from './user.js';

const INFO = { name: 'test', version: '1.0.0' };
/** Longer than the shortest time between two requests for an issuer's keys. */
const LATER_MS = 6000;

const keyNamed = (kid: string) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid };
};
const OLD = keyNamed('old');
const NEW = keyNamed('new');

let directory: string;
let port: string;
let issuer: Program;
let ahead = 0;
const open: Served[] = [];

/** Starts the issuer at the same URL. It signs with the first of the keys. */
async function startWith(...keys: object[]): Promise<void> {
  const file = join(directory, 'keys.json');
  await writeFile(file, JSON.stringify(keys));
  issuer = await Program.start('stock-issuer.js', [`--port=${port}`, `--keys=${file}`]);
}

async function served(at = 0): Promise<Served> {
  const options = () => ({ issuer: issuer.url, offer: ['files:write'] });
  const server = await serve(options, { port: at, now: () => Date.now() + ahead });
  open.push(server);
  return server;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stock-issuer-'));
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  port = String((probe.address() as AddressInfo).port);
  probe.close();
  await once(probe, 'close');
  await startWith(OLD);
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

afterAll(async () => {
  await issuer.stop();
  await rm(directory, { recursive: true });
});

const connectV1 = async (url: string, user: User) => {
  const client = new ClientV1(INFO);
  const transport = () => new HttpV1(new URL(url), { authProvider: user });
  const connect = (each: HttpV1) => client.connect(each as never);
  return { client, ...(await connected(user, transport, connect)) };
};

const connectV2 = (mode: 'legacy' | 'auto') => async (url: string, user: User) => {
  const client = new ClientV2(INFO, { versionNegotiation: { mode } });
  const transport = () => new HttpV2(new URL(url), { authProvider: user });
  return { client, ...(await connected(user, transport, (each) => client.connect(each))) };
};

/** Connects, after a visit to the issuer's pages if the user has no token yet. */
async function connected<T extends { finishAuth(code: string, iss?: string): Promise<void> }>(
  user: User,
  create: () => T,
  connect: (transport: T) => Promise<unknown>,
): Promise<{ transport: T }> {
  if (user.tokens() === undefined) {
    const first = create();
    await expect(connect(first)).rejects.toThrow(/unauthorized/i);
    await first.finishAuth(...user.returned);
  }
  const transport = create();
  await connect(transport);
  return { transport };
}

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';
const call = (name: string) => ({ name, arguments: {} });
const kidOf = (user: User): unknown => {
  const [header = ''] = user.tokens()?.access_token.split('.') ?? [];
  return (JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: unknown }).kid;
};

describe.each([
  ['the SDK 1.32', connectV1],
  ['the SDK 2.4', connectV2('auto')],
] as const)('oidc-provider as it comes: %s', (_name, connect) => {
  it('signs in, and asks for a scope when a tool needs it (#23)', async () => {
    const { url } = await served();
    // the issuer keeps clients to the scopes that they have registered for, so this needs `offer`
    const user = new User(undefined, 'files:write');
    const { client, transport } = await connect(url, user);
    expect(JSON.parse(textOf(await client.callTool(call('whoami'))))).toMatchObject({
      subject: 'alice',
      scopes: ['mcp'],
    });
    await expect(client.callTool(call('write'))).rejects.toThrow(/unauthorized/i);
    await transport.finishAuth(...user.returned);
    expect(textOf(await client.callTool(call('write')))).toBe('written');
    await client.close();
  });

  it('needs no other sign-in when the server has restarted (#23)', async () => {
    const before = await served();
    const user = new User();
    const { client } = await connect(before.url, user);
    await client.close();
    await before.close();
    open.pop();
    // takes the connection of the fetch pool that has just ended
    await fetch(before.url).catch(() => undefined);
    const after = await served(Number(new URL(before.url).port));
    const again = await connect(after.url, user);
    expect(textOf(await again.client.callTool(call('write')))).toBe('written');
    expect(user.asked).toHaveLength(1);
    await again.client.close();
  });
});

describe('when oidc-provider changes its key,', () => {
  it('tokens of both keys are accepted while it publishes both (#23)', async () => {
    const { url } = await served();
    const [early, late] = [new User(), new User()];
    const first = await connectV1(url, early);
    await issuer.stop();
    await startWith(NEW, OLD);
    ahead += LATER_MS;
    const second = await connectV2('legacy')(url, late);
    expect([kidOf(early), kidOf(late)]).toEqual(['old', 'new']);
    expect(textOf(await first.client.callTool(call('whoami')))).toContain('alice');
    expect(textOf(await second.client.callTool(call('whoami')))).toContain('alice');
    await Promise.all([first.client.close(), second.client.close()]);
  });
});
