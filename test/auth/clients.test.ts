// The OAuth clients of others against an issuer of others: from the first 401 to a token with more scopes.
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { IssuerOptions } from '@decorum/auth';
import * as openid from 'openid-client';
import { Client as ClientB } from 'sdk-1.11/client/index.js';
import { StreamableHTTPClientTransport as HttpB } from 'sdk-1.11/client/streamableHttp.js';

import { type Program, type Served, serve, startIssuer } from './processes.js';
import { CALLBACK, consent, User } from './user.js';

const INFO = { name: 'test', version: '1.0.0' };

let issuer: Program;
let opaque: Program;
let refreshing: Program;
let prefixing: Program;
const open: Served[] = [];

beforeAll(async () => {
  [issuer, opaque, refreshing, prefixing] = await Promise.all([
    startIssuer(),
    startIssuer('--opaque'),
    startIssuer('--refresh'),
    startIssuer('--prefix=api://files/'),
  ]);
});

afterAll(async () => {
  const issuers = [issuer, opaque, refreshing, prefixing];
  await Promise.all([...issuers.map((each) => each.stop()), ...open.map((each) => each.close())]);
});

/** Clients register for the scopes of the first challenge, and the issuer keeps them to it. */
const OFFER = ['files:write'];

const withJwts = () => ({ issuer: issuer.url });

async function served(options: Parameters<typeof serve>[0] = withJwts): Promise<Served> {
  const server = await serve((url) => ({ offer: OFFER, ...options(url) }));
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

/** Connects as the SDKs want it: the first attempt ends at the issuer, the second has a token. */
async function signIn<T extends Transport>(
  user: User,
  create: () => T,
  connect: (transport: T) => Promise<unknown>,
): Promise<T> {
  const first = create();
  await expect(connect(first)).rejects.toThrow(/unauthorized/i);
  await first.finishAuth(...user.returned);
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

async function signInV1(url: string, user: User) {
  const client = new ClientV1(INFO);
  const create = () => new HttpV1(new URL(url), { authProvider: user });
  return { client, transport: await signIn(user, create, (each) => client.connect(each as never)) };
}

type Mode = 'legacy' | 'auto' | { readonly pin: string };

async function signInV2(url: string, user: User, mode: Mode) {
  const client = new ClientV2(INFO, { versionNegotiation: { mode } });
  const create = () => new HttpV2(new URL(url), { authProvider: user });
  return {
    client: client as never as Connected,
    transport: await signIn(user, create, (each) => client.connect(each)),
  };
}

type Connect = (url: string, user: User) => Promise<{ client: Connected; transport: Transport }>;

// the SDK 1.32, and the SDK 2.4 in its default mode, get JWTs in `stock-issuer.test.ts`
it.each<[string, string, () => { issuer: IssuerOptions | string }, Connect]>([
  ['the SDK 1.32', 'opaque tokens', byIntrospection, signInV1],
  ['the SDK 2.4, which probes for the revision', 'opaque tokens', byIntrospection, (...to) => signInV2(...to, 'auto')],
  ['the SDK 2.4 of revisions with sessions', 'JWTs', withJwts, (...to) => signInV2(...to, 'legacy')],
  ['the SDK 2.4 of 2026-07-28', 'JWTs', withJwts, (...to) => signInV2(...to, { pin: '2026-07-28' })],
])('%s signs in and asks for more scopes, with %s', async (_client, _kind, options, connect) => {
  const { url } = await served(options);
  const user = declining();
  const { client, transport } = await connect(url, user);
  await tellStory(user, client, transport);
});

describe('with refresh tokens', () => {
  it('the SDK 2.4 asks the user for more scopes all the same', async () => {
    const { url } = await served(() => ({ issuer: refreshing.url }));
    const user = declining();
    const { client, transport } = await signInV2(url, user, 'legacy');
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

it.each<[string, Connect]>([
  ['SDK 1.32', signInV1],
  ['SDK 2.4', (...to) => signInV2(...to, 'auto')],
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
});

describe('clients of 2025-03-26, which look for the issuer here', () => {
  it('the SDK 1.11 finds it by the copy of its metadata', async () => {
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
});

describe('openid-client', () => {
  it('gets from the challenge to a call, and to one with more scopes', async () => {
    const { url } = await served();
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
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, _meta: META } }),
      });
    const param = (response: Response, name: string) =>
      new RegExp(`${name}="([^"]*)"`).exec(response.headers.get('www-authenticate') ?? '')?.[1] ?? '';
    const anonymous = await post('whoami');
    expect([anonymous.status, param(anonymous, 'error')]).toEqual([401, '']);
    const metadata = (await (await fetch(param(anonymous, 'resource_metadata'))).json()) as Record<string, string[]>;
    expect(metadata['resource']).toBe(url);
    const server = new URL(metadata['authorization_servers']?.[0] as string);
    const client = await openid.dynamicClientRegistration(
      server,
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
      const checks = { pkceCodeVerifier };

      const tokens = await openid.authorizationCodeGrant(client, await consent(authorization), checks, {
        resource: url,
      });
      return tokens.access_token;
    };
    expect(param(anonymous, 'scope')).toBe('mcp files:write');
    const token = await tokenFor('mcp');
    expect((await post('whoami', token)).status).toBe(200);
    const denied = await post('write', token);
    expect([denied.status, param(denied, 'error'), param(denied, 'scope')]).toEqual([
      403,
      'insufficient_scope',
      'mcp files:write',
    ]);
    expect((await post('write', await tokenFor(param(denied, 'scope')))).status).toBe(200);
  });
});

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': INFO,
  'io.modelcontextprotocol/clientCapabilities': {},
};
