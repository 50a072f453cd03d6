// What `decorum dev` answers by itself, to whom, and what it does with bodies that no program has checked.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { beforeAll, describe, expect, it } from '@jest/globals';

import { HttpClient } from '../../../test/support/dev-clients.js';
import { type DevRun, Project } from '../../../test/support/dev-project.js';
import { rawRequest } from '../../../test/support/raw-http.js';

const MEMBERS = `
import { McpServer, Tool } from '@decorum/core';
class Clock {
  @Tool({ description: 'Tells the time' }) now() { return 'noon'; }
  @Tool({ description: 'Ends the process' }) end() { process.exit(7); }
}
const server = new McpServer({ name: 'clock', version: '1.0.0', providers: [Clock] });
`;
const BROKEN = `${MEMBERS.replace(`'noon'`, `'noon`)}
export { server };
`;
/** Has its own guard for MCP, and none for its other routes. */
const APPLICATION = `${MEMBERS}
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { nodeHandler } from '@decorum/http/node';
const handler = nodeHandler(server, { allowedHosts: ['dev.example'], allowedOrigins: ['https://app.example'] });
await handler.ready;
createServer((request, response) => {
  if (request.url === '/end') process.exit(7);
  if (request.url === '/mcp') return void handler(request, response);
  const hash = createHash('sha256');
  request.once('data', () => console.error('the first bytes have arrived'));
  request.on('data', (chunk) => hash.update(chunk)).once('end', () => response.end(hash.digest('hex')));
}).listen(Number(process.env['PORT']));
`;

let run: DevRun;
let url: string;

async function start(main: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const project = new Project({ 'src/main.ts': main });
  ({ run, url } = await project.serve({ env, says: /clock 1\.0\.0|waiting for an edit/ }));
}

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const message = (method: string, params: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const INITIALIZE = message('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1.0.0' },
});
const NOW = message('tools/call', { name: 'now', arguments: {} });
const REFUSED = { status: 403, body: '{"error":"This Host or Origin is not allowed."}' };

describe('decorum dev, while no program serves,', () => {
  beforeAll(() => start(BROKEN, { ALLOWED_HOSTS: 'other.example, tunnel.example' }));

  it.each([
    ['another Host', { host: 'evil.com' }],
    ['another Host with the same port', { host: 'evil.com:3000', origin: 'http://evil.com:3000' }],
    ['a Host that begins like this machine', { host: 'localhost.evil.com' }],
    ['the Origin of a page elsewhere', { origin: 'http://evil.com' }],
    ['the Origin of another local server', { origin: 'http://localhost:1' }],
    ['the Origin of a file', { origin: 'null' }],
  ])('tells nothing to a request with %s (#22)', async (_, headers) => {
    for (const body of [INITIALIZE, NOW, message('tools/list'), '{}', '[]']) {
      await expect(rawRequest(url, { headers: { ...JSON_TYPE, ...headers }, body })).resolves.toMatchObject(REFUSED);
    }
    for (const method of ['GET', 'DELETE', 'PUT']) {
      await expect(rawRequest(url, { method, headers })).resolves.toMatchObject(REFUSED);
    }
    const text = { headers: { 'content-type': 'text/plain', ...headers }, body: NOW };
    await expect(rawRequest(url, text)).resolves.toMatchObject(REFUSED);
  });

  it('answers this machine, by each of its names, and the hosts in ALLOWED_HOSTS (#22)', async () => {
    const { port, origin } = new URL(url);
    for (const headers of [
      { host: `localhost:${port}`, origin },
      { host: `127.0.0.1:${port}`, origin: `http://localhost:${port}` },
      { host: `[::1]:${port}` },
      // a port that is forwarded
      { host: 'localhost:8080', origin: 'http://localhost:8080' },
      { host: 'Tunnel.Example', origin: 'https://tunnel.example' },
    ]) {
      const headersOf = { ...JSON_TYPE, ...headers };
      const called = await rawRequest(url, { headers: headersOf, body: NOW });
      expect(called).toMatchObject({ status: 200, body: expect.stringContaining('src/main.ts') });
      const begun = await rawRequest(url, { headers: headersOf, body: INITIALIZE });
      expect(begun).toMatchObject({ status: 200, body: expect.stringContaining('protocolVersion') });
    }
  });

  it.each([
    ['a page', 'GET', '/', undefined],
    ['a form', 'POST', '/pay', 'n=9'],
    ['JSON that is no message', 'POST', '/pay', '{"n":9}'],
    ['another method', 'PUT', '/pay', undefined],
    ['a message without a session', 'POST', '/mcp', message('ping')],
    ['a notification without a session', 'POST', '/mcp', '{"jsonrpc":"2.0","method":"notifications/initialized"}'],
    ['a batch without a session', 'POST', '/mcp', `[${message('ping')}]`],
  ])('tells this machine why there is no answer to %s (#22)', async (_, method, path, body) => {
    const type = body === 'n=9' ? 'application/x-www-form-urlencoded' : 'application/json';
    const headers = { ...JSON_TYPE, 'content-type': type };
    const answer = await fetch(new URL(path, url), { method, headers, ...(body && { body }) });
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('has ended: src/main.ts')]);
    const refused = { method, headers: { ...headers, host: 'evil.com' }, ...(body && { body }) };
    await expect(rawRequest(new URL(path, url).href, refused)).resolves.toMatchObject(REFUSED);
  });

  it('still answers what MCP clients begin with, and sessions that it does not know (#22)', async () => {
    const send = async (body: string, headers = {}) =>
      (await fetch(url, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body })).status;
    expect(await send(INITIALIZE)).toBe(200);
    expect(await send(message('ping'), { 'mcp-session-id': 'unknown' })).toBe(404);
  });
});

