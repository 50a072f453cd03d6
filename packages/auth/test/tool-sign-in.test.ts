import { Context, McpServer, NoInput, Prompt, Tool } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';
import { AUTH } from '@decorum/http';
import type { Auth } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { afterEach, describe, expect, it } from '@jest/globals';

import { AUDIENCE, createAuth, type HostileIssuer, openIssuer } from './fixture.js';

const RESOURCE = 'resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"';
const STATELESS = '2026-07-28';
/** One whose tools have no `_meta`, the first whose tools do, and the stateless one. */
const REVISIONS = ['2025-03-26', '2025-06-18', STATELESS];

class Files {
  @Tool({ description: 'Lists files' })
  list() {
    return 'notes.txt';
  }

  @Tool({ description: 'Deletes files', scopes: ['files:write'] })
  clear() {
    return 'cleared';
  }

  @Tool({ description: 'Asks for scopes itself' })
  rename(_input: NoInput, ctx: Context) {
    ctx.requireScopes('files:rename');
    return 'renamed';
  }

  @Prompt({ description: 'A prompt' })
  ask() {
    return 'Which files?';
  }
}

class OpenFiles extends Files {
  @Tool({ description: 'Tells what this is', public: true, _meta: { 'example.com/a': 1 } })
  about() {
    return 'files';
  }

  @Tool({ description: 'Has its own', _meta: { securitySchemes: [{ type: 'noauth' }, { type: 'oauth2' }] } })
  both() {
    return 'both';
  }
}

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Sent {
  readonly revision?: string;
  readonly params?: object;
  readonly token?: string | undefined;
  /** Sends that many of them in a batch. */
  readonly copies?: number;
}

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly tools: readonly { name: string; securitySchemes?: unknown; _meta?: Record<string, unknown> }[];
  readonly _meta?: { readonly 'mcp/www_authenticate'?: readonly string[] };
}

interface Answer {
  readonly status: number;
  readonly challenge: string | null;
  readonly result: Result | undefined;
  readonly error: { readonly code: number; readonly data?: unknown } | undefined;
}

