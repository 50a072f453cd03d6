// Which hosts, origins and addresses an endpoint takes requests from.
import { describe, expect, it } from '@jest/globals';
import { connectMemory, type McpServer } from '@decorum/core';
import { listen, mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import express from 'express';
import fastify from 'fastify';

import { isLoopback } from '../src/endpoint/allowed.js';
import { addressOf, callerOf } from '../src/endpoint/caller.js';
import { corsHeaders, Guard, preflightHeaders } from '../src/endpoint/guard.js';
import { afterwards, createServer, Probe, serve, serveNode } from './fixture.js';
import { calling, type Fields, INITIALIZE, request } from './messages.js';
import { post, posted, raw } from './sending.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const PORT = 8080;
const HOST = `localhost:${PORT}`;
const create = (allowedHosts: string[] = [], allowedOrigins: string[] = []) =>
  new Guard({ allowedHosts, allowedOrigins });

/** Whether a guard lets a request through. */
function accepts(headers: { host?: string; origin?: string }, port: number | undefined, guard = create()) {
  try {
    guard.check(headers, port);
    return true;
  } catch (error) {
    const message = `This ${headers.origin === undefined ? 'Host' : 'Origin'} is not allowed.`;
    // the body stays unread, so the connection can't be used again
    expect(error).toMatchObject({ status: 403, message, headers: { connection: 'close' } });
    return false;
  }
}

describe('Host', () => {
  it('is accepted if it names this machine and the port', () => {
    for (const host of [HOST, `127.0.0.1:${PORT}`, `[::1]:${PORT}`, `LOCALHOST:${PORT}`]) {
      expect([host, accepts({ host }, PORT)]).toEqual([host, true]);
    }
  });

  it('is rejected with 403 if it names anything else', () => {
    const other = [`evil.example`, `evil.example:${PORT}`, `127.0.0.2:${PORT}`, `::1:${PORT}`, '[::1]', 'localhost'];
    const names = ['localhost.', 'localhost.evil.example', 'notlocalhost', 'user@localhost', '127.0.0.1.evil.example'];
    const ports = [PORT + 1, PORT - 1, `${PORT}0`, `${PORT}.evil.example`, ''].map((port) => `localhost:${port}`);
    for (const host of [...other, ...names.map((name) => `${name}:${PORT}`), ...ports]) {
      expect([host, accepts({ host }, PORT)]).toEqual([host, false]);
    }
  });

  it('can be allowed with any port or with a specific one', () => {
    const guard = create(['Mcp.example.com', 'other.example.com:8443', '[2001:db8::1]']);
    for (const host of ['mcp.example.com', 'MCP.example.com:443', 'other.example.com:8443', '[2001:db8::1]:99', HOST]) {
      expect([host, accepts({ host }, PORT, guard)]).toEqual([host, true]);
    }
    const similar = ['a.mcp.example.com', 'evilmcp.example.com', 'mcp.example.com.evil.example', 'example.com'];
    for (const host of ['other.example.com', ...similar]) {
      expect([host, accepts({ host }, PORT, guard)]).toEqual([host, false]);
    }
  });

  it('names this machine without a port only on port 80', () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      expect([host, accepts({ host }, 80), accepts({ host }, 81)]).toEqual([host, true, false]);
    }
  });

  it('is required, and names this machine with any port, if the connection has no port', () => {
    for (const host of ['localhost', 'localhost:1234', '[::1]:1', '[::1]']) {
      expect([host, accepts({ host }, undefined)]).toEqual([host, true]);
    }
    for (const headers of [{}, { host: 'evil.example' }]) {
      expect(() => create().check(headers, undefined)).toThrow('This Host is not allowed.');
    }
  });

  it('is checked again on another port', () => {
    const guard = create();
    expect([8080, 8081, 8080].map((port) => accepts({ host: HOST }, port, guard))).toEqual([true, false, true]);
  });

  it('is never taken from X-Forwarded-Host or Forwarded, and these are not echoed', async () => {
    const { url } = await serve({ allowedHosts: ['mcp.example.com'] });
    const forged = { 'x-forwarded-host': 'mcp.example.com', forwarded: 'host=mcp.example.com' };
    expect((await raw(url, 'POST', { ...JSON_TYPE, host: 'evil.example', ...forged }))[0].statusCode).toBe(403);
    const headers = { ...JSON_TYPE, 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' };
    const [response, text] = await raw(url, 'POST', headers, JSON.stringify(INITIALIZE));
    expect(response.statusCode).toBe(200);
    expect(JSON.stringify(response.headers) + text).not.toContain('evil');
  });
});