const MIB = 1024 * 1024;

/** The most memory that a process has had at once, in bytes; 0 if the system doesn't tell. */
function peakOf(pid: number | undefined): number {
  if (process.platform !== 'linux') return 0;
  const [, kilobytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1024;
}

describe('decorum dev, while a program serves,', () => {
  beforeAll(() => start(APPLICATION));

  // the first, because it is about the most memory so far
  it('holds no body in memory, even if the program refuses it (#22)', async () => {
    const chunk = Buffer.alloc(MIB, 'x');
    const sent = { headers: { 'content-type': 'text/plain', host: 'evil.com' }, body: Array(300).fill(chunk) };
    await rawRequest(url, sent).catch(() => {});
    expect(peakOf(run.child.pid)).toBeLessThan(200 * MIB);
  });

  it.each(['text/plain', 'application/octet-stream'])('streams a body of type %s (#22)', async (type) => {
    const arrived = () => run.saysNext(/the first bytes have arrived/);
    const sent = { headers: { 'content-type': type }, body: ['first', arrived, 'second'] };
    const { body } = await rawRequest(new URL('/upload', url).href, sent);
    expect(body).toBe(createHash('sha256').update('firstsecond').digest('hex'));
  });

  it.each([
    ['is large', {}],
    ['announces its size', { 'content-length': String(20 * MIB) }],
  ])('passes on a body as it is if it is JSON that %s (#22)', async (_, headers) => {
    const body = Buffer.alloc(20 * MIB, '[1e400,12345678901234567890');
    const sent = { headers: { ...JSON_TYPE, ...headers }, body: [body.subarray(0, 9 * MIB), body.subarray(9 * MIB)] };
    const answered = await rawRequest(new URL('/upload', url).href, sent);
    expect(answered.body).toBe(createHash('sha256').update(body).digest('hex'));
  });

  it('refuses a body for a session if it is too large (#22)', async () => {
    const client = new HttpClient(url);
    await client.connect();
    const headers = { ...JSON_TYPE, 'mcp-session-id': String(client.session) };
    await expect(rawRequest(url, { headers, body: [Buffer.alloc(17 * MIB, ' ')] })).resolves.toMatchObject({
      status: 413,
      body: expect.stringContaining('The body is too large.'),
    });
    await expect(client.request('tools/list')).resolves.toMatchObject({ result: { tools: [{}, {}] } });
  });

  it('then answers a Host and an Origin that the program has accepted, and those only (#22)', async () => {
    const accepted = { ...JSON_TYPE, host: 'dev.example', origin: 'https://app.example' };
    const refused = { ...JSON_TYPE, host: 'evil.com' };
    await expect(rawRequest(url, { headers: accepted, body: INITIALIZE })).resolves.toMatchObject({ status: 200 });
    await expect(rawRequest(url, { headers: refused, body: INITIALIZE })).resolves.toMatchObject({ status: 403 });
    // this one is accepted by the application, not as MCP
    await expect(rawRequest(new URL('/', url).href, { headers: refused })).resolves.toMatchObject({ status: 200 });
    const end = new URL('/end', url).href;
    await expect(rawRequest(end, { headers: refused, body: NOW })).resolves.toMatchObject(REFUSED);
    await run.saysNext(/starting it again/);
    await expect(rawRequest(end, { headers: accepted })).resolves.toMatchObject({ status: 502 });
    await run.saysNext(/waiting for an edit/);
    await expect(rawRequest(url, { headers: refused, body: NOW })).resolves.toMatchObject(REFUSED);
    await expect(rawRequest(url, { headers: accepted, body: INITIALIZE })).resolves.toMatchObject({ status: 200 });
    await expect(rawRequest(url, { headers: accepted, body: NOW })).resolves.toMatchObject({
      status: 200,
      body: expect.stringContaining('exit code 7'),
    });
  });
});
