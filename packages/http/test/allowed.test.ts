import { describe, expect, it } from '@jest/globals';
import type { ListenOptions } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';

import { Guard } from '../src/endpoint/guard.js';
import { serve, afterwards, createServer, type Fields, INITIALIZE, Probe, raw } from './fixture.js';

const BODY = JSON.stringify(INITIALIZE);

describe('a value of allowedHosts or allowedOrigins that no request can match', () => {
  const list = (hosts: readonly string[]) => ({ allowedHosts: hosts });
  const origins = (values: readonly string[]) => ({ allowedOrigins: values });

  it.each([
    [
      list(['https://mcp.example.com']),
      'contains "https://mcp.example.com". A host has no scheme, path or query. Write "mcp.example.com".',
    ],
    [list(['https://mcp.example.com:8443/mcp?a']), 'Write "mcp.example.com:8443".'],
    [list(['mcp.example.com/mcp']), 'Write "mcp.example.com".'],
    [list(['good.example.com', 'mcp.example.com/']), 'Write "mcp.example.com".'],
    [list(['*']), 'Wildcards are not supported. List each one, such as "mcp.example.com".'],
    [list(['*.example.com']), 'Wildcards are not supported. List each one, such as "mcp.example.com".'],
    [list(['mcp.example.com:*']), 'Wildcards are not supported. List each one, such as "mcp.example.com".'],
    [list(['::1']), 'Write "[::1]".'],
    [list(['bücher.example']), 'Write "xn--bcher-kva.example".'],
    [list(['']), 'Write "mcp.example.com".'],
    [list(['two words']), 'Write "mcp.example.com".'],
    [
      origins(['app.example.com']),
      'contains "app.example.com". An origin starts with a scheme. Write "https://app.example.com".',
    ],
    [origins(['localhost:5173']), 'Write "http://localhost:5173".'],
    [
      origins(['https://app.example.com/']),
      'An origin is a scheme and a host, as browsers send them. Write "https://app.example.com".',
    ],
    [origins(['https://app.example.com/chat?a']), 'Write "https://app.example.com".'],
    [origins(['https://app.example.com:443']), 'Write "https://app.example.com".'],
    [origins(['http://app.example.com:80']), 'Write "http://app.example.com".'],
    [origins(['https://bücher.example']), 'Write "https://xn--bcher-kva.example".'],
    [origins(['*']), 'Wildcards are not supported. List each one, such as "https://app.example.com".'],
    [
      origins(['https://*.example.com']),
      'Wildcards are not supported. List each one, such as "https://app.example.com".',
    ],
    [origins(['null']), 'Write "https://app.example.com".'],
    [origins(['']), 'Write "https://app.example.com".'],
    [origins(['vscode-webview://abc/index.html']), 'Write "https://app.example.com".'],
  ])('fails at startup with a remedy: %j', (options, message) => {
    const create = () => new Guard({ allowedHosts: [], allowedOrigins: [], ...options });
    const [name = ''] = Object.keys(options);
    expect(create).toThrow(expect.objectContaining({ code: 'DECORUM_INVALID_OPTION' }));
    expect(create).toThrow(`@decorum/http: \`${name}\` `);
    expect(create).toThrow(`${message} [DECORUM_INVALID_OPTION]`);
  });

  it('is not confused with valid ones', () => {
    const ipv6 = ['[2001:db8::1]', '10.0.0.1', 'mcp', 'localhost:8080'];
    const allowedHosts = ['MCP.example.com', 'mcp.example.com:8443', ...ipv6];
    const local = ['http://localhost:5173', 'http://[::1]:1'];
    const allowedOrigins = ['https://App.example.com', 'vscode-webview://abc', ...local];
    expect(() => new Guard({ allowedHosts, allowedOrigins })).not.toThrow();
  });
});

/** Returns the log lines of a server that rejects requests with these headers. */
async function refusedBy(options: ListenOptions, each: readonly Fields[]): Promise<[lines: string[], port: number]> {
  const lines: string[] = [];
  const logger = { warn: (_details: object, message: string) => void lines.push(message), error: () => {} };
  const { url, port } = await serve(options, { logger });
  for (const headers of each) {
    const [{ statusCode }] = await raw(url, 'POST', { 'content-type': 'application/json', ...headers }, BODY);
    expect([headers, statusCode]).toEqual([headers, 403]);
  }
  return [lines, port];
}

describe('a rejected request', () => {
  it('has its Host logged once, with the option that would allow it', async () => {
    const hosts = ['localhost:8080', 'localhost:8080', 'mcp.example.com', 'mcp.example.com', 'MCP.example.com:8443'];
    const [lines] = await refusedBy(
      {},
      hosts.map((host) => ({ host })),
    );
    expect(lines).toEqual([
      'Rejected a request with the Host "localhost:8080" (403). If your clients use it, add it: `allowedHosts: [\'localhost:8080\']`.',
      'Rejected a request with the Host "mcp.example.com" (403). If your clients use it, add it: `allowedHosts: [\'mcp.example.com\']`.',
      'Rejected a request with the Host "MCP.example.com:8443" (403). If your clients use it, add it: `allowedHosts: [\'mcp.example.com\']`.',
    ]);
  });

  it('has its Origin logged once, with the option that would allow it', async () => {
    const origin = 'http://localhost:5173';
    const [lines] = await refusedBy({}, [{ origin }, { origin }, { origin: 'null' }]);
    expect(lines).toEqual([
      `Rejected a request with the Origin "${origin}" (403). If your clients use it, add it: \`allowedOrigins: ['${origin}']\`.`,
      'Rejected a request with the Origin "null" (403).',
    ]);
  });

  it('cannot inject control characters into the log', async () => {
    const escape = Buffer.from('a\u009b31m\u00ff.example', 'latin1').toString('latin1');
    const hosts = [escape, "'];process.exit();['", '`x`', 'a b', `${'x'.repeat(5000)}.example`];
    const [lines] = await refusedBy(
      {},
      hosts.map((host) => ({ host })),
    );
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      expect(line).toMatch(/^Rejected a request with the Host "[\x21-\x7e]{3,100}" \(403\)\.$/);
      expect(line.length).toBeLessThan(160);
    }
  });

  it('is no longer logged after many rejected values', async () => {
    const lines: string[] = [];
    const logger = { warn: (_details: object, message: string) => void lines.push(message), error: () => {} };
    const { server } = createServer(new Probe(), { logger });
    const handler = fetchHandler(server);
    afterwards(() => handler.close());
    for (let n = 0; n < 200; n++) {
      const request = new Request('http://test.example/mcp', {
        method: 'POST',
        body: BODY,
        headers: { host: `h${n}.example` },
      });
      const { status } = await handler(request);
      if (status !== 403) throw new Error(`${n} was answered with ${status}`);
    }
    expect(lines).toHaveLength(20);
    expect(lines.at(-1)).toMatch(
      /^Rejected a request with the Host "h19\.example".*Further rejected values are not logged\.$/,
    );
  });

  it('without a Host is not logged', () => {
    const lines: string[] = [];
    const guard = new Guard({ allowedHosts: [], allowedOrigins: [] });
    guard.warn = (line) => void lines.push(line);
    for (const headers of [{}, { host: '' }])
      expect(() => guard.check(headers, 80)).toThrow('This Host is not allowed');
    expect(lines).toEqual([]);
  });
});