describe('Origin', () => {
  const acceptsOrigin = (origin: string, guard = create()) => accepts({ host: HOST, origin }, PORT, guard);

  it('is accepted if it names this machine and port, or is absent', () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]']) expect(acceptsOrigin(`http://${host}:${PORT}`)).toBe(true);
    expect(accepts({ host: HOST }, PORT)).toBe(true);
  });

  it('is rejected with 403 if it is anything else', () => {
    const hosts = ['evil.example', 'localhost.evil.example', 'notlocalhost', '127.0.0.1.evil.example'];
    const others = ['http://evil.example', 'null', '', 'http://localhost', `localhost:${PORT}`, `file://${HOST}`];
    const ports = [`${PORT}0`, PORT + 1, `${PORT}.evil.example`, `${PORT}@evil.example`].map(
      (port) => `localhost:${port}`,
    );
    const odd = [`ftp://${HOST}`, `http://evil.example/http://${HOST}`, `http://${HOST}, http://evil.example`];
    const foreign = [...hosts.map((host) => `${host}:${PORT}`), ...ports].map((host) => `http://${host}`);
    for (const origin of [...others, ...foreign, ...odd])
      expect([origin, acceptsOrigin(origin)]).toEqual([origin, false]);
  });

  it('can be allowed', () => {
    const guard = create([], ['https://app.example.com', 'vscode-webview://abc']);
    for (const origin of ['https://app.example.com', 'HTTPS://App.Example.com', 'vscode-webview://abc']) {
      expect([origin, acceptsOrigin(origin, guard)]).toEqual([origin, true]);
    }
    const similar = ['http://app.example.com', 'https://evil.app.example.com', 'app.example.com'];
    for (const end of ['.evil.example', ':444', '/']) similar.push(`https://app.example.com${end}`);
    for (const origin of similar) expect([origin, acceptsOrigin(origin, guard)]).toEqual([origin, false]);
  });

  it('names this machine without a port only on the port of its scheme', () => {
    const portsOf = (origin: string) =>
      [80, 443, 81].filter((port) => accepts({ host: `localhost:${port}`, origin }, port));
    expect(portsOf('http://localhost')).toEqual([80]);
    expect(portsOf('https://[::1]')).toEqual([443]);
    expect(portsOf('https://localhost:81')).toEqual([81]);
    expect(portsOf('ftp://localhost')).toEqual([]);
  });
});

describe('CORS', () => {
  const origin = 'https://app.example.com';

  it('lets a page of an allowed origin read the headers of MCP, and keeps the Vary header of the application', () => {
    const exposed = 'Mcp-Session-Id, WWW-Authenticate';
    const headers = { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed };
    expect(corsHeaders(origin)).toEqual({ ...headers, vary: 'Origin' });
    expect(corsHeaders(origin, 'Accept-Encoding')).toEqual({ ...headers, vary: 'Accept-Encoding, Origin' });
  });

  it('lets it send the headers of MCP and those that carry credentials, in any case', () => {
    const wanted =
      'content-type, accept, authorization, last-event-id, idempotency-key, mcp-session-id, mcp-protocol-version';
    const all = `${wanted}, mcp-method, mcp-name, mcp-param-region`;
    const others = 'x-evil, mcp-param-, x-content-type, content-type-x, accept-language';
    expect(preflightHeaders(`${all}, ${others}`)).toEqual({
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      'access-control-allow-headers': all,
      'access-control-max-age': '7200',
    });
    const allowed = (requested?: string) =>
      preflightHeaders(requested, ['X-Shop-Key'])['access-control-allow-headers' as never];
    expect(allowed('Content-Type,Mcp-Param-X, x-SHOP-key, x-shop')).toBe('Content-Type, Mcp-Param-X, x-SHOP-key');
    expect(allowed()).toBe('');
  });
});

