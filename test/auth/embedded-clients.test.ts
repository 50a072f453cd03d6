// The OAuth clients of others against a server that is its own authorization server, in its own process.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import * as openid from 'openid-client';
import { Client as ClientB } from 'sdk-1.11/client/index.js';
import { StreamableHTTPClientTransport as HttpB } from 'sdk-1.11/client/streamableHttp.js';

import { selfSigned } from '../../packages/auth-server/test/clients/certificate.js';
import { freePort } from '../support/dev-project.js';
import { Program } from './processes.js';
import { CALLBACK, consent, User } from './user.js';

const INFO = { name: 'test', version: '1.0.0' };
const ALICE = { name: 'alice', password: 'correct horse' };

/** The server of `npm run -s secured`. */
let server: Program;
/** A server whose users sign in at `upstream`, an oidc-provider where no client can register. */
let delegated: Program;
let upstream: Program;
let directory: string;
/** Has the metadata document of a client. */
let origin: ReturnType<typeof createServer>;
let documentUrl: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'embedded-'));
  const certificate = selfSigned('localhost');
  const trusted = join(directory, 'trusted.pem');
  origin = createServer(certificate, (_request, response) => {
    const { clientMetadata } = new Alice();
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ...clientMetadata, client_id: documentUrl, client_name: 'By document' }));
  }).listen(0, '127.0.0.1');
  await Promise.all([once(origin, 'listening'), writeFile(trusted, certificate.cert)]);
  documentUrl = `https://localhost:${(origin.address() as AddressInfo).port}/client.json`;
  const ports = [await freePort(), await freePort(), await freePort()];
  const callback = `http://127.0.0.1:${ports[1]}/upstream/callback`;
  upstream = await Program.start('stock-issuer.js', [`--port=${ports[2]}`, `--redirect=${callback}`]);
  const env = { NODE_EXTRA_CA_CERTS: trusted, SECURED_PASSWORD: ALICE.password, UPSTREAM: upstream.url };
  [server, delegated] = (await Promise.all(
    ['../../examples/secured/dist/embedded.js', 'delegated-server.js'].map((file, index) =>
      Program.start(file, [], { ...env, PORT: String(ports[index]) }),
    ),
  )) as [Program, Program];
});

afterAll(async () => {
  await Promise.all([server.stop(), delegated.stop(), upstream.stop()]);
  origin.close();
  origin.closeAllConnections();
  await rm(directory, { recursive: true });
});

/** The user of an SDK client, who signs in as alice, and allows everything. */
class Alice extends User {
  /** The client's metadata document; without one, it registers. */
  readonly clientMetadataUrl?: string;

  /** @param scope as of `User` */
  constructor(clientMetadataUrl?: string, scope?: string) {
    super(scope, undefined, ALICE);
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
  }

  /** Forgets what the server no longer knows. */
  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'all' || scope === 'client') this.saveClientInformation(undefined);
    if (scope === 'all' || scope === 'tokens') this.saveTokens(undefined);
  }
}

/**
 * A provider for SDK 1.x, which refreshes its token instead of asking for more scopes. So this hides the refresh token
 * from when a call needs more until there are new tokens.
 */
class SteppingUp extends Alice {
  private needsMore = false;

  readonly fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(url, init);
    if (response.status === 403) this.needsMore = true;
    return response;
  };

  override tokens() {
    const tokens = super.tokens();
    if (!this.needsMore || tokens === undefined) return tokens;
    return { ...tokens, refresh_token: undefined };
  }

  override saveTokens(tokens: unknown): void {
    this.needsMore = false;
    super.saveTokens(tokens);
  }
}

