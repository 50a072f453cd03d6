// The OAuth clients of others against an issuer of others: from the first 401 to a token with more scopes.
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuerOptions } from '@decorum/auth';
import * as openid from 'openid-client';
import { Client as ClientB } from 'sdk-1.11/client/index.js';
import { StreamableHTTPClientTransport as HttpB } from 'sdk-1.11/client/streamableHttp.js';

import { freePort } from '../support/dev-project.js';
import { Program, type Served, serve, startIssuer } from './processes.js';
import { CALLBACK, consent, User } from './user.js';

const INFO = { name: 'test', version: '1.0.0' };
/** The clients reconnect at once. */
const reconnectionOptions = {
  initialReconnectionDelay: 1,
  maxReconnectionDelay: 1,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 2,
};

const keyNamed = (kid: string) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid };
};
const [OLD, NEW] = ['old', 'new'].map(keyNamed) as [object, object];

let issuer: Program;
let opaque: Program;
let refreshing: Program;
let prefixing: Program;
/** oidc-provider with its own pages and defaults. */
let stock: Program;
let directory: string;
let stockPort: number;
const open: Served[] = [];

/** Starts the stock issuer at the same URL. It signs with the first of the keys. */
async function startStock(...keys: object[]): Promise<Program> {
  const file = join(directory, 'keys.json');
  await writeFile(file, JSON.stringify(keys));
  return await Program.start('stock-issuer.js', [`--port=${stockPort}`, `--keys=${file}`]);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'stock-issuer-'));
  stockPort = await freePort();
  [issuer, opaque, refreshing, prefixing, stock] = await Promise.all([
    startIssuer(),
    startIssuer('--opaque'),
    startIssuer('--refresh'),
    startIssuer('--prefix=api://files/'),
    startStock(OLD),
  ]);
});

afterAll(async () => {
  const issuers = [issuer, opaque, refreshing, prefixing, stock];
  await Promise.all([...issuers.map((each) => each.stop()), ...open.map((each) => each.close())]);
  await rm(directory, { recursive: true });
});

/** Clients register for the scopes of the first challenge, and the issuer keeps them to it. */
const OFFER = ['files:write'];

const withJwts = () => ({ issuer: issuer.url });
const withStock = () => ({ issuer: stock.url });

async function served(
  options: Parameters<typeof serve>[0] = withJwts,
  more: Parameters<typeof serve>[1] = {},
): Promise<Served> {
  const server = await serve((url) => ({ offer: OFFER, ...options(url) }), more);
  open.push(server);
  return server;
}

const INTROSPECTION = { clientId: 'mcp-server', clientSecret: 'mcp-secret' };
const byIntrospection = () => ({ issuer: { issuer: opaque.url, introspection: INTROSPECTION } });