describe('a listen address', () => {
  it('is local if only this machine can reach it', () => {
    for (const host of ['localhost', '127.0.0.1', '127.9.12.255', '::1'])
      expect([host, isLoopback(host)]).toEqual([host, true]);
    for (const host of ['', '0.0.0.0', '1127.0.0.1', '127.0.0.1.example.com', '127.0.0', '::', '::ffff:1']) {
      expect([host, isLoopback(host)]).toEqual([host, false]);
    }
  });
});

describe('listen', () => {
  it('rejects a public address without allowedHosts', async () => {
    const { server } = createServer(new Probe());
    for (const host of ['0.0.0.0', '::', '192.0.2.1', 'mcp.example.com']) {
      const started = listen(server, { host, port: 0 });
      await expect(started).rejects.toMatchObject({ code: 'DECORUM_UNSAFE_HOST' });
      await expect(started).rejects.toThrow(host);
    }
    // the server can still be used
    (await connectMemory(server, { receive: () => {} })).close();
    await server.close();
  });

  it('listens on any address with allowedHosts, and checks Host', async () => {
    const { url, port } = await serve({ host: '0.0.0.0', allowedHosts: ['mcp.example.com'] });
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
    expect((await post(url, INITIALIZE)).status).toBe(200);
    expect((await raw(url, 'POST', { ...JSON_TYPE, host: `0.0.0.0:${port}` }))[0].statusCode).toBe(403);
  });

  it('leaves no process guard or port behind if the port is taken', async () => {
    const { port } = await serve();
    const { server } = createServer(new Probe());
    const listeners = process.listenerCount('uncaughtException');
    await expect(listen(server, { port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(process.listenerCount('uncaughtException')).toBe(listeners);
    await server.close();
  });
});

describe('a value of allowedHosts or allowedOrigins that no request can match', () => {
  const WILD = (sample: string) => `Wildcards are not supported. List each one, such as "${sample}".`;
  const HOST_REMEDY =
    'contains "https://mcp.example.com". A host has no scheme, path or query. Write "mcp.example.com".';
  const ORIGIN_REMEDY = 'contains "app.example.com". An origin starts with a scheme. Write "https://app.example.com".';
  const SLASH_REMEDY = 'An origin is a scheme and a host, as browsers send them. Write "https://app.example.com".';

  it.each([
    ['allowedHosts', 'https://mcp.example.com', HOST_REMEDY],
    ['allowedHosts', 'https://mcp.example.com:8443/mcp?a', 'Write "mcp.example.com:8443".'],
    ['allowedHosts', 'mcp.example.com/mcp', 'Write "mcp.example.com".'],
    ['allowedHosts', 'mcp.example.com/', 'Write "mcp.example.com".'],
    ...['*', '*.example.com', 'mcp.example.com:*'].map(
      (host) => ['allowedHosts', host, WILD('mcp.example.com')] as const,
    ),
    ['allowedHosts', '::1', 'Write "[::1]".'],
    ['allowedHosts', 'bücher.example', 'Write "xn--bcher-kva.example".'],
    ['allowedHosts', '', 'Write "mcp.example.com".'],
    ['allowedHosts', 'two words', 'Write "mcp.example.com".'],
    ['allowedOrigins', 'app.example.com', ORIGIN_REMEDY],
    ['allowedOrigins', 'localhost:5173', 'Write "http://localhost:5173".'],
    ['allowedOrigins', 'https://app.example.com/', SLASH_REMEDY],
    ['allowedOrigins', 'https://app.example.com/chat?a', 'Write "https://app.example.com".'],
    ['allowedOrigins', 'https://app.example.com:443', 'Write "https://app.example.com".'],
    ['allowedOrigins', 'http://app.example.com:80', 'Write "http://app.example.com".'],
    ['allowedOrigins', 'https://bücher.example', 'Write "https://xn--bcher-kva.example".'],
    ['allowedOrigins', '*', WILD('https://app.example.com')],
    ['allowedOrigins', 'https://*.example.com', WILD('https://app.example.com')],
    ['allowedOrigins', 'null', 'Write "https://app.example.com".'],
    ['allowedOrigins', '', 'Write "https://app.example.com".'],
    ['allowedOrigins', 'vscode-webview://abc/index.html', 'Write "https://app.example.com".'],
  ] as const)('fails at startup with a remedy: %s with "%s"', (name, value, message) => {
    const valid = name === 'allowedHosts' ? 'good.example.com' : 'https://good.example.com';
    const start = () => new Guard({ allowedHosts: [], allowedOrigins: [], [name]: [valid, value] });
    expect(start).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }));
    expect(start).toThrow(`@decorum/http: \`${name}\` `);
    expect(start).toThrow(`${message} [DECORUM_INVALID_OPTION]`);
  });

  it('is not confused with valid ones', () => {
    const ipv6 = ['[2001:db8::1]', '10.0.0.1', 'mcp', 'localhost:8080'];
    const allowedHosts = ['MCP.example.com', 'mcp.example.com:8443', ...ipv6];
    const local = ['http://localhost:5173', 'http://[::1]:1'];
    const allowedOrigins = ['https://App.example.com', 'vscode-webview://abc', ...local];
    expect(() => new Guard({ allowedHosts, allowedOrigins })).not.toThrow();
  });
});

