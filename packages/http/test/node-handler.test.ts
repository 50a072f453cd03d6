// The handler for Node.js, on servers and in applications whose middleware comes before it.
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest, type RequestListener, type ServerResponse } from 'node:http';
import { setTimeout as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import { nodeHandler, type NodeHandlerOptions, OneWriteResponse } from '@decorum/http/node';
import express, { type ErrorRequestHandler } from 'express';

import { Connection } from './connection.js';
import { afterwards, createServer, Probe, serveNode } from './fixture.js';
import { ADD, call, calling, json, modernCall, modernHeaders, SUM, TOKEN } from './messages.js';
import { openSession, post, postParts, statusOf } from './sending.js';

const NO_SESSIONS = { get: () => undefined, set() {}, touch() {}, delete() {} };
const JSON_TYPE = { 'content-type': 'application/json' };

function createHandler(options: NodeHandlerOptions = {}) {
  const warnings: string[] = [];
  const logger = { warn: (_details: object, message: string) => void warnings.push(message), error() {} };
  const { server, errors } = createServer(new Probe(), { logger });
  const handler = nodeHandler(server, options);
  afterwards(async () => {
    await handler.close();
    await server.close();
  });
  return { server, errors, handler, warnings };
}

const start = async (listener: RequestListener) => await serveNode(listener, { ServerResponse: OneWriteResponse });

describe('nodeHandler', () => {
  it('passes other paths to next if it has a path, and leaves foreign errors to the application', async () => {
    const { handler, errors } = createHandler({ path: '/mcp' });
    const alone = await start(handler);
    expect((await post(`${alone}/mcp`, ...ADD)).status).toBe(200);
    const missing = await post(`${alone}/other`, ...ADD);
    expect([missing.status, (await json(missing)).error?.code]).toEqual([404, -32600]);
    const app = express();
    app.use(handler);
    app.get('/other', (_request, response) => void response.send('mine'));
    app.get('/bad', () => {
      throw new Error('bad');
    });
    const onError: ErrorRequestHandler = (error: Error, _request, response, _next) => {
      response.status(418).send(error.message);
    };
    const among = await start(app.use(onError));
    expect((await post(`${among}/mcp?x=1`, ...ADD)).status).toBe(200);
    expect(await (await fetch(`${among}/other`)).text()).toBe('mine');
    expect([(await fetch(`${among}/bad`)).status, errors]).toEqual([418, []]);
  });

  it('tells once that the mount point hides its path', async () => {
    const { handler, warnings } = createHandler({ path: '/rpc' });
    const url = await start(express().use('/mcp', handler));
    for (let n = 0; n < 2; n += 1) expect((await post(`${url}/mcp`, ...ADD)).status).toBe(404);
    expect((await post(`${url}/mcp/rpc`, ...ADD)).status).toBe(200);
    expect(warnings).toEqual([expect.stringContaining('Leave out `path`')]);
  });

  it('serves one endpoint if it is mounted twice, also behind a router and a parameter', async () => {
    const { handler } = createHandler();
    const app = express().use('/a', handler);
    const router = express.Router({ mergeParams: true }).use('/mcp', handler);
    const url = await start(app.use('/tenants/:tenant', router));
    const session = await openSession(`${url}/a`);
    expect(await statusOf(`${url}/tenants/a/mcp`, session, call(1, 'add', SUM))).toBe(200);
    expect(await statusOf(`${url}/tenants/a/other`, session)).toBe(404);
  });

  it('keeps headers set by the application', async () => {
    const origin = 'https://app.example.com';
    const { handler } = createHandler({ allowedOrigins: [origin] });
    const app = express().use((_request, response, next) => {
      response.setHeader('x-frame-options', 'DENY').vary('Accept-Encoding');
      next();
    });
    const url = `${await start(app.use('/mcp', handler))}/mcp`;
    for (const [message, headers] of [calling('steps', {}, TOKEN), ADD, ['{bad', {}]] as const) {
      const { headers: got } = await post(url, message, { ...headers, origin });
      expect([got.get('x-frame-options'), got.get('vary')]).toEqual(['DENY', 'Accept-Encoding, Origin']);
    }
  });

  it('holds requests until the server has started, and reports a failed start', async () => {
    const probe = Object.assign(new Probe(), { onStart: () => new Promise((resolve) => setTimeout(resolve, 30)) });
    const handler = nodeHandler(createServer(probe).server);
    afterwards(() => handler.close());
    expect((await post(await start(handler), ...ADD)).status).toBe(200);
    const onStart = () => {
      throw new Error('cannot start');
    };
    const { server, errors } = createServer(Object.assign(new Probe(), { onStart }));
    const broken = nodeHandler(server);
    const response = await post(await start(broken), ...ADD);
    expect([response.status, (await json(response)).error?.message]).toEqual([500, 'Internal error']);
    await expect(broken.ready).rejects.toThrow('cannot start');
    expect(errors).toContainEqual(new Error('cannot start'));
    await broken.close();
  });

  it('runs handlers in the `AsyncLocalStorage` of the middleware before it, also if the body arrives later', async () => {
    const { handler, server } = createHandler();
    const storage = new AsyncLocalStorage<string>();
    server.addTool({ name: 'user', description: 'Tells who calls' }, () => storage.getStore() ?? 'nobody');
    let entered = () => {};
    const url = await start((request, response) => {
      storage.run('ann', () => handler(request, response));
      entered();
    });
    const text = JSON.stringify(modernCall(1, 'user'));
    for (const parts of [[text], [text.slice(0, 9), text.slice(9)], ['', text.padEnd(90_000)]]) {
      const begun = new Promise<void>((resolve) => (entered = resolve));
      const headers = modernHeaders('tools/call', 'user');
      expect(await postParts(`${url}/mcp`, { headers, begun }, parts)).toContain('"text":"ann"');
    }
  });

  it('serves no other spelling of its paths, because middleware at the same path would not see it', async () => {
    const { handler } = createHandler({ path: '/mcp', legacySse: true });
    const app = express();
    app.use(['/mcp', '/sse', '/messages'], (_request, response) => void response.status(401).end());
    app.use(handler);
    const url = await start(app);
    for (const path of ['/mcp', '/sse', '/messages']) {
      for (const [spelling, status] of [
        [path, 401],
        [path.replace('s', '%73').replace('m', '%6d'), 404],
        [`${path}%`, 404],
        [`http://a${path}`, 401],
        ...[';', "'", '%2f', ':b', '%41', ':80:80'].map((end) => [`http://a${end}${path}`, 404] as const),
      ] as const) {
        const sent = httpRequest(url, { method: 'POST', path: spelling, agent: false });
        sent.end('{}');
        const [answer] = (await once(sent, 'response')) as [IncomingMessage];
        expect([spelling, answer.resume().statusCode]).toEqual([spelling, status]);
      }
    }
  });

  it('does not wait for the body of a client that has gone before the handler ran', async () => {
    const { handler } = createHandler();
    let served: (ended: boolean) => void = () => {};
    const whenServed = new Promise((resolve) => (served = resolve));
    const url = await start((incoming, response) => {
      incoming.once('close', () => {
        handler(incoming, response);
        served(response.writableEnded);
      });
    });
    const connection = await Connection.open(url);
    connection.head('POST', JSON_TYPE, 9, '{');
    connection.socket.end();
    expect(await whenServed).toBe(true);
  });

  it('cuts off an answer that the application has only begun', async () => {
    const { handler } = createHandler();
    const url = await start((incoming, response) => {
      response.writeHead(200).flushHeaders();
      handler(incoming, response);
    });
    const answer = await post(url, ...ADD);
    await expect(answer.text()).rejects.toThrow('terminated');
  });

  it('reports limits in that `AsyncLocalStorage` too', async () => {
    const storage = new AsyncLocalStorage<string>();
    let hit: (found: unknown) => void = () => {};
    const whenHit = new Promise((resolve) => (hit = resolve));
    const { server } = createServer(new Probe(), { onLimit: ({ limit }) => hit([limit, storage.getStore()]) });
    const handler = nodeHandler(server, { limits: { bodyTimeoutMs: 40 } });
    afterwards(() => Promise.all([handler.close(), server.close()]));
    const url = await start((incoming, response) => storage.run('ann', () => handler(incoming, response)));
    (await Connection.open(url)).head('POST', JSON_TYPE, 9, '{');
    expect(await whenHit).toEqual(['bodyTimeoutMs', 'ann']);
  });

  it.each([200, 20_000])('survives an answer of the application before %i bytes have arrived', async (size) => {
    const { handler, errors } = createHandler();
    let answered = () => {};
    const whenAnswered = new Promise<void>((resolve) => (answered = resolve));
    const url = await start((incoming, response) => {
      handler(incoming, response);
      // such as middleware that limits the time of requests
      setImmediate(() => {
        response.writeHead(503).end();
        answered();
      });
    });
    const body = JSON.stringify(ADD[0]).padEnd(size);
    const connection = await Connection.open(url);
    connection.head('POST', { ...JSON_TYPE, accept: 'text/plain' }, body.length, body.slice(0, 9));
    await whenAnswered;
    connection.socket.write(body.slice(9));
    await connection.closed();
    const codes = new Set(errors.map((error) => (error as NodeJS.ErrnoException).code));
    expect(codes).toEqual(new Set(['ERR_HTTP_HEADERS_SENT']));
  });

  it.each([
    ['a refusal', { auth: { authenticate: () => turn(50, { status: 401 }) } }, 'POST'],
    ['an answer', { auth: { authenticate: () => turn(50, { subject: 'ann' }) } }, 'POST'],
    ['a stream', { sessionStore: { ...NO_SESSIONS, get: () => turn(50, undefined) } }, 'GET'],
  ])('survives a timeout of the application that answers before %s', async (_what, options, method) => {
    const { handler, errors } = createHandler(options);
    const app = express();
    app.use((_request, response, next) => {
      response.status(504).end('too late');
      next();
    });
    app.use('/mcp', handler);
    const url = `${await start(app)}/mcp`;
    const init = method === 'GET' ? { headers: { 'mcp-session-id': 'a' } } : { method, headers: ADD[1] };
    expect((await fetch(url, init)).status).toBe(504);
    while (errors.length === 0) await turn(5);
    expect(String(errors[0])).toContain('Cannot write headers after they are sent');
  });

  it('answers a notification with a length instead of an empty chunk', async () => {
    const { handler } = createHandler();
    const [message, headers] = [{ jsonrpc: '2.0', method: 'notifications/a' }, modernHeaders('notifications/a')];
    const answer = await post(await start(handler), message, headers);
    expect([answer.status, answer.headers.get('content-length')]).toEqual([202, '0']);
  });

  it('calls the callback after one write, in either position of the arguments', async () => {
    for (const end of [
      (response: ServerResponse, done: () => void) => response.end('text', done),
      (response: ServerResponse, done: () => void) => response.end('text', undefined as unknown as 'utf8', done),
    ]) {
      let called = 0;
      const url = await start((_request, response) => {
        response.writeHead(200, { 'content-length': 4 });
        end(response, () => (called += 1));
      });
      expect(await (await fetch(url)).text()).toBe('text');
      expect(called).toBe(1);
    }
  });
});