interface Connected {
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

interface Transport {
  finishAuth(code: string, iss?: string): Promise<void>;
}

/** Connects as the SDKs want it: without a token, the first attempt ends at the issuer, and the second has one. */
async function signIn<T extends Transport>(
  user: User,
  create: () => T,
  connect: (transport: T) => Promise<unknown>,
): Promise<T> {
  if (user.tokens() === undefined) {
    const first = create();
    await expect(connect(first)).rejects.toThrow(/unauthorized/i);
    await first.finishAuth(...user.returned);
  }
  const second = create();
  await connect(second);
  return second;
}

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';
const call = (name: string) => ({ name, arguments: {} });

async function tellStory(user: User, client: Connected, transport: Transport, prefix = ''): Promise<void> {
  expect(JSON.parse(textOf(await client.callTool(call('whoami'))))).toMatchObject({
    subject: 'alice',
    clientId: user.clientInformation()?.client_id,
    scopes: ['mcp'],
  });
  await expect(client.callTool(call('write'))).rejects.toThrow(/unauthorized/i);
  await transport.finishAuth(...user.returned);
  expect(textOf(await client.callTool(call('write')))).toBe('written');
  expect(textOf(await client.callTool(call('whoami')))).toContain('files:write');
  const asked = user.asked.map((scope) => scope?.replace(' offline_access', ''));
  const all = `${prefix}mcp ${prefix}files:write`;
  expect(asked).toEqual([all, all]);
  await client.close();
}

/** A user who grants `files:write` only when a tool needs it. */
const declining = (prefix = '') => new User(undefined, `${prefix}files:write`);

type Connect = (url: string, user: User) => Promise<{ client: Connected; transport: Transport }>;

const signInV1 = async (url: string, user: User) => {
  const client = new ClientV1(INFO);
  const create = () => new HttpV1(new URL(url), { authProvider: user });
  return { client, transport: await signIn(user, create, (each) => client.connect(each as never)) };
};

const signInV2 = (mode: 'legacy' | 'auto' | { readonly pin: string }) => async (url: string, user: User) => {
  const client = new ClientV2(INFO, { versionNegotiation: { mode } });
  const create = () => new HttpV2(new URL(url), { authProvider: user });
  return {
    client: client as never as Connected,
    transport: await signIn(user, create, (each) => client.connect(each)),
  };
};

it.each<[string, string, () => { issuer: IssuerOptions | string }, Connect]>([
  ['the SDK 1.32', 'opaque tokens', byIntrospection, signInV1],
  ['the SDK 2.4, which probes for the revision', 'opaque tokens', byIntrospection, signInV2('auto')],
  ['the SDK 2.4 of revisions with sessions', 'JWTs', withJwts, signInV2('legacy')],
  ['the SDK 2.4 of 2026-07-28', 'JWTs', withJwts, signInV2({ pin: '2026-07-28' })],
  ['the SDK 1.32', 'oidc-provider as it comes', withStock, signInV1],
  ['the SDK 2.4', 'oidc-provider as it comes', withStock, signInV2('auto')],
])('%s signs in and asks for more scopes, with %s (#23)', async (_client, _kind, options, connect) => {
  const { url } = await served(options);
  const user = declining();
  const { client, transport } = await connect(url, user);
  await tellStory(user, client, transport);
});

it.each<[string, Connect]>([
  ['SDK 1.32', signInV1],
  ['SDK 2.4', signInV2('auto')],
])(
  'at an issuer that knows scopes by other names than its tokens, as Entra ID does, the %s signs in and asks for more (#23)',
  async (_name, connect) => {
    const prefix = 'api://files/';
    const { url } = await served(() => ({ issuer: { issuer: prefixing.url, scopePrefix: prefix } }));
    const user = declining(prefix);
    const { client, transport } = await connect(url, user);
    await tellStory(user, client, transport, prefix);
  },
);

it.each<[string, Connect]>([
  ['SDK 1.32', signInV1],
  ['SDK 2.4', signInV2('auto')],
])('the %s needs no other sign-in when the server has restarted (#23)', async (_name, connect) => {
  const before = await served(withStock);
  const user = new User();
  const { client } = await connect(before.url, user);
  await client.close();
  await before.close();
  open.pop();
  // takes the connection of the fetch pool that has just ended
  await fetch(before.url).catch(() => undefined);
  const after = await served(withStock, { port: Number(new URL(before.url).port) });
  const again = await connect(after.url, user);
  expect(textOf(await again.client.callTool(call('write')))).toBe('written');
  expect(user.asked).toHaveLength(1);
  await again.client.close();
});

it('tokens of both keys of oidc-provider are accepted while it publishes both (#23)', async () => {
  let ahead = 0;
  const { url } = await served(withStock, { now: () => Date.now() + ahead });
  const kidOf = (user: User): unknown => {
    const [header = ''] = user.tokens()?.access_token.split('.') ?? [];
    return (JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: unknown }).kid;
  };
  const [early, late] = [new User(), new User()];
  const first = await signInV1(url, early);
  await stock.stop();
  stock = await startStock(NEW, OLD);
  // longer than the shortest time between two requests for an issuer's keys
  ahead = 6000;
  const second = await signInV2('legacy')(url, late);
  expect([kidOf(early), kidOf(late)]).toEqual(['old', 'new']);
  expect(textOf(await first.client.callTool(call('whoami')))).toContain('alice');
  expect(textOf(await second.client.callTool(call('whoami')))).toContain('alice');
  await Promise.all([first.client.close(), second.client.close()]);
});

describe('with refresh tokens', () => {
  it('the SDK 2.4 asks the user for more scopes all the same', async () => {
    const { url } = await served(() => ({ issuer: refreshing.url }));
    const user = declining();
    const { client, transport } = await signInV2('legacy')(url, user);
    expect(user.tokens()).toMatchObject({ refresh_token: expect.any(String) });
    await tellStory(user, client, transport);
    expect(user.tokens()).toMatchObject({ refresh_token: expect.any(String) });
  });

  it('the SDK 1.32 only refreshes its token, and gives up without asking endlessly', async () => {
    const { url, ran } = await served(() => ({ issuer: refreshing.url }));
    const user = declining();
    const { client } = await signInV1(url, user);
    const before = user.tokens();
    await expect(client.callTool(call('write'))).rejects.toThrow('Server returned 403 after trying upscoping');
    expect(user.tokens()?.access_token).not.toBe(before?.access_token);
    expect([user.asked, ran]).toEqual([['mcp files:write'], []]);
    // it can still call what its token allows
    expect(textOf(await client.callTool(call('whoami')))).toContain('alice');
    await client.close();
  });
});

