// A client that starts the sign-in from the result of a tool, as ChatGPT does, with the parts of the official SDK.
import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { type Program, type Served, serve, startIssuer } from './processes.js';
import { User } from './user.js';

let issuer: Program;
let served: Served;

beforeAll(async () => {
  issuer = await startIssuer();
  served = await serve(() => ({ issuer: issuer.url, toolSignIn: true, offer: ['files:write'] }), { isOpen: true });
});

afterAll(async () => {
  await served.close();
  await issuer.stop();
});

async function connect(user?: User): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const options = user === undefined ? {} : { authProvider: user };
  await client.connect(new StreamableHTTPClientTransport(new URL(served.url), options) as never);
  return client;
}

/** The parameters of the challenge in a result. */
function challengeIn(result: unknown): { readonly scope: string; readonly metadata: URL } {
  const { isError, _meta: meta } = result as { isError?: boolean; _meta?: Record<string, string[]> };
  const [challenge = ''] = meta?.['mcp/www_authenticate'] ?? [];
  const valueOf = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1] ?? '';
  expect([isError, valueOf('error'), valueOf('error_description')]).toEqual([
    true,
    'insufficient_scope',
    expect.any(String),
  ]);
  return { scope: valueOf('scope'), metadata: new URL(valueOf('resource_metadata')) };
}

async function signIn(user: User, { scope, metadata }: ReturnType<typeof challengeIn>): Promise<void> {
  const about = { serverUrl: served.url, scope, resourceMetadataUrl: metadata };
  expect(await auth(user, about)).toBe('REDIRECT');
  const [authorizationCode] = user.returned;
  expect(await auth(user, { ...about, authorizationCode })).toBe('AUTHORIZED');
}

describe('a client that connects without a token', () => {
  it('finds in the list which tools need one, signs in by a refused call, and asks for more by the next (#23)', async () => {
    const anonymous = await connect();
    const { tools } = await anonymous.listTools();
    const schemes = Object.fromEntries(tools.map(({ name, _meta: meta }) => [name, meta?.['securitySchemes']]));
    expect(schemes).toEqual({
      about: [{ type: 'noauth' }],
      whoami: [{ type: 'oauth2', scopes: ['mcp'] }],
      write: [{ type: 'oauth2', scopes: ['mcp', 'files:write'] }],
    });
    expect(await anonymous.callTool({ name: 'about' })).toMatchObject({ content: [{ text: 'about' }] });

    // the user grants no more than is needed at first
    const user = new User(undefined, 'files:write');
    await signIn(user, challengeIn(await anonymous.callTool({ name: 'whoami' })));
    await anonymous.close();
    const client = await connect(user);
    expect(JSON.stringify(await client.callTool({ name: 'whoami' }))).toContain('alice');

    const more = challengeIn(await client.callTool({ name: 'write' }));
    expect(more.scope).toBe('mcp files:write');
    user.saveTokens(undefined);
    await signIn(user, more);
    expect(await client.callTool({ name: 'write' })).toMatchObject({ content: [{ text: 'written' }] });
    await client.close();
    expect(served.ran).toEqual(['whoami', 'write']);
  });
});
