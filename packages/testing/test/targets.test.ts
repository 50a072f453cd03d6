// test/packaging runs this file under Vitest, too.
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect, it } from '@jest/globals';
import { McpError, type McpServer } from '@decorum/core';
import { nodeHandler } from '@decorum/http/node';
import {
  connect,
  type ConnectOptions,
  type ConnectTarget,
  contract,
  elicits,
  revisions,
  type TestClient,
} from '@decorum/testing';

import { createServer } from './servers/weather.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function clientOf(target: ConnectTarget, options: ConnectOptions = {}): Promise<TestClient> {
  const client = await connect(target, options);
  open.push(client);
  return client;
}

/** Listens on a free port until the end of the test. */
async function listening(listener: Server): Promise<URL> {
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  open.push({
    async close() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  });
  return new URL(`http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`);
}

const urlOf = async (server: McpServer) => await listening(createHttpServer(nodeHandler(server)));

const PROGRAM = {
  command: process.execPath,
  args: [fileURLToPath(new URL('servers/stdio.js', import.meta.url))],
} as const;

const TARGETS: Readonly<Record<string, () => Promise<[ConnectTarget, ConnectOptions]>>> = {
  memory: async () => [createServer(), {}],
  stdio: async () => [createServer(), { via: 'stdio' }],
  http: async () => [createServer(), { via: 'http' }],
  'a URL': async () => [await urlOf(createServer()), {}],
  'a program': async () => [PROGRAM, {}],
};

const CARRIERS = ['memory', 'stdio', 'http'] as const;

/** The clients that the server may ask. Old revisions can't ask the user. */
const answersOf = (revision: string, asks: boolean): ConnectOptions => ({
  revision,
  onSample: () => 'yes',
  ...(asks && { onElicit: elicits({ seat: '3A' }, 'accept') }),
});

const outcome = async (call: Promise<unknown>) =>
  await call.catch((error: McpError) => [error.name, error.code, error.message, error.data]);

/** Everything that a client can do with a server. */
async function everything(client: TestClient): Promise<unknown> {
  const outcomes: unknown[] = [await contract(client)];
  for (const call of [
    () => client.callTool('route', { region: 'blåbær' }),
    ...[{ city: 'Oslo' }, { city: 'Atlantis' }, {}].map((args) => () => client.callTool('forecast', args)),
    ...['map', 'hours', 'guess', 'book', 'nobody'].map((name) => () => client.callTool(name)),
    ...['today', 'nowhere'].map((name) => () => client.readResource(`weather://${name}`)),
    ...[{ city: 'Oslo' }, {}].map((args) => () => client.getPrompt('pack', args)),
    () => client.request('no/such/method'),
  ]) {
    outcomes.push(await outcome(call()));
  }
  return [...outcomes, client.questions];
}

/** Each target in two revisions, and each revision over two targets. */
const PAIRS = revisions.flatMap((revision, at) => {
  const names = Object.keys(TARGETS);
  return [at, at + 1].map((each) => [revision, names[each % names.length] as string] as const);
});

it.each(PAIRS)('a client of %s gets the same over %s as over memory', async (revision, name) => {
  const options = answersOf(revision, revisions.indexOf(revision) >= 2);
  const [target, more] = await (TARGETS[name] as () => Promise<[ConnectTarget, ConnectOptions]>)();
  const client = await clientOf(target, { ...options, ...more });
  expect(client.revision).toBe(revision);
  const expected = await everything(await clientOf(createServer(), options));
  expect(await everything(client)).toEqual(expected);
});

