import { getEventListeners, once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import { type ConnectionInfo, fetchHandler, type FetchHandlerOptions } from '@decorum/http/fetch';

import { EventReader, nextSweep } from './events.js';
import { afterwards, createServer, Probe, whenBegun } from './fixture.js';
import { ADD, call, calling, type Fields, INITIALIZE, INITIALIZED, TOKEN, WAIT } from './messages.js';
import { posted } from './sending.js';

const URL_OF = 'http://localhost:3000/mcp';

function create(options: FetchHandlerOptions = {}) {
  const probe = new Probe();
  const { server, errors } = createServer(probe);
  const handler = fetchHandler(server, options);
  afterwards(async () => {
    probe.emit('go');
    await handler.close();
    await server.close();
  });
  const post = async (...args: Parameters<typeof posted>) => await handler(posted(...args));
  const send = async (method: string, headers: Fields = {}, info?: ConnectionInfo) =>
    await handler(new Request(URL_OF, { method, headers }), info);
  const open = async (headers: Fields = {}) => {
    const response = await post(INITIALIZE, headers);
    const session = { ...headers, 'mcp-session-id': response.headers.get('mcp-session-id') as string };
    expect((await post(INITIALIZED, session)).status).toBe(202);
    return session;
  };
  return { probe, server, errors, handler, post, send, open };
}

describe('a call of a session whose place others need', () => {
  it('watches for the end of its connection once, however often its session is looked at', async () => {
    const { post, send, open, handler, probe } = create({ limits: { maxSessions: 1 }, keepAliveMs: 5 });
    const session = await open();
    const waits = posted(call(1, 'wait'), { ...session, accept: 'application/json' });
    const [pending] = await whenBegun(probe, handler(waits));
    const before = getEventListeners(waits.signal, 'abort').length;
    expect((await post(INITIALIZE)).status).toBe(503);
    const watching = getEventListeners(waits.signal, 'abort').length;
    const accept = { accept: 'text/event-stream', ...session };
    for (let n = 0; n < 3; n += 1) await nextSweep(async () => new EventReader(await send('GET', accept)));
    expect([watching, getEventListeners(waits.signal, 'abort').length]).toEqual([before + 1, before + 1]);
    probe.emit('go');
    expect((await pending).status).toBe(200);
    expect(getEventListeners(waits.signal, 'abort')).toHaveLength(before);
  });
});

describe('fetchHandler', () => {
  it('tells if the first request is for another path than its own', async () => {
    const warnings: string[] = [];
    const logger = { warn: (_details: object, message: string) => void warnings.push(message), error() {} };
    const { server } = createServer(new Probe(), { logger });
    const handler = fetchHandler(server, { path: '/rpc' });
    afterwards(() => handler.close());
    for (let n = 0; n < 2; n += 1) expect((await handler(new Request(URL_OF))).status).toBe(404);
    expect(warnings).toEqual([expect.stringContaining('leave out `path`')]);
  });

  it('takes the caller and the address from the host', async () => {
    const { handler, probe } = create();
    const cases = [
      { remoteAddress: '203.0.113.7', principal: { subject: 'ann' } },
      { requestIP: () => ({ address: '203.0.113.7' }), principal: { subject: 'bob' } },
      { remoteAddr: { hostname: '203.0.113.7' } },
    ] as const;
    for (const [index, info] of cases.entries()) {
      const [pending] = await whenBegun(probe, handler(posted(...WAIT), info));
      const { principal, transport } = probe.contexts[index] ?? {};
      const expected = 'principal' in info ? info.principal : undefined;
      expect([principal, transport?.remoteAddress]).toEqual([expected, '203.0.113.7']);
      probe.emit('go');
      expect((await pending).status).toBe(200);
    }
  });

  it('binds sessions to the caller that the host names, and fails closed for anything else [SESS-10]', async () => {
    const { handler, open, errors, send } = create();
    const session = await open();
    const ann = { principal: { subject: 'ann' } };
    expect((await send('GET', { accept: 'text/event-stream', ...session }, ann)).status).toBe(200);
    expect((await send('DELETE', session, { principal: { subject: 'bob' } })).status).toBe(404);
    expect((await send('DELETE', session)).status).toBe(401);
    const wrong = { principal: 'ann' } as unknown as ConnectionInfo;
    expect((await send('DELETE', session, wrong)).status).toBe(500);
    expect(String(errors.at(-1))).toContain('must return a principal with a `subject`');
    expect((await send('DELETE', session, ann)).status).toBe(204);
    const other = create({ principal: () => ({ subject: 'bob' }) });
    expect((await other.send('DELETE', session, ann)).status).toBe(500);
    expect(String(other.errors)).toContain("can't be combined");
    await handler.close();
  });

  it('checks Origin and Host, or the URL if there is no Host [HTTP-03]', async () => {
    const { post, send, handler } = create({ allowedHosts: ['mcp.example.com'] });
    expect((await post(ADD[0], { ...ADD[1], host: 'evil.example' })).status).toBe(403);
    const at = async (url: string) => (await handler(new Request(url, posted(...ADD)))).status;
    expect(await at('https://evil.example/mcp')).toBe(403);
    expect(await at('https://mcp.example.com/mcp')).toBe(200);
    expect((await post(ADD[0], { ...ADD[1], origin: 'http://localhost:3000' })).status).toBe(200);
    expect((await post(ADD[0], { ...ADD[1], origin: 'http://localhost:3001' })).status).toBe(403);
    expect((await send('OPTIONS', { host: 'localhost:3000' }, { localPort: 3001 })).status).toBe(403);
  });

  it.each([
    ['aborts its request', (controller: AbortController) => controller.abort()],
    ['cancels the response', (_controller: AbortController, response: Response) => void response.body?.cancel()],
  ])('cancels a request of the stateless era whose client %s', async (_how, leave) => {
    const { post, probe } = create();
    const controller = new AbortController();
    const response = await post(...calling('stream', {}, TOKEN), { signal: controller.signal });
    const aborted = once(probe, 'aborted');
    leave(controller, response);
    await aborted;
  });

  it('resolves to 202 for a client that has aborted a request before its answer', async () => {
    const { handler, probe } = create();
    const controller = new AbortController();
    const [pending] = await whenBegun(probe, handler(posted(...WAIT, { signal: controller.signal })));
    controller.abort();
    expect((await pending).status).toBe(202);
  });

  it('answers 404 for other paths if it has a path', async () => {
    const { post } = create({ path: '/mcp' });
    expect((await post(...ADD)).status).toBe(200);
    // nor is another spelling served, because middleware at the same path would not see it
    const { handler } = create({ path: '/mcp' });
    for (const path of ['/other', '/%6dcp', '/mc%70'])
      expect([path, (await handler(new Request(`http://127.0.0.1${path}`))).status]).toEqual([path, 404]);
  });
});

describe('a body that fetchHandler cannot read', () => {
  it.each([
    ['because the application reads it', async (spoilt: Request) => void (await spoilt.text())],
    ['because it is locked', async (spoilt: Request) => void spoilt.body?.getReader()],
  ])('is reported %s', async (_why, spoil) => {
    const { handler, errors } = create();
    const spoilt = posted(...ADD);
    await spoil(spoilt);
    expect((await handler(spoilt)).status).toBe(500);
    expect(errors).toHaveLength(1);
  });

  it('is reported if its chunks are not bytes', async () => {
    const { handler, errors } = create();
    const body = new ReadableStream({ start: (controller) => controller.enqueue('text') });
    const init = { body, duplex: 'half' } as RequestInit;
    expect((await handler(posted(...ADD, init))).status).toBe(500);
    expect(errors).toHaveLength(1);
  });
});