describe('over HTTP+SSE', () => {
  it('the SDK 1.32 signs in, and a tool that needs more scopes does not run', async () => {
    const { url, ran } = await served();
    const user = declining();
    let client = new ClientV1(INFO);
    const create = () => new SseV1(new URL(`${url}/sse`), { authProvider: user });
    await signIn(user, create, async (each) => {
      client = new ClientV1(INFO);
      await client.connect(each as never);
    });
    expect(textOf(await client.callTool(call('whoami')))).toContain('alice');
    await expect(client.callTool(call('write'))).rejects.toThrow(/403/);
    expect(ran).toEqual(['whoami']);
    await client.close();
  });

  it('the SDK 1.32 connects again after it has signed in (#22)', async () => {
    const { url } = await served(withJwts, { isOpen: true });
    const user = new User();
    const connect = async () => {
      const client = new ClientV1(INFO);
      const transport = new SseV1(new URL(`${url}/sse`), { authProvider: user });
      await client.connect(transport as never);
      return { client, transport };
    };
    const first = await connect();
    expect(textOf(await first.client.callTool(call('about')))).toBe('about');
    await expect(first.client.callTool(call('whoami'))).rejects.toThrow(/unauthorized/i);
    await first.transport.finishAuth(user.returned[0]);
    const ended = new Promise<void>((resolve) => void Object.assign(first.transport, { onerror: resolve }));
    await expect(first.client.callTool(call('whoami'))).rejects.toThrow(/404/);
    await ended;
    await first.client.close();
    const second = await connect();
    expect(textOf(await second.client.callTool(call('whoami')))).toContain('"subject":"alice"');
    await second.client.close();
  });
});

it('the SDK 1.11 of 2025-03-26, which looks for the issuer here, finds it by the copy of its metadata', async () => {
  // it asks for no resource, and gets a token for the issuer's default
  const audience = 'https://mcp.example.com/mcp';
  const { url, ran } = await served((resource) => ({ issuer: issuer.url, audience, resource }));
  // nor does it read scopes from the challenge
  const user = new User('mcp');
  const client = new ClientB(INFO);
  const create = () => new HttpB(new URL(url), { authProvider: user as never });
  await signIn(user, create, (each) => client.connect(each as never));
  expect(textOf(await client.callTool(call('whoami')))).toContain('alice');
  await expect(client.callTool(call('write'))).rejects.toThrow(/403/);
  expect(ran).toEqual(['whoami']);
  await client.close();
});

describe('openid-client', () => {
  it('gets from the challenge to a call, and to one with more scopes', async () => {
    const { url } = await served();
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': INFO,
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const post = async (name: string, token?: string) =>
      await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': name,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, _meta: meta } }),
      });
    const param = (response: Response, name: string) =>
      new RegExp(`${name}="([^"]*)"`).exec(response.headers.get('www-authenticate') ?? '')?.[1] ?? '';
    const anonymous = await post('whoami');
    expect([anonymous.status, param(anonymous, 'error')]).toEqual([401, '']);
    const metadata = (await (await fetch(param(anonymous, 'resource_metadata'))).json()) as Record<string, string[]>;
    expect(metadata['resource']).toBe(url);
    const client = await openid.dynamicClientRegistration(
      new URL(metadata['authorization_servers']?.[0] as string),
      { redirect_uris: [CALLBACK], application_type: 'native' },
      openid.None(),
      { execute: [openid.allowInsecureRequests], algorithm: 'oauth2' },
    );
    const tokenFor = async (scope: string): Promise<string> => {
      const pkceCodeVerifier = openid.randomPKCECodeVerifier();
      const authorization = openid.buildAuthorizationUrl(client, {
        redirect_uri: CALLBACK,
        scope,
        resource: url,
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      });
      const returned = await consent(authorization);
      const grant = await openid.authorizationCodeGrant(client, returned, { pkceCodeVerifier }, { resource: url });
      return grant.access_token;
    };
    expect(param(anonymous, 'scope')).toBe('mcp files:write');
    const token = await tokenFor('mcp');
    expect((await post('whoami', token)).status).toBe(200);
    const denied = await post('write', token);
    const challenge = ['error', 'scope'].map((name) => param(denied, name));
    expect([denied.status, ...challenge]).toEqual([403, 'insufficient_scope', 'mcp files:write']);
    expect((await post('write', await tokenFor(param(denied, 'scope')))).status).toBe(200);
  });
});

/** Counts what a client hears. */
class Heard {
  private count = 0;
  private waiting: (() => void)[] = [];

  readonly note = (): void => {
    this.count += 1;
    for (const resolve of this.waiting.splice(0)) resolve();
  };

