// What the specification asks of a resource server, on a port, with an issuer that signs anything.
/* oxlint-disable jest/no-standalone-expect -- eachRevision registers a test */
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { Context, McpServer, NoInput, Tool } from '@decorum/core';
import { AUTH, listen } from '@decorum/http';

import { eachRevision, type Revision, STATELESS } from '../support/requirements.js';
import { createKey, HostileIssuer } from './hostile-issuer.js';
import { type Served, serve } from './processes.js';

const INFO = { name: 'test', version: '1.0.0' };
const META = 'io.modelcontextprotocol/';

let issuer: HostileIssuer;
let server: Served;
const logged: string[] = [];

beforeAll(async () => {
  issuer = await HostileIssuer.open();
  server = await serve(() => ({
    issuer: issuer.url,
    hierarchy: { admin: ['files:write'] },
    reportGranted: true,
    onEvent: (event) => void logged.push(JSON.stringify(event)),
  }));
  server.auth[AUTH].opened((message) => void logged.push(message));
});

afterAll(async () => {
  await server.close();
  await issuer.stop();
});

const token = (claims: object = {}, signing = {}) => issuer.sign({ aud: server.url, scope: 'mcp', ...claims }, signing);
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly tool?: string;
  readonly query?: string;
  readonly url?: string;
}

async function send(url: string, body: string, headers: object): Promise<Response> {
  return await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body,
  });
}

const post = (url: string, message: object, headers: object): Promise<Response> =>
  send(url, JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }), headers);

/** Calls a tool in the way of the revision. A session is begun by a caller with a valid token. */
async function ask(revision: Revision, { headers = {}, tool = 'whoami', query = '', url = server.url }: Asked) {
  const call = { method: 'tools/call', params: { name: tool, arguments: {} } };
  const version = { 'mcp-protocol-version': revision };
  if (revision === STATELESS) {
    const names = { protocolVersion: revision, clientInfo: INFO, clientCapabilities: {} };
    const envelope = Object.fromEntries(Object.entries(names).map(([name, value]) => [META + name, value]));
    const routing = { 'mcp-method': call.method, 'mcp-name': tool };
    const message = { ...call, params: { ...call.params, _meta: envelope } };
    return await post(url + query, message, { ...version, ...routing, ...headers });
  }
  const hello = { method: 'initialize', params: { protocolVersion: revision, capabilities: {}, clientInfo: INFO } };
  const begun = await post(url, hello, url === server.url ? bearer(token()) : {});
  expect(begun.status).toBe(200);
  const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  return await post(url + query, call, { ...version, ...session, ...headers });
}

const challengeOf = (response: Response): string => response.headers.get('www-authenticate') ?? '';
const paramOf = (response: Response, name: string) => new RegExp(`${name}="([^"]*)"`).exec(challengeOf(response))?.[1];
const documentAt = async (path: string, headers: Record<string, string> = {}) =>
  await (await fetch(new URL(path, server.url), { headers })).text();

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';
const PAST = Math.floor(Date.now() / 1000) - 60;