describe.each(['stateful', 'stateless'] as const)('a %s client', (era) => {
  it.each(CARRIERS)('is its principal over %s', async (via) => {
    const client = await clientOf(createServer(), { era, via, principal: { subject: 'ada' } });
    expect(await client.callTool('caller')).toMatchObject({ content: [{ text: `ada over ${via}` }] });
  });

  it.each(CARRIERS)('is denied what its principal may not do over %s', async (via) => {
    const server = createServer();
    server.addTool({ name: 'erase', scopes: ['write'] }, () => 'erased');
    const ada = await clientOf(server, { era, via, principal: { subject: 'ada', scopes: ['read'] } });
    const message = 'The caller lacks scopes that this request needs.';
    expect(await outcome(ada.callTool('erase'))).toEqual(['McpError', -32600, message, { scopes: ['write'] }]);
    const eve = await clientOf(server, { era, via, principal: { subject: 'eve', scopes: ['write'] } });
    expect(await eve.callTool('erase')).toMatchObject({ content: [{ text: 'erased' }] });
  });

  it.each(CARRIERS)('gets progress, and cancels, over %s', async (via) => {
    const server = createServer();
    const cancelled = new Promise<string>((resolve) => {
      server.addTool({ name: 'report' }, async (_input, ctx) => {
        const aborted = new Promise<void>((done) => ctx.signal.addEventListener('abort', () => done()));
        ctx.progress(1, 2, 'half');
        await aborted;
        resolve('cancelled');
      });
    });
    const client = await clientOf(server, { era, via });
    const stop = new AbortController();
    const options = { signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) };
    await expect(client.callTool('report', {}, options)).rejects.toThrow('enough');
    expect(await cancelled).toBe('cancelled');
    expect(await client.callTool('caller')).toMatchObject({ content: [{ text: `nobody over ${via}` }] });
  });

  it.each(CARRIERS)('is told of changes over %s', async (via) => {
    const server = createServer();
    const client = await clientOf(server, { era, via });
    const notifications = { toolsListChanged: true };
    const listen = client.request('subscriptions/listen', { notifications }).catch(() => 'closed');
    if (era === 'stateless') await client.nextNotification('notifications/subscriptions/acknowledged');
    server.addTool({ name: 'extra' }, () => 'extra');
    await client.nextNotification('notifications/tools/list_changed');
    await client.close();
    expect(await listen).toBe('closed');
  });

  it.each(CARRIERS)('rejects what waits when it closes, over %s', async (via) => {
    const server = createServer();
    server.addTool({ name: 'forever' }, async (_input, ctx) => {
      ctx.log.info('started');
      await new Promise(() => {});
    });
    const client = await clientOf(server, { era, via });
    await client.setLogLevel('info');
    const call = outcome(client.callTool('forever'));
    await client.nextNotification('notifications/message');
    await client.close();
    expect(await call).toEqual(['Error', undefined, 'The client is closed.', undefined]);
    await server.close({ deadlineMs: 1 });
  });

  it('keeps every message in the order in which it passed', async () => {
    const client = await clientOf(createServer(), { era, onSample: () => 'yes' });
    const before = client.frames.length;
    await client.callTool('guess');
    const passed = client.frames.slice(before).map(({ direction, message }) => {
      return `${direction} ${'method' in message ? message.method : 'response'}`;
    });
    expect(passed).toEqual(
      era === 'stateful'
        ? ['sent tools/call', 'received sampling/createMessage', 'sent response', 'received response']
        : ['sent tools/call', 'received response', 'sent tools/call', 'received response'],
    );
    expect(client.frames.at(-1)).toMatchObject({ message: { result: { content: [{ text: 'The model says yes.' }] } } });
  });
});

it('a stateless client over HTTP mirrors arguments once it knows which ones', async () => {
  const client = await clientOf(createServer(), { era: 'stateless', via: 'http' });
  expect(await client.callTool('route', { region: 'blåbær' })).toMatchObject({ content: [{ text: 'in blåbær' }] });
  const methods = client.frames.flatMap(({ message }) => ('method' in message ? message.method : []));
  expect(methods).toEqual(['tools/call', 'tools/list', 'tools/call']);
});