  /** Waits until the client has heard something since the last call. */
  async more(): Promise<void> {
    while (this.count === 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.count = 0;
  }
}

describe.each([
  [
    'the SDK 1.32',
    async (url: URL, authProvider: User, heard: Heard) => {
      const client = new ClientV1(INFO);
      client.setNotificationHandler(ToolListChangedNotificationSchema, heard.note);
      const transport = new HttpV1(url, { authProvider, reconnectionOptions });
      await client.connect(transport as never);
      return { client, transport };
    },
  ],
  [
    'the SDK 2.4',
    async (url: URL, authProvider: User, heard: Heard) => {
      const client = new ClientV2(INFO, { versionNegotiation: { mode: 'legacy' } });
      client.setNotificationHandler('notifications/tools/list_changed', heard.note);
      const transport = new HttpV2(url, { authProvider, reconnectionOptions });
      await client.connect(transport);
      return { client, transport };
    },
  ],
] as const)('%s, connected without a token,', (_name, connect) => {
  it('keeps its session when it signs in, and hears of changes from then on (#22)', async () => {
    const { url, server } = await served(withJwts, { isOpen: true });
    const [user, heard] = [new User(), new Heard()];
    const { client, transport } = await connect(new URL(url), user, heard);
    const { sessionId } = transport;
    expect(textOf(await client.callTool(call('about')))).toBe('about');
    await expect(client.callTool(call('whoami'))).rejects.toThrow(/unauthorized/i);
    await transport.finishAuth(...user.returned);
    expect(textOf(await client.callTool(call('whoami')))).toContain('"subject":"alice"');
    expect(transport.sessionId).toBe(sessionId);
    // its stream ends, it opens another one, and reads the lists again
    await heard.more();
    server.notify.toolsChanged();
    await heard.more();
    expect(textOf(await client.callTool(call('about')))).toBe('about');
    const stolen = { 'mcp-session-id': sessionId as string, accept: 'text/event-stream' };
    const { status, headers } = await fetch(url, { headers: stolen });
    const challenge = expect.stringContaining('resource_metadata=');
    expect([status, headers.get('www-authenticate')]).toEqual([401, challenge]);
    await client.close();
  });
});

async function connectTo(url: string, user?: User): Promise<ClientV1> {
  const client = new ClientV1(INFO);
  const options = user === undefined ? {} : { authProvider: user };
  await client.connect(new HttpV1(new URL(url), options) as never);
  return client;
}

/** The parameters of the challenge in a result. */
function challengeIn(result: unknown): { readonly scope: string; readonly metadata: URL } {
  const { isError, _meta: meta } = result as { isError?: boolean; _meta?: Record<string, string[]> };
  const [challenge = ''] = meta?.['mcp/www_authenticate'] ?? [];
  const valueOf = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1] ?? '';
  expect([isError, valueOf('error')]).toEqual([true, 'insufficient_scope']);
  expect(valueOf('error_description')).not.toBe('');
  return { scope: valueOf('scope'), metadata: new URL(valueOf('resource_metadata')) };
}

async function signInBy({ scope, metadata }: ReturnType<typeof challengeIn>, url: string, user: User): Promise<void> {
  const about = { serverUrl: url, scope, resourceMetadataUrl: metadata };
  expect(await auth(user, about)).toBe('REDIRECT');
  const [authorizationCode] = user.returned;
  expect(await auth(user, { ...about, authorizationCode })).toBe('AUTHORIZED');
}

describe('a client that starts the sign-in from the result of a tool, as ChatGPT does,', () => {
  it('finds in the list which tools need one, signs in by a refused call, and asks for more by the next (#23)', async () => {
    const { url, ran } = await served(() => ({ issuer: issuer.url, toolSignIn: true }), { isOpen: true });
    const anonymous = await connectTo(url);
    const { tools } = await anonymous.listTools();
    const schemes = Object.fromEntries(tools.map(({ name, _meta: meta }) => [name, meta?.['securitySchemes']]));
    expect(schemes).toEqual({
      about: [{ type: 'noauth' }],
      whoami: [{ type: 'oauth2', scopes: ['mcp'] }],
      write: [{ type: 'oauth2', scopes: ['mcp', 'files:write'] }],
    });
    expect(await anonymous.callTool({ name: 'about' })).toMatchObject({ content: [{ text: 'about' }] });

    // the user grants no more than is needed at first
    const user = declining();
    await signInBy(challengeIn(await anonymous.callTool({ name: 'whoami' })), url, user);
    await anonymous.close();
    const client = await connectTo(url, user);
    expect(JSON.stringify(await client.callTool({ name: 'whoami' }))).toContain('alice');

    const more = challengeIn(await client.callTool({ name: 'write' }));
    expect(more.scope).toBe('mcp files:write');
    user.saveTokens(undefined);
    await signInBy(more, url, user);
    expect(await client.callTool({ name: 'write' })).toMatchObject({ content: [{ text: 'written' }] });
    await client.close();
    expect(ran).toEqual(['whoami', 'write']);
  });
});