async function serve(auth: Auth<Request>, provider: new () => Files = OpenFiles, ...plugins: Plugin[]) {
  const server = new McpServer({
    name: 'files',
    version: '1.0.0',
    providers: [provider],
    plugins,
    logger: { warn() {}, error() {} },
  });
  const handler = fetchHandler(server, { auth, allowedHosts: ['mcp.example.com'], sessions: false });
  await handler.ready;
  closing.push(() => server.close());
  return async (method: string, sent: Sent = {}): Promise<Answer> => {
    const { revision = '2025-11-25', params = {}, token, copies } = sent;
    const meta = {
      'io.modelcontextprotocol/protocolVersion': revision,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const { name } = params as { name?: string };
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      ...(revision === STATELESS && { 'mcp-method': method, ...(name !== undefined && { 'mcp-name': name }) }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    };
    const whole = revision === STATELESS ? { ...params, _meta: meta } : params;
    const message = (id: number) => ({ jsonrpc: '2.0', id, method, params: whole });
    const body = JSON.stringify(
      copies === undefined ? message(1) : Array.from({ length: copies }, (_, id) => message(id)),
    );
    const response = await handler(new Request(AUDIENCE, { method: 'POST', headers, body }));
    const { result, error } = (await response.json()) as Pick<Answer, 'result' | 'error'>;
    return { status: response.status, challenge: response.headers.get('www-authenticate'), result, error };
  };
}

const call = (name: string, sent: Sent = {}): [string, Sent] => [
  'tools/call',
  { ...sent, params: { name, arguments: {} } },
];

async function signedIn(provider?: new () => Files) {
  const issuer: HostileIssuer = await openIssuer();
  const fixture = createAuth({ issuer: issuer.url, scopes: ['mcp'], toolSignIn: true });
  return { ...fixture, issuer, send: await serve(fixture.auth[AUTH], provider) };
}

describe.each(REVISIONS)('with `toolSignIn`, in %s', (revision) => {
  it('a call without a token gets a result with the challenge, from which ChatGPT signs in (#23)', async () => {
    const { send, events } = await signedIn();
    const { status, challenge, result } = await send(...call('clear', { revision }));
    expect([status, challenge]).toEqual([200, null]);
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: 'Authorization is required.' }],
      _meta: {
        'mcp/www_authenticate': [
          `Bearer ${RESOURCE}, scope="mcp files:write", error="insufficient_scope", error_description="Sign in to use this tool."`,
        ],
      },
    });
    expect(events).toEqual([{ type: 'denied', reason: 'no-token', scopes: ['mcp', 'files:write'] }]);
  });

  it('a call without the scopes gets a result that names them (#23)', async () => {
    const { send, issuer } = await signedIn();
    const token = issuer.sign({ aud: AUDIENCE, scope: 'mcp' });
    for (const [tool, scope] of [
      ['clear', 'mcp files:write'],
      ['rename', 'mcp files:rename'],
    ] as const) {
      const { status, result } = await send(...call(tool, { revision, token }));
      const { _meta: meta } = result as Result;
      expect([status, result?.isError]).toEqual([200, true]);
      expect(meta?.['mcp/www_authenticate']?.[0]).toContain(
        `error="insufficient_scope", scope="${scope}", ${RESOURCE}, error_description="`,
      );
    }
  });

  it('calls that are allowed are answered as ever (#23)', async () => {
    const { send, issuer } = await signedIn();
    const token = issuer.sign({ aud: AUDIENCE, scope: 'mcp files:write files:rename' });
    const answers = [await send(...call('about', { revision }))];
    for (const tool of ['list', 'clear', 'rename']) answers.push(await send(...call(tool, { revision, token })));
    expect(answers.map(({ result }) => result?.content[0]?.text)).toEqual(['files', 'notes.txt', 'cleared', 'renamed']);
  });

  it('tools publish what they need, where tools may have `_meta` (#23)', async () => {
    const { send } = await signedIn();
    const { result } = await send('tools/list', { revision });
    const { tools } = result as Result;
    const published = Object.fromEntries(tools.map(({ name, securitySchemes }) => [name, securitySchemes]));
    if (revision < '2025-06-18') return void expect(JSON.stringify(tools)).not.toContain('securitySchemes');
    expect(published).toEqual({
      list: [{ type: 'oauth2', scopes: ['mcp'] }],
      clear: [{ type: 'oauth2', scopes: ['mcp', 'files:write'] }],
      rename: [{ type: 'oauth2', scopes: ['mcp'] }],
      about: [{ type: 'noauth' }],
      both: [{ type: 'noauth' }, { type: 'oauth2' }],
    });
    for (const { securitySchemes, _meta: meta } of tools) expect(meta?.['securitySchemes']).toEqual(securitySchemes);
    expect(JSON.stringify(tools)).toContain('"example.com/a":1');
  });
});