describe('connect rejects', () => {
  const wrong = async (target: unknown, options: object = {}) =>
    await connect(target as ConnectTarget, options).then(
      () => 'It has connected.',
      (error: Error) => error.message,
    );

  it.each([
    [createServer(), { via: 'telnet' }, `\`via\` is "telnet". Pass 'memory', 'stdio' or 'http'`],
    [createServer(), { headers: {} }, '`headers` has no effect on a server of this process'],
    ['http://127.0.0.1/mcp', { via: 'http' }, '`via` has no effect on a URL. Remove it'],
    ['http://127.0.0.1/mcp', { principal: { subject: 'ada' } }, 'pass credentials, as `headers` for a URL'],
    [PROGRAM, { headers: {} }, '`headers` has no effect on a program'],
    [{ command: 'node', arguments: [] }, {}, '`arguments` is not an option'],
    ['node server.js', {}, `or { command: 'node', args: ['server.js'] }`],
    [{}, {}, 'is not an McpServer'],
  ])('%# a target or option that makes no sense', async (target, options, message) => {
    expect(await wrong(target, options)).toContain(message);
  });

  it.each(['stateful', 'stateless'])('a URL where nothing listens, for a %s client', async (era) => {
    const listener = createHttpServer();
    const url = await listening(listener);
    await new Promise((resolve) => listener.close(resolve));
    expect(await wrong(url, { era })).toBe(
      `Cannot reach ${url.href}: nothing listens there. Start the server first, or correct the port.`,
    );
  });

  it.each([
    [200, 'text/html', '<h1>Welcome</h1>', 'was answered with 200 OK and text/html: "<h1>Welcome</h1>"'],
    [200, 'application/json', '{"hello":1}', 'was answered with 200 OK and application/json: "{\\"hello\\":1}"'],
    [200, 'application/json', '{"jsonrpc":', 'was answered with 200 OK and application/json: "{\\"jsonrpc\\":"'],
    [200, 'application/json', '', 'The server ended "initialize" without a response.'],
    [
      200,
      'application/json',
      '{"jsonrpc":"2.0","id":7,"result":{}}',
      'The server answered 7, which the client did not',
    ],
    [200, 'text/event-stream', 'data: hello\n\n', 'A stream had an event that is not JSON: "hello"'],
    [200, 'text/event-stream', '', 'The server ended "initialize" without a response.'],
    [404, 'text/plain', 'Not here', 'Check the path of the URL: most servers serve MCP at /mcp.'],
    [401, 'text/plain', '', "Pass credentials: `headers: { authorization: 'Bearer …' }`."],
    [302, 'text/plain', '', 'location: /login'],
    [400, 'application/json', '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Bad"}}', 'Bad'],
  ])('a URL that answers with %s, %s, %j', async (status, type, body, message) => {
    const headers = { 'content-type': type, ...(status === 302 && { location: '/login' }) };
    const url = await listening(createHttpServer((_, response) => void response.writeHead(status, headers).end(body)));
    expect(await wrong(url)).toContain(message);
  });

  it('a URL that hangs up', async () => {
    const url = await listening(createHttpServer(({ socket }) => void socket.destroy()));
    expect(await wrong(url)).toContain('the server closed the connection without a response');
  });
});

describe('a client of a URL', () => {
  it('sends its headers with each request', async () => {
    const server = createServer();
    server.addTool({ name: 'headers' }, (_input, ctx) => String(ctx.transport.headers?.['x-team']));
    const client = await clientOf(String(await urlOf(server)), { headers: { 'X-Team': 'snow' } });
    expect(await client.callTool('headers')).toMatchObject({ content: [{ text: 'snow' }] });
  });

  it('resumes a stream that the server closes before the response', async () => {
    const server = createServer();
    server.addTool({ name: 'poll' }, async (_input, ctx) => {
      ctx.closeStream({ retryMs: 1 });
      await ctx.sample({ messages: 'Still there?', maxTokens: 5 });
      return 'after all';
    });
    const client = await clientOf(await urlOf(server), { onSample: () => 'yes' });
    expect(await client.callTool('poll')).toMatchObject({ content: [{ text: 'after all' }] });
  });

  it('rejects a call when the server ends meanwhile', async () => {
    const listener = createHttpServer();
    const server = createServer();
    listener.on('request', nodeHandler(server));
    server.addTool({ name: 'end' }, async () => {
      listener.closeAllConnections();
      await new Promise(() => {});
    });
    const client = await clientOf(await listening(listener));
    await expect(client.callTool('end')).rejects.toThrow('the server closed the connection without a response');
    await server.close({ deadlineMs: 1 });
  });
});