interface Connected {
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

interface Transport {
  readonly sessionId?: string | undefined;
  finishAuth(code: string, iss?: string): Promise<void>;
}

interface Connection {
  readonly client: Connected;
  readonly transport: Transport;
}

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';
const call = (name: string) => ({ name, arguments: {} });
const UNAUTHORIZED = /unauthorized/i;

const connectV1 = async (user: Alice, { url } = server) => {
  const client = new ClientV1(INFO);
  const transport = new HttpV1(new URL(url), {
    authProvider: user,
    ...(user instanceof SteppingUp && { fetch: user.fetch }),
  });
  await client.connect(transport as never);
  return { client, transport };
};

const connectV2 =
  (mode: 'legacy' | 'auto' | { readonly pin: string }) =>
  async (user: Alice, { url } = server) => {
    const client = new ClientV2(INFO, { versionNegotiation: { mode } });
    const transport = new HttpV2(new URL(url), { authProvider: user });
    await client.connect(transport);
    return { client: client as never as Connected, transport };
  };

/** Calls a public tool, signs in for another in the same conversation, and asks for more scopes. */
async function tellStory({ client, transport }: Connection, user: User, subject = 'alice'): Promise<void> {
  const whoami = async () => JSON.parse(textOf(await client.callTool(call('whoami')))) as unknown;
  const { sessionId } = transport;
  expect(textOf(await client.callTool(call('about')))).toContain('how to sign in');
  expect(user.tokens()).toBeUndefined();
  await expect(client.callTool(call('whoami'))).rejects.toThrow(UNAUTHORIZED);
  await transport.finishAuth(...user.returned);
  const clientId = user.clientInformation()?.client_id;
  expect(await whoami()).toMatchObject({ subject, clientId, scopes: ['mcp'] });
  expect(user.tokens()).toMatchObject({ refresh_token: expect.any(String) });
  await expect(client.callTool(call('notes_write'))).rejects.toThrow(UNAUTHORIZED);
  await transport.finishAuth(...user.returned);
  expect(textOf(await client.callTool(call('notes_write')))).toContain(subject);
  expect(await whoami()).toMatchObject({ clientId, scopes: ['mcp', 'notes:write'] });
  expect(user.asked).toEqual(['mcp', 'mcp notes:write']);
  expect(transport.sessionId).toBe(sessionId);
}

const KINDS: [string, (documentUrl?: string) => Alice, (user: Alice, at?: Program) => Promise<Connection>][] = [
  ['SDK 1.32', (id) => new SteppingUp(id), connectV1],
  ['SDK 2.4 with a session', (id) => new Alice(id), connectV2('legacy')],
  ['SDK 2.4 of 2026-07-28', (id) => new Alice(id), connectV2({ pin: '2026-07-28' })],
];

describe.each(KINDS)('the %s, connected without a token,', (_name, create, connect) => {
  it('registers, signs in for a tool, goes on, and asks for more scopes (#25)', async () => {
    const user = create();
    const connection = await connect(user);
    await tellStory(connection, user);
    await connection.client.close();
  });

  it('does the same with a metadata document of its own (#25)', async () => {
    const user = create(documentUrl);
    const connection = await connect(user);
    await tellStory(connection, user);
    expect(user.clientInformation()?.client_id).toBe(documentUrl);
    await connection.client.close();
  });

  it('signs in where the users of the server do, and a tool calls the API there (#25)', async () => {
    const user = create();
    const connection = await connect(user, delegated);
    await tellStory(connection, user, 'staff|alice');
    expect(JSON.parse(textOf(await connection.client.callTool(call('profile'))))).toEqual({ sub: 'alice' });
    await connection.client.close();
  });

  it('gets a new token without its user when the old one has expired (#25)', async () => {
    const user = create();
    const { client, transport } = await connect(user);
    await expect(client.callTool(call('whoami'))).rejects.toThrow(UNAUTHORIZED);
    await transport.finishAuth(...user.returned);
    user.saveTokens({ ...user.tokens(), access_token: 'expired' });
    expect(textOf(await client.callTool(call('whoami')))).toContain('alice');
    expect(user.asked).toHaveLength(1);
    await client.close();
  });
});

it.each([
  ['SDK 1.32', connectV1],
  ['SDK 2.4', connectV2('auto')],
])('the %s registers and signs in again at a server that has forgotten everything (#25)', async (_name, connect) => {
  const env = { PORT: String(await freePort()), SECURED_PASSWORD: ALICE.password };
  const start = async () => await Program.start('../../examples/secured/dist/embedded.js', [], env);
  const user = new Alice();
  // SDK 2 says that it forgets its registration
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => {});
  let program = await start();
  try {
    const first: Connection = await connect(user, program);
    await expect(first.client.callTool(call('whoami'))).rejects.toThrow(UNAUTHORIZED);
    await first.transport.finishAuth(...user.returned);
    const before = user.clientInformation()?.client_id;
    await first.client.close();
    await program.stop();
    program = await start();
    await expect(connect(user, program)).rejects.toThrow(UNAUTHORIZED);
    expect(user.clientInformation()?.client_id).not.toBe(before);
    const { client, transport }: Connection = await connect(user, program);
    await expect(client.callTool(call('whoami'))).rejects.toThrow(UNAUTHORIZED);
    await transport.finishAuth(...user.returned);
    expect(textOf(await client.callTool(call('whoami')))).toContain('alice');
    await client.close();
  } finally {
    warn.mockRestore();
    await program.stop();
  }
});