describe('with `toolSignIn`', () => {
  it('tools publish scopes by the names that clients request (#23)', async () => {
    const issuer = await openIssuer();
    const { auth } = createAuth({
      issuer: { issuer: issuer.url, scopePrefix: 'api://files/' },
      scopes: ['mcp'],
      toolSignIn: true,
    });
    const { result } = await (await serve(auth[AUTH]))('tools/list');
    const clear = result?.tools.find(({ name }) => name === 'clear');
    expect(clear?.securitySchemes).toEqual([
      { type: 'oauth2', scopes: ['api://files/mcp', 'api://files/files:write'] },
    ]);
  });

  it('a batch still gets a 401 (#23)', async () => {
    const { send } = await signedIn();
    const { status, challenge, result, error } = await send(...call('clear', { revision: '2025-03-26', copies: 2 }));
    expect([status, challenge, result, error?.code]).toEqual([
      401,
      `Bearer ${RESOURCE}, scope="mcp files:write"`,
      undefined,
      -32600,
    ]);
  });

  it('an unknown tool is answered like one that needs a token (#23)', async () => {
    const { send } = await signedIn();
    const [known, unknown] = [await send(...call('list')), await send(...call('nothing'))];
    expect(unknown).toEqual(known);
  });

  it('plugins learn that the call was denied (#23)', async () => {
    const { auth } = createAuth({ issuer: 'https://id.example.com', toolSignIn: true });
    const outcomes: unknown[] = [];
    const send = await serve(auth[AUTH], OpenFiles, {
      name: 'audit',
      ended: ({ target }, { status, code }) => void outcomes.push({ target, status, code }),
    });
    await send(...call('list'));
    expect(outcomes).toEqual([{ target: 'list', status: 'error', code: -32600 }]);
  });

  it('everything but a tool call still gets a 401 (#23)', async () => {
    const { send } = await signedIn();
    const { status, challenge } = await send('prompts/get', { params: { name: 'ask' } });
    expect([status, challenge]).toEqual([401, `Bearer ${RESOURCE}, scope="mcp"`]);
  });

  it('an invalid token still gets a 401, so that clients refresh it (#23)', async () => {
    const { send } = await signedIn();
    const { status, challenge } = await send(...call('list', { token: 'expired' }));
    expect([status, challenge]).toEqual([401, expect.stringContaining('error="invalid_token"')]);
  });

  it('a server without public members also answers a call with a result, and everything else with a 401 (#23)', async () => {
    const { send } = await signedIn(Files);
    const [called, listed] = [await send(...call('list')), await send('tools/list')];
    expect([called.status, called.result?.isError, listed.status]).toEqual([200, true, 401]);
  });

  it('the challenge of an application’s own `auth` has an error too (#23)', async () => {
    const send = await serve({ toolSignIn: true, scopes: ['mcp'], authenticate: () => undefined });
    const { result } = await send(...call('list'));
    const { _meta: meta } = result as Result;
    expect(meta?.['mcp/www_authenticate']).toEqual([
      'Bearer error="insufficient_scope", scope="mcp", error_description="Authorization is required."',
    ]);
  });

  it('a `challenge` that throws is a 500 without details, and one without a header a 401 (#23)', async () => {
    const broken = await serve({
      toolSignIn: true,
      authenticate: () => undefined,
      challenge: () => {
        throw new Error('secret');
      },
    });
    const bare = await serve({
      toolSignIn: true,
      authenticate: () => undefined,
      challenge: () => ({ status: 401, headers: {} }),
    });
    const [failed, denied] = [await broken(...call('list')), await bare(...call('list'))];
    expect([failed.status, denied.status]).toEqual([500, 401]);
    expect(JSON.stringify(failed)).not.toContain('secret');
  });

  it('needs an issuer, and is a boolean (#23)', () => {
    const verify = () => undefined;
    expect(() => createAuth({ audience: undefined as never, verify, toolSignIn: true })).toThrow(
      /`toolSignIn` has no effect/,
    );
    expect(() => createAuth({ issuer: 'https://id.example.com', toolSignIn: 'yes' as never })).toThrow(/`toolSignIn`/);
    const server = new McpServer({ name: 'files', version: '1.0.0', providers: [Files] });
    expect(() => fetchHandler(server, { auth: { authenticate: verify, toolSignIn: 1 as never } })).toThrow(
      /`toolSignIn`/,
    );
  });
});

describe('without `toolSignIn`', () => {
  it('a denied call gets a 401, and tools publish no schemes (#23)', async () => {
    const { auth } = createAuth({ issuer: 'https://id.example.com' });
    const send = await serve(auth[AUTH]);
    const [denied, listed] = [await send(...call('list')), await send('tools/list')];
    expect([denied.status, denied.error?.code]).toEqual([401, -32600]);
    const { tools } = listed.result as Result;
    expect(JSON.stringify(tools.filter(({ name }) => name !== 'both'))).not.toContain('securitySchemes');
  });
});
