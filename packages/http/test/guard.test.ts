import { describe, expect, it } from '@jest/globals';
import { connectMemory } from '@decorum/core';
import { listen } from '@decorum/http';

import { isLoopback } from '../src/endpoint/allowed.js';
import { corsHeaders, Guard, preflightHeaders } from '../src/endpoint/guard.js';
import { createServer, INITIALIZE, post, Probe, raw, serve } from './fixture.js';

const PORT = 8080;
const HOST = `localhost:${PORT}`;
const create = (allowedHosts: string[] = [], allowedOrigins: string[] = []) =>
  new Guard({ allowedHosts, allowedOrigins });

/** Whether a guard lets a request through. */
function accepts(request: { host?: string; origin?: string }, port: number | undefined, guard = create()) {
  try {
    guard.check(request, port);
    return true;
  } catch (error) {
    const message = `This ${request.origin === undefined ? 'Host' : 'Origin'} is not allowed.`;
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
    const similar = [
      'localhost.',
      'localhost.evil.example',
      'notlocalhost',
      'user@localhost',
      '127.0.0.1.evil.example',
    ];
    const ports = [PORT + 1, PORT - 1, `${PORT}0`, `${PORT}.evil.example`, ''].map((port) => `localhost:${port}`);
    for (const host of [...other, ...similar.map((name) => `${name}:${PORT}`), ...ports]) {
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
    for (const request of [{}, { host: 'evil.example' }]) {
      expect(() => create().check(request, undefined)).toThrow('This Host is not allowed.');
    }
  });

  it('is checked again on another port', () => {
    const guard = create();
    expect([8080, 8081, 8080].map((port) => accepts({ host: HOST }, port, guard))).toEqual([true, false, true]);
  });

  it('is never taken from X-Forwarded-Host or Forwarded, and these are not echoed', async () => {
    const { url } = await serve({ allowedHosts: ['mcp.example.com'] });
    const json = { 'content-type': 'application/json' };
    const forged = { 'x-forwarded-host': 'mcp.example.com', forwarded: 'host=mcp.example.com' };
    expect((await raw(url, 'POST', { ...json, host: 'evil.example', ...forged }))[0].statusCode).toBe(403);
    const headers = { ...json, 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' };
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
    const wanted = 'content-type, accept, authorization, last-event-id, mcp-session-id, mcp-protocol-version';
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
    const headers = { 'content-type': 'application/json', host: `0.0.0.0:${port}` };
    expect((await raw(url, 'POST', headers))[0].statusCode).toBe(403);
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
