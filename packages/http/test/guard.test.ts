import { networkInterfaces } from 'node:os';

import { describe, expect, it } from '@jest/globals';
import { connectMemory } from '@decorum/core';
import { listen } from '@decorum/http';

import { isLoopback } from '../src/endpoint/allowed.js';
import { corsHeaders, Guard } from '../src/endpoint/guard.js';
import { createServer, type Fields, INITIALIZE, Probe, raw, serve } from './fixture.js';

const BODY = JSON.stringify(INITIALIZE);
const JSON_TYPE = { 'content-type': 'application/json' };

async function send(url: string, headers: Fields): Promise<number | undefined> {
  const [response, text] = await raw(url, 'POST', { ...JSON_TYPE, ...headers }, BODY);
  if (response.statusCode === 403) {
    const header = headers['host'] === undefined ? 'Origin' : 'Host';
    const message = `This ${header} is not allowed.`;
    expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0', error: { code: -32600, message } });
  }
  return response.statusCode;
}

describe('Host', () => {
  it('is accepted if it names this machine and the port', async () => {
    const { url, port } = await serve();
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`]) {
      expect([host, await send(url, { host })]).toEqual([host, 200]);
    }
  });

  it('is rejected with 403 if it names anything else', async () => {
    const { url, port } = await serve();
    const hosts = [
      'evil.example',
      `evil.example:${port}`,
      'localhost',
      `localhost:${port + 1}`,
      '[::1]',
      `::1:${port}`,
    ];
    hosts.push(`localhost.evil.example:${port}`, `localhost.:${port}`, `user@localhost:${port}`, `127.0.0.2:${port}`);
    for (const host of hosts) expect([host, await send(url, { host })]).toEqual([host, 403]);
  });

  it('is rejected with 403 before the body is read', async () => {
    const { url } = await serve({ limits: { bodyLimit: 10 } });
    const [bad] = await raw(url, 'POST', { ...JSON_TYPE, host: 'evil.example' }, '{bad'.repeat(100));
    expect(bad.statusCode).toBe(403);
    expect(bad.headers.connection).toBe('close');
  });

  it('is checked for every method of the endpoint', async () => {
    const { url } = await serve();
    for (const method of ['GET', 'DELETE', 'OPTIONS']) {
      expect((await raw(url, method, { host: 'evil.example' }))[0].statusCode).toBe(403);
    }
  });

  it('can be allowed with any port or with a specific one', async () => {
    const { url, port } = await serve({ allowedHosts: ['Mcp.example.com', 'other.example.com:8443', '[2001:db8::1]'] });
    const good = [
      'mcp.example.com',
      'MCP.example.com:443',
      'other.example.com:8443',
      '[2001:db8::1]:99',
      `localhost:${port}`,
    ];
    for (const host of good) expect([host, await send(url, { host })]).toEqual([host, 200]);
    for (const host of ['other.example.com', 'a.mcp.example.com', 'mcp.example.com.evil.example', 'example.com']) {
      expect([host, await send(url, { host })]).toEqual([host, 403]);
    }
  });

  it('is never taken from X-Forwarded-Host or Forwarded, and these are not echoed', async () => {
    const { url } = await serve({ allowedHosts: ['mcp.example.com'] });
    const forged = { 'x-forwarded-host': 'mcp.example.com', forwarded: 'host=mcp.example.com' };
    expect(await send(url, { host: 'evil.example', ...forged })).toBe(403);
    const headers = { ...JSON_TYPE, 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' };
    const [response, text] = await raw(url, 'POST', headers, BODY);
    expect(response.statusCode).toBe(200);
    expect(JSON.stringify(response.headers) + text).not.toContain('evil');
  });
});

describe('Origin', () => {
  it('is accepted if it names this machine and port, or is absent [HTTP-03]', async () => {
    const { url, port } = await serve();
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      expect(await send(url, { origin: `http://${host}:${port}` })).toBe(200);
    }
    expect(await send(url, {})).toBe(200);
  });

  it('is rejected with 403 if it is anything else [HTTP-03] [HTTP-04]', async () => {
    const { url, port } = await serve();
    const origins = ['http://evil.example', `http://localhost.evil.example:${port}`, 'null', '', 'http://localhost'];
    origins.push(
      `http://localhost:${port}.evil.example`,
      `http://localhost:${port}@evil.example`,
      `file://localhost:${port}`,
    );
    origins.push(`http://localhost:${port + 1}`, `http://evil.example/http://localhost:${port}`, `localhost:${port}`);
    for (const origin of origins) expect([origin, await send(url, { origin })]).toEqual([origin, 403]);
  });

  it('can be allowed [HTTP-03]', async () => {
    const { url } = await serve({ allowedOrigins: ['https://app.example.com', 'vscode-webview://abc'] });
    expect(await send(url, { origin: 'https://app.example.com' })).toBe(200);
    expect(await send(url, { origin: 'HTTPS://App.Example.com' })).toBe(200);
    expect(await send(url, { origin: 'vscode-webview://abc' })).toBe(200);
    for (const origin of [
      'http://app.example.com',
      'https://app.example.com:444',
      'https://app.example.com.evil.example',
    ]) {
      expect([origin, await send(url, { origin })]).toEqual([origin, 403]);
    }
  });
});