describe('a rejected request', () => {
  /** The log lines of a server that rejects requests with these values of a header. */
  async function linesOf(header: 'host' | 'origin', values: readonly string[]): Promise<string[]> {
    const lines: string[] = [];
    const logger = { warn: (_details: object, message: string) => void lines.push(message), error: () => {} };
    const { url } = await serve({}, { logger });
    for (const value of values) {
      const [{ statusCode }] = await raw(url, 'POST', { ...JSON_TYPE, [header]: value }, JSON.stringify(INITIALIZE));
      expect([value, statusCode]).toEqual([value, 403]);
    }
    return lines;
  }

  const line = (header: string, value: string) => `Rejected a request with the ${header} "${value}" (403).`;
  const adding = (option: string, value: string) => ` If your clients use it, add it: \`${option}: ['${value}']\`.`;

  it('has its Host logged once, with the option that would allow it', async () => {
    const hosts = ['localhost:8080', 'localhost:8080', 'mcp.example.com', 'mcp.example.com', 'MCP.example.com:8443'];
    expect(await linesOf('host', hosts)).toEqual([
      line('Host', 'localhost:8080') + adding('allowedHosts', 'localhost:8080'),
      line('Host', 'mcp.example.com') + adding('allowedHosts', 'mcp.example.com'),
      line('Host', 'MCP.example.com:8443') + adding('allowedHosts', 'mcp.example.com'),
    ]);
  });

  it('has its Origin logged once, with the option that would allow it', async () => {
    const origin = 'http://localhost:5173';
    expect(await linesOf('origin', [origin, origin, 'null'])).toEqual([
      line('Origin', origin) + adding('allowedOrigins', origin),
      line('Origin', 'null'),
    ]);
  });

  it('cannot inject control characters into the log', async () => {
    const escape = Buffer.from('a\u009b31m\u00ff.example', 'latin1').toString('latin1');
    const hosts = [escape, "'];process.exit();['", '`x`', 'a b', `${'x'.repeat(5000)}.example`];
    const lines = await linesOf('host', hosts);
    expect(lines).toHaveLength(5);
    for (const each of lines) {
      expect(each).toMatch(/^Rejected a request with the Host "[\x21-\x7e]{3,100}" \(403\)\.$/);
      expect(each.length).toBeLessThan(160);
    }
  });

  it('is no longer logged after many rejected values, nor without a Host', () => {
    const lines: string[] = [];
    const guard = create();
    guard.warn = (each) => void lines.push(each);
    const hosts = Array.from({ length: 200 }, (_, n) => ({ host: `h${n}.example` }));
    for (const headers of [{}, { host: '' }, ...hosts])
      expect(() => guard.check(headers, 80)).toThrow('This Host is not allowed');
    expect(lines).toHaveLength(20);
    expect(lines.at(-1)).toMatch(
      /^Rejected a request with the Host "h19\.example".*Further rejected values are not logged\.$/,
    );
  });
});

const named = (remoteAddress: string | undefined, headers = {}) => addressOf({ headers, remoteAddress });