describe('a resource server', () => {
  eachRevision('AUTH25-01', 'a server without authorization serves everybody', async (revision) => {
    class Open {
      @Tool({ description: 'Returns the caller' })
      whoami(_input: NoInput, { principal }: Context) {
        return String(principal?.subject);
      }
    }
    const open = new McpServer({ name: 'open', version: '1.0.0', providers: [Open] });
    const { url, close } = await listen(open, { port: 0, signals: false });
    expect((await ask(revision, { url })).status).toBe(200);
    await close();
    await open.close();
  });

  eachRevision(
    ['AUTH25-08', 'AUTHRS-02', 'AUTHRS-03', 'AUTHRS-04'],
    'a caller without a token gets 401 with the scopes to begin with and the URL of the metadata',
    async (revision) => {
      const answer = await ask(revision, {});
      const url = paramOf(answer, 'resource_metadata') ?? '';
      expect([answer.status, paramOf(answer, 'scope'), url]).toEqual([
        401,
        'mcp',
        new URL(`${RESOURCE_METADATA}/mcp`, server.url).href,
      ]);
      expect(await (await fetch(url)).json()).toMatchObject({ authorization_servers: [issuer.url] });
      expect(await documentAt(RESOURCE_METADATA)).toBe(await documentAt(`${RESOURCE_METADATA}/mcp`));
    },
  );

  eachRevision('AUTH25-08', 'a batch without a token gets 401, wherever its protected call is', async (revision) => {
    const open = await serve(() => ({ issuer: issuer.url }), { isOpen: true });
    const hello = { protocolVersion: revision, capabilities: {}, clientInfo: INFO };
    const begun = await post(open.url, { method: 'initialize', params: hello }, {});
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
    const statusOf = async (tools: readonly string[]) => {
      const batch = tools.map((name, id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } }));
      return (await send(open.url, JSON.stringify(batch), session)).status;
    };
    for (const tools of [['about', 'whoami'], ['whoami', 'about'], ['about', 'about', 'write'], ['whoami']]) {
      expect([tools, await statusOf(tools)]).toEqual([tools, 401]);
    }
    expect(open.ran).toEqual([]);
    expect(await statusOf(['about', 'about'])).toBe(200);
    await open.close();
  });

  eachRevision(
    ['AUTH25-09', 'AUTHRS-06', 'AUTHRS-08', 'AUTHRS-19'],
    'a token that is invalid, expired, for another server, or that no decent issuer signs gets 401 with `invalid_token`',
    async (revision) => {
      const wrong = [
        'opaque',
        token({ exp: PAST }),
        token({ nbf: PAST + 3600 }),
        token({ iss: 'https://evil.example' }),
        ...['https://other.example.com/mcp', undefined, `${server.url}/other`].map((aud) => token({ aud })),
        token({}, { key: createKey('ES256', 'key-1') }),
        token({}, { key: createKey('ES256', 'unknown') }),
        token({}, { header: { alg: 'none' } }),
        token({}, { header: { alg: 'HS256' }, secret: JSON.stringify(issuer.keys[0]?.jwk) }),
        token({}, { header: { crit: ['x'], x: 1 } }),
        token({}, { header: { typ: 'JWT' } }),
        token({}, { header: { typ: 'logout+jwt' } }),
      ];
      for (const [index, each] of wrong.entries()) {
        const answer = await ask(revision, { headers: bearer(each) });
        expect([index, answer.status, paramOf(answer, 'error')]).toEqual([index, 401, 'invalid_token']);
      }
      expect((await ask(revision, { headers: bearer(token()) })).status).toBe(200);
    },
  );

  eachRevision('AUTH25-10', 'the status is 401, 403 or 400, as the request is', async (revision) => {
    const statuses = [];
    for (const asked of [
      {},
      { headers: bearer(token()), tool: 'write' },
      { headers: { authorization: 'Bearer a b' } },
      { headers: bearer(token({ scope: 'mcp files:write' })), tool: 'write' },
    ]) {
      statuses.push((await ask(revision, asked)).status);
    }
    expect(statuses).toEqual([401, 403, 400, 200]);
  });

  eachRevision('AUTH25-18', 'a token in the query is none, nor one in a cookie', async (revision) => {
    const answers = [
      await ask(revision, { query: `?access_token=${token()}` }),
      await ask(revision, { headers: { cookie: `access_token=${token()}` } }),
    ];
    for (const answer of answers) {
      expect([answer.status, paramOf(answer, 'error')]).toEqual([401, undefined]);
    }
  });

  eachRevision('AUTH25-19', 'each request needs its token, also after one that had it', async (revision) => {
    const statuses = [];
    for (const headers of [bearer(token()), {}, bearer(token())]) {
      statuses.push((await ask(revision, { headers })).status);
    }
    expect(statuses).toEqual([200, 401, 200]);
  });

  eachRevision('AUTH25-20', 'metadata is the same with and without the version of the protocol', async (revision) => {
    for (const path of [RESOURCE_METADATA, '/.well-known/oauth-authorization-server']) {
      expect(await documentAt(path, { 'mcp-protocol-version': revision })).toBe(await documentAt(path));
    }
  });

  eachRevision(
    ['AUTHRS-01', 'AUTHRS-17'],
    'the metadata names the issuer, and the URL that clients connect to',
    async () => {
      expect(JSON.parse(await documentAt(`${RESOURCE_METADATA}/mcp`))).toMatchObject({
        authorization_servers: [issuer.url],
        resource: server.url,
      });
    },
  );

  eachRevision('AUTHRS-05', 'the same request gets the same scopes each time', async (revision) => {
    const headers = bearer(token());
    const scopes = [];
    for (let n = 0; n < 3; n++) scopes.push(paramOf(await ask(revision, { headers, tool: 'write' }), 'scope'));
    expect(scopes).toEqual(Array(3).fill('mcp files:write'));
  });

  eachRevision(
    'AUTHRS-11',
    'missing scopes get 403 with everything that a client needs to ask for more',
    async (revision) => {
      const answer = await ask(revision, { headers: bearer(token()), tool: 'write' });
      expect([answer.status, challengeOf(answer)]).toEqual([
        403,
        `Bearer error="insufficient_scope", scope="mcp files:write", resource_metadata="${new URL(RESOURCE_METADATA, server.url).href}/mcp", error_description="The request needs scopes that the access token does not have."`,
      ]);
    },
  );

  eachRevision('AUTHRS-13', 'a scope has those that it implies', async (revision) => {
    const headers = bearer(token({ scope: 'mcp admin' }));
    expect((await ask(revision, { headers, tool: 'write' })).status).toBe(200);
  });

  eachRevision('AUTHRS-14', 'nothing asks for offline_access, even if a tool needs it (#22)', async (revision) => {
    class Mail {
      @Tool({ description: 'Reads mail', scopes: ['mail', 'offline_access'] })
      declared() {
        return 'read';
      }

      @Tool({ description: 'Reads mail' })
      required(_input: NoInput, context: Context) {
        context.requireScopes('mail', 'offline_access');
        return 'read';
      }
    }
    const wide = bearer(token({ scope: 'mcp offline_access' }));
    const challenges = [await ask(revision, { headers: wide, tool: 'write' }), await ask(revision, {})].map(
      challengeOf,
    );
    expect([...challenges, await documentAt(RESOURCE_METADATA)].join()).not.toContain('offline_access');
    const mail = new McpServer({ name: 'mail', version: '1.0.0', providers: [Mail] });
    const { url, close } = await listen(mail, { port: 0, signals: false, auth: server.auth });
    for (const tool of ['declared', 'required']) {
      const denied = await ask(revision, { headers: bearer(token()), tool, url });
      expect([denied.status, challengeOf(denied)]).toEqual([403, expect.stringContaining('mail')]);
      expect(challengeOf(denied)).not.toContain('offline_access');
    }
    await close();
    await mail.close();
  });

  eachRevision('AUTHRS-15', 'scheme and host of an audience may be in upper case', async (revision) => {
    const aud = server.url.replace('http://', 'HTTP://');
    expect((await ask(revision, { headers: bearer(token({ aud })) })).status).toBe(200);
  });

  eachRevision('AUTHRS-16', 'no token is logged, told to handlers, or sent back', async (revision) => {
    logged.length = 0;
    const texts = [];
    const tokens = [token(), token({ exp: PAST }), 'opaque-secret'];
    for (const each of tokens) texts.push(await (await ask(revision, { headers: bearer(each) })).text());
    expect(texts[0]).toContain('ada');
    expect(logged.join()).toContain('granted');
    for (const each of tokens) expect([...texts, ...logged].join()).not.toContain(each.split('.').at(-1));
  });
});
