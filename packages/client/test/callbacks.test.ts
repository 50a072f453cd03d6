// Functions of the user: what they throw, and how long they take.
import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import {
  type Client,
  type ClientOptions,
  connectClient,
  type ConnectTarget,
  type OAuthProvider,
  type OAuthTokens,
} from '@decorum/client';
import { type Context, McpServer, NoInput, Tool } from '@decorum/core';
import { nodeHandler } from '@decorum/http/node';
import { revisions } from '@decorum/testing';

const [SESSION, STATELESS] = revisions.slice(-2) as [string, string];

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function clientOf(target: ConnectTarget, options: ClientOptions = {}): Promise<Client> {
  const client = await connectClient(target, options);
  open.push(async () => await client.close());
  return client;
}

type Handler = Parameters<typeof createHttpServer>[1] & object;

async function urlOf(handler: Handler): Promise<URL> {
  const listener = createHttpServer(handler);
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  open.push(async () => {
    listener.closeAllConnections();
    await new Promise((resolve) => listener.close(resolve));
  });
  return new URL(`http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`);
}

class Desk {
  @Tool({ description: 'Asks' })
  async ask(_input: NoInput, ctx: Context) {
    return String(await ctx.confirm('Sure?'));
  }

  @Tool({ description: 'Reports' })
  count(_input: NoInput, ctx: Context) {
    ctx.progress(1);
    return 'one';
  }
}

const createServer = () => new McpServer({ name: 'desk', version: '1.0.0', providers: [Desk] });

const fails = (message: string) => () => {
  throw new Error(message);
};
const rejects = (message: string) => async () => {
  throw new Error(message);
};

describe.each(revisions.slice(-2))('functions of the user that fail, in %s', (revision) => {
  it('reject the call that needs their headers or token', async () => {
    const url = await urlOf(nodeHandler(createServer()));
    let isBroken = false;
    const headers = () => (isBroken ? fails('no header')() : {});
    const client = await clientOf(url, { revision, headers });
    isBroken = true;
    await expect(client.callTool('count')).rejects.toThrow('no header');
    isBroken = false;
    expect(await client.callTool('count')).toBeDefined();
    const authorization = rejects('no token');
    await expect(connectClient(url, { revision, authorization })).rejects.toThrow('no token');
    const nothing = { revision, headers: () => undefined as never };
    await expect(connectClient(url, nothing)).rejects.toThrow('`headers` of the client returned no object');
  });

  it('reject the call that they belong to, and only that one', async () => {
    const client = await clientOf(createServer(), { revision });
    for (const failing of [fails('no use'), rejects('no use')]) {
      await expect(client.callTool('count', {}, { onProgress: failing as () => void })).rejects.toThrow('no use');
      await expect(client.callTool('count', {}, { onProgress() {}, onNotification: failing })).rejects.toThrow(
        'no use',
      );
    }
    expect(await client.callTool('count')).toBeDefined();
  });

  it('are reported if no call needs them', async () => {
    const errors: string[] = [];
    const report = (error: Error): never => {
      errors.push(error.message);
      throw error;
    };
    const warnings: unknown[] = [];
    const warning = jest.spyOn(process, 'emitWarning').mockImplementation((shown) => void warnings.push(shown));
    const url = await urlOf(nodeHandler(createServer()));
    for (const failing of [fails('no use'), rejects('no use')] as (() => void)[]) {
      const client = await clientOf(url, { revision, onNotification: failing, onClose: failing, onError: report });
      await client.callTool('count', {}, { onProgress() {} });
      await client.close();
    }
    await new Promise((resolve) => setImmediate(resolve));
    warning.mockRestore();
    expect(errors).toEqual(Array.from({ length: 4 }, () => 'no use'));
    expect(warnings).toEqual(errors);
  });

  it('do not tell the server why they could not answer', async () => {
    const errors: string[] = [];
    const client = await clientOf(createServer(), {
      revision,
      onElicit: rejects('/home/ada is missing'),
      onError: ({ message }) => void errors.push(message),
    });
    const outcome = await client.callTool('ask').catch((error: unknown) => error);
    const told = [String(outcome), JSON.stringify(outcome)].join(' ');
    // without sessions, the call itself needs the answer
    if (revision === STATELESS) expect(outcome).toMatchObject({ message: '/home/ada is missing' });
    else expect([told.includes('/home/ada'), errors]).toEqual([false, ['/home/ada is missing']]);
  });
});

const answer = (response: ServerResponse, id: unknown, result: object) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, result }));

/** A server that takes one token, and never answers calls of `hang`. */
class Guarded {
  token = 'first';
  readonly called: unknown[] = [];