describe('CORS', () => {
  const origin = 'https://app.example.com';
  const preflight = (headers: string) => ({
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': headers,
  });

  it('lets a page of an allowed origin send and read the headers of MCP', async () => {
    const { url } = await serve({ allowedOrigins: [origin] });
    const wanted = 'content-type, accept, authorization, last-event-id, mcp-session-id, mcp-protocol-version';
    const all = `${wanted}, mcp-method, mcp-name, mcp-param-region`;
    const others = 'x-evil, mcp-param-, x-content-type, accept-language';
    const [{ statusCode, headers }, text] = await raw(url, 'OPTIONS', preflight(`${all}, ${others}`));
    expect([statusCode, text]).toEqual([204, '']);
    expect(headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, DELETE, OPTIONS',
      'access-control-allow-headers': all,
      'access-control-max-age': '7200',
      vary: 'Origin',
    });
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    const [answer] = await raw(url, 'POST', { ...JSON_TYPE, origin }, BODY);
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'Mcp-Session-Id, WWW-Authenticate',
      vary: 'Origin',
    });
  });

  it('accepts header names in any case, and a preflight request for none', async () => {
    const { url } = await serve({ allowedOrigins: [origin] });
    const [some] = await raw(url, 'OPTIONS', preflight('Content-Type,Mcp-Param-X'));
    expect(some.headers['access-control-allow-headers']).toBe('Content-Type, Mcp-Param-X');
    const [none] = await raw(url, 'OPTIONS', { origin, 'access-control-request-method': 'POST' });
    expect([none.statusCode, none.headers['access-control-allow-headers']]).toEqual([204, '']);
  });

  it('lets a page send the headers that carry credentials, in any case', async () => {
    const auth = { authenticate: () => undefined, credentialHeaders: ['X-Shop-Key'] };
    const { url } = await serve({ auth, allowedOrigins: [origin] });
    const [answer] = await raw(url, 'OPTIONS', preflight('x-SHOP-key, authorization, x-shop'));
    expect(answer.headers['access-control-allow-headers']).toBe('x-SHOP-key, authorization');
  });

  it('keeps the Vary header of the application', () => {
    expect(corsHeaders(origin, 'Accept-Encoding')).toMatchObject({ vary: 'Accept-Encoding, Origin' });
  });

  it('sends no headers to pages of other origins or without an Origin', async () => {
    const { url } = await serve({ allowedOrigins: [origin] });
    const [evil] = await raw(url, 'OPTIONS', { ...preflight('content-type'), origin: 'http://evil.example' });
    expect(evil.statusCode).toBe(403);
    expect(evil.headers).not.toHaveProperty('access-control-allow-origin');
    const [plain] = await raw(url, 'POST', JSON_TYPE, BODY);
    expect(plain.headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('a guard', () => {
  type Request = { host?: string; origin?: string };
  const accepts = (request: Request, port: number | undefined, guard = create()) => {
    try {
      guard.check(request, port);
      return true;
    } catch (error) {
      // the body stays unread, so the connection can't be used again
      expect(error).toMatchObject({ status: 403, headers: { connection: 'close' } });
      return false;
    }
  };
  const create = () => new Guard({ allowedHosts: [], allowedOrigins: [] });

  it('accepts names of this machine without a port only on port 80', () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      expect([host, accepts({ host }, 80), accepts({ host }, 81)]).toEqual([host, true, false]);
    }
  });

  it('accepts names of this machine with any port if the connection has none, and requires a Host', () => {
    for (const host of ['localhost', 'localhost:1234', '[::1]:1', '[::1]'])
      expect(accepts({ host }, undefined)).toBe(true);
    for (const request of [{}, { host: 'evil.example' }]) expect(accepts(request, undefined)).toBe(false);
  });

  it('checks a Host that it has accepted again on another port', () => {
    const guard = create();
    const host = 'localhost:8080';
    expect([8080, 8081, 8080].map((port) => accepts({ host }, port, guard))).toEqual([true, false, true]);
  });

  it('accepts a loopback origin without a port only on the port of its scheme [HTTP-03]', () => {
    const portsOf = (origin: string) =>
      [80, 443, 81].filter((port) => accepts({ host: `localhost:${port}`, origin }, port));
    expect(portsOf('http://localhost')).toEqual([80]);
    expect(portsOf('https://[::1]')).toEqual([443]);
    expect(portsOf('https://localhost:81')).toEqual([81]);
    expect(portsOf('ftp://localhost')).toEqual([]);
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
  it('listens on 127.0.0.1 by default [HTTP-05]', async () => {
    const { url, port } = await serve();
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
    const others = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    for (const { address, family, internal } of others) {
      if (internal || family !== 'IPv4') continue;
      await expect(fetch(`http://${address}:${port}/mcp`)).rejects.toThrow('fetch failed');
    }
  });

  it('rejects a public address without allowedHosts [HTTP-05]', async () => {
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
    expect(await send(url, { host: 'mcp.example.com' })).toBe(200);
    expect(await send(url, { host: `0.0.0.0:${port}` })).toBe(403);
  });

  it('rejects invalid options before it listens', async () => {
    const { server } = createServer(new Probe());
    const bad = [
      { keepAliveMs: Number.NaN },
      { retryMs: 2 ** 31 },
      { allowedHosts: ['https://mcp.example.com'] },
      { allowedOrigins: ['*'] },
      { allowedOrigins: ['https://app.example.com/'] },
    ];
    for (const options of bad) {
      const [name] = Object.keys(options);
      const started = listen(server, { port: 0, ...options });
      await expect(started).rejects.toMatchObject({ code: 'DECORUM_INVALID_OPTION' });
      await expect(started).rejects.toThrow(name);
    }
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