describe('the address that quotas count by', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:5000', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:0:42::7', '2001:db8:0:42::/64'],
    ['2001:0DB8:0000:0042:1:2:3:4', '2001:db8:0:42::/64'],
    ['[2001:db8:0:42::7]:5000', '2001:db8:0:42::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::1:2:3:4:5', '0:0:0:1::/64'],
    ['fe80::7%eth0', 'fe80:0:0:0::/64'],
    ['127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
  ])('of %s is %s', (address, expected) => {
    expect(named(address)).toBe(expected);
  });

  it.each([undefined, '', 'unknown', '_hidden', 'x'.repeat(10_000), '192.0.2.7, 10.0.0.1', 'mcp.example.com:80'])(
    'is unknown for %j',
    (address) => {
      expect(named(address)).toBeUndefined();
    },
  );

  it.each(['x-forwarded-for', 'forwarded'])('is unknown behind a local proxy that sends %s', (header) => {
    const headers = { [header]: 'for=192.0.2.7' };
    for (const local of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])
      expect(named(local, headers)).toBeUndefined();
    expect(named('192.0.2.9', headers)).toBe('192.0.2.9');
  });
});

describe('the caller that quotas count by', () => {
  const callerAt = (remoteAddress: string | undefined, subject?: string) =>
    callerOf({ headers: {}, remoteAddress, principal: subject === undefined ? undefined : { subject } });

  it('is the principal, wherever it calls from, or else the address', () => {
    expect(callerAt('192.0.2.7', 'ann')).toBe(callerAt(undefined, 'ann'));
    expect(callerAt('192.0.2.7')).toBe(callerAt('192.0.2.7'));
    const all = [callerAt('192.0.2.7', 'ann'), callerAt('x', 'Ann'), callerAt('x', '192.0.2.7'), callerAt('192.0.2.7')];
    expect(new Set(all).size).toBe(4);
    expect(callerAt(undefined)).toBeUndefined();
  });
});

/** Posts a message from an address. */
type Send = (address: string, message: unknown, headers?: Fields) => Promise<Response>;

const OPTIONS = { limits: { maxSessionsPerAddress: 1 } };

/** Posts through a proxy that names the client. */
const through =
  (url: string): Send =>
  async (address, message, headers) =>
    await post(url, message, { ...headers, 'x-forwarded-for': address });

const BINDINGS: Readonly<Record<string, (server: McpServer) => Promise<Send>>> = {
  async 'a Fastify application that trusts its proxy'(server) {
    const app = fastify({ trustProxy: true });
    await app.register(mcp, { ...OPTIONS, server });
    afterwards(() => app.close());
    return through(`${await app.listen({ port: 0, host: '127.0.0.1' })}/mcp`);
  },
  async 'an Express application that trusts its proxy'(server) {
    const app = express().set('trust proxy', true);
    return through(`${await serveNode(app.use('/mcp', nodeHandler(server, OPTIONS)))}/mcp`);
  },
  async 'the fetch handler with the address from its host'(server) {
    const handler = fetchHandler(server, OPTIONS);
    return async (remoteAddress, message, fields) => await handler(posted(message, fields), { remoteAddress });
  },
};

describe.each(Object.entries(BINDINGS))('the address in %s', (_name, start) => {
  it('is shown to handlers, and has a quota that is shared in an IPv6 network', async () => {
    const { server } = createServer(new Probe());
    afterwards(() => server.close());
    server.addTool({ name: 'address' }, (_input, { transport }) => String(transport.remoteAddress));
    const send = await start(server);
    const [message, headers] = calling('address');
    expect(await (await send('192.0.2.1', message, headers)).text()).toContain('"text":"192.0.2.1"');
    const sessions = new Map<string, Fields>();
    const open = async (address: string) => {
      const id = (await send(address, INITIALIZE)).headers.get('mcp-session-id');
      sessions.set(address, { 'mcp-session-id': String(id) });
    };
    const alive = async () => {
      const found = [];
      for (const [address, session] of sessions) {
        if ((await send(address, request(1, 'ping'), session)).status === 200) found.push(address);
      }
      return found;
    };
    const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8:0:1::1'];
    for (const address of addresses) await open(address);
    expect(await alive()).toEqual(addresses);
    await open('2001:db8:0:1::2');
    expect(await alive()).toEqual([...addresses.slice(0, 3), '2001:db8:0:1::2']);
  });
});
