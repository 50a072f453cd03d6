// Official clients that connect without a token, use what is public, and sign in later.
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { type Program, type Served, serve, startIssuer } from './processes.js';
import { User } from './user.js';

const INFO = { name: 'test', version: '1.0.0' };
/** The clients reconnect at once. */
const reconnectionOptions = {
  initialReconnectionDelay: 1,
  maxReconnectionDelay: 1,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 2,
};

let issuer: Program;
let served: Served;

beforeAll(async () => {
  issuer = await startIssuer();
  served = await serve(() => ({ issuer: issuer.url }), { isOpen: true });
});

afterAll(async () => {
  await served.close();
  await issuer.stop();
});

const textOf = (result: unknown): string => (result as { content: { text: string }[] }).content[0]?.text ?? '';
const call = (name: string) => ({ name, arguments: {} });

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

const CLIENTS = [
  [
    'the SDK 1.32',
    async (user: User, heard: Heard) => {
      const client = new ClientV1(INFO);
      client.setNotificationHandler(ToolListChangedNotificationSchema, heard.note);
      const transport = new HttpV1(new URL(served.url), { authProvider: user, reconnectionOptions });
      await client.connect(transport as never);
      return { client, transport };
    },
  ],
  [
    'the SDK 2.4',
    async (user: User, heard: Heard) => {
      const client = new ClientV2(INFO, { versionNegotiation: { mode: 'legacy' } });
      client.setNotificationHandler('notifications/tools/list_changed', heard.note);
      const transport = new HttpV2(new URL(served.url), { authProvider: user, reconnectionOptions });
      await client.connect(transport);
      return { client, transport };
    },
  ],
] as const;

describe.each(CLIENTS)('%s, connected without a token,', (_name, connect) => {
  it('keeps its session when it signs in, and hears of changes from then on (#22)', async () => {
    const [user, heard] = [new User(), new Heard()];
    const { client, transport } = await connect(user, heard);
    const { sessionId } = transport;
    expect(textOf(await client.callTool(call('about')))).toBe('about');
    await expect(client.callTool(call('whoami'))).rejects.toThrow(/unauthorized/i);
    await transport.finishAuth(...user.returned);
    expect(textOf(await client.callTool(call('whoami')))).toContain('"subject":"alice"');
    expect(transport.sessionId).toBe(sessionId);
    // its stream ends, it opens another one, and reads the lists again
    await heard.more();
    served.server.notify.toolsChanged();
    await heard.more();
    expect(textOf(await client.callTool(call('about')))).toBe('about');
    const stolen = { 'mcp-session-id': sessionId as string, accept: 'text/event-stream' };
    const answer = await fetch(served.url, { headers: stolen });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('resource_metadata='),
    ]);
    await client.close();
  });
});

describe('over HTTP+SSE', () => {
  it('the SDK 1.32 connects again after it has signed in (#22)', async () => {
    const user = new User();
    const open = async () => {
      const client = new ClientV1(INFO);
      const transport = new SseV1(new URL(`${served.url}/sse`), { authProvider: user });
      await client.connect(transport as never);
      return { client, transport };
    };
    const first = await open();
    expect(textOf(await first.client.callTool(call('about')))).toBe('about');
    await expect(first.client.callTool(call('whoami'))).rejects.toThrow(/unauthorized/i);
    await first.transport.finishAuth(user.returned[0]);
    const ended = new Promise<void>((resolve) => void Object.assign(first.transport, { onerror: resolve }));
    await expect(first.client.callTool(call('whoami'))).rejects.toThrow(/404/);
    await ended;
    await first.client.close();
    const second = await open();
    expect(textOf(await second.client.callTool(call('whoami')))).toContain('"subject":"alice"');
    await second.client.close();
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
  expect([isError, valueOf('error'), valueOf('error_description')]).toEqual([
    true,
    'insufficient_scope',
    expect.any(String),
  ]);
  return { scope: valueOf('scope'), metadata: new URL(valueOf('resource_metadata')) };
}

async function signIn(
  serverUrl: string,
  user: User,
  { scope, metadata }: ReturnType<typeof challengeIn>,
): Promise<void> {
  const about = { serverUrl, scope, resourceMetadataUrl: metadata };
  expect(await auth(user, about)).toBe('REDIRECT');
  const [authorizationCode] = user.returned;
  expect(await auth(user, { ...about, authorizationCode })).toBe('AUTHORIZED');
}

describe('a client that starts the sign-in from the result of a tool, as ChatGPT does,', () => {
  it('finds in the list which tools need one, signs in by a refused call, and asks for more by the next (#23)', async () => {
    const signing = await serve(() => ({ issuer: issuer.url, toolSignIn: true, offer: ['files:write'] }), {
      isOpen: true,
    });
    const { url, ran } = signing;
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
    const user = new User(undefined, 'files:write');
    await signIn(url, user, challengeIn(await anonymous.callTool({ name: 'whoami' })));
    await anonymous.close();
    const client = await connectTo(url, user);
    expect(JSON.stringify(await client.callTool({ name: 'whoami' }))).toContain('alice');

    const more = challengeIn(await client.callTool({ name: 'write' }));
    expect(more.scope).toBe('mcp files:write');
    user.saveTokens(undefined);
    await signIn(url, user, more);
    expect(await client.callTool({ name: 'write' })).toMatchObject({ content: [{ text: 'written' }] });
    await client.close();
    expect(ran).toEqual(['whoami', 'write']);
    await signing.close();
  });
});