  readonly handle: Handler = (request, response) => {
    void text(request).then((body) => {
      if (request.headers.authorization !== `Bearer ${this.token}`) return response.writeHead(401).end();
      if (body === '') return response.writeHead(405).end();
      const { id, params } = JSON.parse(body) as { id?: number; params?: { name?: string } };
      if (id === undefined) return response.writeHead(202).end();
      this.called.push(params?.name);
      if (params?.name === 'hang') return undefined;
      const server = { capabilities: {}, serverInfo: { name: 's', version: '1' } };
      return answer(response, id, { supportedVersions: [STATELESS], protocolVersion: SESSION, ...server });
    });
  };
}

describe.each(revisions.slice(-2))('a sign-in in %s', (revision) => {
  it('may take longer than its request waits, and serves all that are refused meanwhile', async () => {
    const server = new Guarded();
    const url = await urlOf(server.handle);
    const hang = async (token: string) => {
      const other = await clientOf(url, { revision, authorization: () => token });
      await other.callTool('hang', {}, { timeoutMs: 1100 }).catch(() => {});
    };
    let asked = 0;
    const client = await clientOf(url, {
      revision,
      timeoutMs: 1000,
      async authorization() {
        asked += 1;
        await hang(server.token);
        return server.token;
      },
    });
    server.token = 'second';
    await Promise.all(Array.from({ length: 5 }, async () => await client.callTool('add')));
    expect(asked).toBe(2);
  });

  it('does not send a call that was cancelled meanwhile', async () => {
    const server = new Guarded();
    const url = await urlOf(server.handle);
    const gone = new AbortController();
    let signedIn = (_token: string) => {};
    const client = await clientOf(url, {
      revision,
      async authorization(challenge) {
        if (!challenge) return 'first';
        gone.abort(new Error('enough'));
        return await new Promise((resolve) => {
          signedIn = resolve;
        });
      },
    });
    server.token = 'second';
    await expect(client.callTool('unwanted', {}, { signal: gone.signal })).rejects.toThrow('enough');
    signedIn('second');
    await client.callTool('wanted');
    expect(server.called).toContain('wanted');
    expect(server.called).not.toContain('unwanted');
  });
});

/** An MCP server that is its own issuer. Calls need the scope of the same name. */
class Scoped {
  scope = 'base';

  readonly handle: Handler = (request, response) => {
    void text(request).then((body) => {
      const origin = `http://${request.headers.host}`;
      const json = (status: number, sent: object, headers = {}) =>
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(sent));
      const { url = '' } = request;
      if (url.includes('oauth-protected'))
        return json(200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
      if (url.startsWith('/.well-known')) {
        const endpoints = { authorization_endpoint: `${origin}/authorize`, token_endpoint: `${origin}/token` };
        return json(200, { issuer: origin, ...endpoints, code_challenge_methods_supported: ['S256'] });
      }
      // without `scope`, which means: what was asked for
      if (url === '/token') return json(200, { access_token: this.scope, token_type: 'Bearer' });
      const { id, params } = JSON.parse(body) as { id: number; params: { name?: string } };
      const { name = 'base' } = params;
      if (request.headers.authorization === undefined) {
        return json(401, {}, { 'www-authenticate': `Bearer scope="base"` });
      }
      if (!this.scope.split(' ').includes(name)) {
        return json(403, {}, { 'www-authenticate': `Bearer error="insufficient_scope", scope="${name}"` });
      }
      return json(200, { jsonrpc: '2.0', id, result: { supportedVersions: [STATELESS], capabilities: {} } });
    });
  };
}

describe('a client that needs more scopes', () => {
  it('asks for them and for those that it has', async () => {
    const server = new Scoped();
    const url = await urlOf(server.handle);
    let kept: OAuthTokens | undefined;
    const authProvider: OAuthProvider = {
      redirectUrl: 'http://127.0.0.1:1/callback',
      clientMetadata: { redirect_uris: [] },
      clientInformation: () => ({ client_id: 'me' }),
      tokens: () => kept,
      saveTokens: (tokens) => void (kept = tokens),
      saveCodeVerifier() {},
      codeVerifier: () => 'verifier',
      redirectToAuthorization(to) {
        server.scope = String(to.searchParams.get('scope'));
        return 'http://127.0.0.1:1/callback?code=c';
      },
    };
    const client = await clientOf(url, { authProvider });
    expect(server.scope).toBe('base');
    await client.callTool('write');
    expect(server.scope).toBe('base write');
    await client.callTool('erase');
    expect(server.scope).toBe('base write erase');
  });
});