it('the SDK 1.32 never asks its user for more while it has a refresh token (#25)', async () => {
  const user = new Alice();
  const { client, transport }: Connection = await connectV1(user);
  await expect(client.callTool(call('whoami'))).rejects.toThrow(UNAUTHORIZED);
  await transport.finishAuth(...user.returned);
  await expect(client.callTool(call('notes_write'))).rejects.toThrow('Server returned 403 after trying upscoping');
  expect(user.asked).toEqual(['mcp']);
  expect(textOf(await client.callTool(call('whoami')))).toContain('alice');
  await client.close();
});

it.each([
  ['finds the endpoints in the metadata', () => false],
  ['uses the default endpoints where it finds no metadata', (path: string) => path.startsWith('/.well-known/')],
])('the SDK 1.11 of 2025-03-26 %s, and calls with a wider token (#25)', async (_how, isHidden) => {
  const { fetch: original } = globalThis;
  const paths: string[] = [];
  const spy = jest.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const { pathname } = new URL(String(input));
    paths.push(pathname);
    return isHidden(pathname) ? new Response('', { status: 404 }) : await original(input, init);
  });
  try {
    // it reads no scopes from challenges, so the application says which ones it needs
    const granted = async (scope: string, tool: string) => {
      const user = new Alice(undefined, scope);
      const transport = new HttpB(new URL(server.url), { authProvider: user as never });
      const client = new ClientB(INFO);
      await client.connect(transport as never);
      await expect(client.callTool(call('whoami'))).rejects.toThrow(UNAUTHORIZED);
      await transport.finishAuth(user.returned[0]);
      const answer = await client.callTool(call(tool)).then(textOf, String);
      await client.close();
      return answer;
    };
    expect(await granted('mcp', 'notes_write')).toContain('403');
    expect(await granted('mcp notes:write', 'notes_write')).toContain('alice');
    expect(paths).toEqual(expect.arrayContaining(['/register', '/authorize', '/token']));
  } finally {
    spy.mockRestore();
  }
});

/** Calls a tool without a session. */
async function post(tool: string, token?: string): Promise<Response> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': INFO,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return await fetch(server.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': tool,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, _meta: meta } }),
  });
}

it('a client that knows only the default endpoints gets tokens, and calls (#25)', async () => {
  const at = (path: string) => new URL(path, server.url);
  expect((await post('whoami')).status).toBe(401);
  const registered = await fetch(at('/register'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [CALLBACK], client_name: 'Raw', token_endpoint_auth_method: 'none' }),
  });
  const { client_id: id } = (await registered.json()) as { client_id: string };
  const tokenFor = async (scope?: string): Promise<string> => {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: id,
      redirect_uri: CALLBACK,
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...(scope !== undefined && { scope }),
    });
    const { searchParams } = await consent(at(`/authorize?${query}`), ALICE);
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: id,
      code: searchParams.get('code') ?? '',
      redirect_uri: CALLBACK,
      code_verifier: verifier,
    });
    const answer = await fetch(at('/token'), { method: 'POST', body: form });
    return ((await answer.json()) as { access_token: string }).access_token;
  };
  const token = await tokenFor();
  expect((await post('whoami', token)).status).toBe(200);
  expect((await post('notes_write', token)).status).toBe(403);
  expect((await post('notes_write', await tokenFor('mcp notes:write'))).status).toBe(200);
});

it.each(['oauth2', 'oidc'] as const)(
  'openid-client 6 discovers the server as %s, signs in with PKCE, refreshes, and revokes (#25)',
  async (algorithm) => {
    const client = await openid.dynamicClientRegistration(
      new URL(new URL(server.url).origin),
      { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
      openid.None(),
      { execute: [openid.allowInsecureRequests], algorithm },
    );
    expect(client.serverMetadata().supportsPKCE()).toBe(true);
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expectedState = openid.randomState();
    const url = openid.buildAuthorizationUrl(client, {
      redirect_uri: CALLBACK,
      scope: 'mcp',
      state: expectedState,
      resource: server.url,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const returned = await consent(url, ALICE);
    const first = await openid.authorizationCodeGrant(client, returned, { pkceCodeVerifier, expectedState });
    expect((await post('whoami', first.access_token)).status).toBe(200);
    const second = await openid.refreshTokenGrant(client, first.refresh_token ?? '');
    expect((await post('whoami', second.access_token)).status).toBe(200);
    await openid.tokenRevocation(client, second.refresh_token ?? '');
    expect((await post('whoami', second.access_token)).status).toBe(401);
    const again = openid.refreshTokenGrant(client, second.refresh_token ?? '');
    await expect(again).rejects.toMatchObject({ error: 'invalid_grant' });
  },
);
