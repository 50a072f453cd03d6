// What `decorum dev` sends to a program on a client's behalf, and what it never sends.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it, jest } from '@jest/globals';

import { HttpClient } from '../../../test/support/dev-clients.js';
import { Project, shared } from '../../../test/support/dev-project.js';
import { rawRequest } from '../../../test/support/raw-http.js';

// programs start one after the other
jest.setTimeout(180_000);

/** Applications with MCP at `/mcp` and `/other`, and a route that isn't MCP. They write down what arrives. */
const SHARED = `
import { appendFileSync } from 'node:fs';
import { McpServer, Resource, Tool } from '@decorum/core';
class Desk {
  @Tool({ description: 'Says something' }) say() { return 'something'; }
  @Resource('desk://note') note() { return 'note'; }
}
const desk = () => new McpServer({ name: 'desk', version: '1.0.0', providers: [Desk] });
function seen(method: string, url: string, headers: NodeJS.Dict<string | string[]>) {
  const { host, authorization, 'x-api-key': key } = headers;
  appendFileSync('seen.jsonl', JSON.stringify({ method, url, host, authorization, key }) + '\\n');
}
`;
const FASTIFY = `${SHARED}
import { mcp } from '@decorum/http';
import Fastify from 'fastify';
const app = Fastify();
app.addHook('onRequest', async ({ method, url, headers }, reply) => {
  seen(method, url, headers);
  if (url.startsWith('/api') && headers.host === 'evil.com') return reply.code(403).send({ error: 'no' });
  if (headers['x-api-key'] === 'bad') return reply.code(401).send({ error: 'no' });
});
app.post('/api/delete', async (request) => ({ jsonrpc: '2.0', id: (request.body as { id?: number }).id, result: {} }));
await app.register(mcp, { server: desk(), path: '/mcp' });
await app.register(mcp, { server: desk(), path: '/other' });
await app.listen({ port: Number(process.env['PORT']) });
`;
const EXPRESS = `${SHARED}
import { nodeHandler } from '@decorum/http/node';
import express from 'express';
const app = express();
app.use((request, response, next) => {
  const { method, url, headers } = request;
  seen(method, url, headers);
  if (url.startsWith('/api') && headers.host === 'evil.com') return void response.status(403).json({ error: 'no' });
  if (headers['x-api-key'] === 'bad') return void response.status(401).json({ error: 'no' });
  next();
});
app.use('/mcp', nodeHandler(desk()));
app.use('/other', nodeHandler(desk()));
app.post('/api/delete', express.json(), (request, response) => {
  response.json({ jsonrpc: '2.0', id: (request.body as { id?: number }).id, result: {} });
});
app.listen(Number(process.env['PORT']));
`;

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly host: string;
  readonly authorization?: string;
  readonly key?: string;
}

async function start(main: string, args: readonly string[] = []) {
  const project = new Project({ 'src/main.ts': main });
  const { run, origin } = await project.serve({ args });
  const log = join(project.folder, 'seen.jsonl');
  const seen = () =>
    (existsSync(log) ? readFileSync(log, 'utf8') : '')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Seen]));
  const edit = async (word: string) => {
    project.edit('src/main.ts', 'class Desk', `// ${word}\nclass Desk`);
    await run.saysNext(/src\/main\.ts {2}\d+ ms/);
  };
  return { origin, seen, edit };
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1.0.0' } },
};
const listen = {
  jsonrpc: '2.0',
  id: 2,
  method: 'subscriptions/listen',
  params: { notifications: { toolsListChanged: true } },
};

type Started = Awaited<ReturnType<typeof start>>;

/** Expects that a route that isn't MCP gets each request once, accepted or refused, and none after the edits. */
async function expectNoRepetition({ origin, seen, edit }: Started, edits: readonly string[]): Promise<void> {
  const bodies = [initialize, listen, { jsonrpc: '2.0', id: 5, method: 'delete' }, [initialize], [{ id: 5 }]];
  for (const body of bodies) {
    for (const host of ['evil.com', new URL(origin).host]) {
      const headers = { 'content-type': 'application/json', authorization: 'Bearer secret', host };
      const answered = await rawRequest(`${origin}/api/delete?id=5`, { headers, body: JSON.stringify(body) });
      expect(answered.status).toBe(host === 'evil.com' ? 403 : 200);
    }
  }
  for (const word of edits) await edit(word);
  expect(seen().filter(({ url }) => url.startsWith('/api'))).toHaveLength(2 * bodies.length);
  const repeated = seen().filter(({ url }) => !url.startsWith('/api'));
  expect(new Set(repeated.map(({ authorization }) => authorization))).toEqual(new Set([undefined]));
}

describe('a Fastify application', () => {
  const serving = shared(() => start(FASTIFY));

  it('gets each request to a route that is not MCP once, and none after an edit (#22)', () =>
    serving((started) => expectNoRepetition(started, ['one', 'two'])));

  it('gets the credentials of a client at the path that they came for, and at no other (#22)', () =>
    serving(async ({ origin, seen, edit }) => {
      const before = seen().length;
      const one = new HttpClient(`${origin}/mcp`, { authorization: 'Bearer one', 'x-api-key': 'one' });
      const other = new HttpClient(`${origin}/other?tenant=5`, { authorization: 'Bearer other' });
      const keyed = new HttpClient(`${origin}/other`, { 'x-api-key': 'keyed' });
      for (const client of [one, other, keyed]) {
        await client.connect();
        await client.listen();
      }
      await edit('three');
      await Promise.all([one, other, keyed].map((each) => each.request('tools/list')));
      const sent = seen()
        .slice(before)
        .map(({ url, authorization = '', key = '' }) => `${url} ${authorization} ${key}`);
      expect([...new Set(sent)].sort()).toEqual(
        [
          '/mcp  ',
          '/mcp Bearer one one',
          '/other  keyed',
          '/other Bearer other ',
          '/other?tenant=5 Bearer other ',
        ].sort(),
      );
      for (const client of [one, other, keyed]) {
        await client.end();
        client.close();
      }
    }));

  it('gets no message again that it has refused, nor its credentials (#22)', () =>
    serving(async ({ origin, seen, edit }) => {
      const client = new HttpClient(`${origin}/mcp`, { 'x-api-key': 'good' });
      await client.connect();
      await client.listen();
      const level = { id: 7, method: 'logging/setLevel', params: { level: 'emergency' } };
      await expect(client.post(level, { 'x-api-key': 'bad' })).resolves.toMatchObject({ status: 401 });
      const elsewhere = new HttpClient(`${origin}/api/delete`, { 'x-api-key': 'elsewhere' });
      elsewhere.session = client.session;
      await elsewhere.post({ id: 8, method: 'resources/subscribe', params: { uri: 'desk://note' } });
      const before = seen().length;
      await edit('four');
      await expect(client.request('tools/call', { name: 'say' })).resolves.toMatchObject({ result: {} });
      const keys = seen()
        .slice(before)
        .map(({ key }) => key);
      expect(new Set(keys)).toEqual(new Set(['good', undefined]));
      client.close();
    }));
});

describe('an Express application', () => {
  it('gets each request to a route that is not MCP once, and none after an edit (#22)', async () => {
    await expectNoRepetition(await start(EXPRESS), ['one']);
  });
});

const FEED = `
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
createServer((request, response) => {
  if (request.url !== '/feed') return void response.writeHead(404).end();
  appendFileSync('seen.jsonl', JSON.stringify({ url: request.url }) + '\\n');
  response.writeHead(200, { 'content-type': 'text/event-stream', 'mcp-session-id': 'feed' }).write('data: {"news":1}\\n\\n');
}).listen(Number(process.env['PORT']));
class Desk {}
`;

describe('a stream of events that is not MCP', () => {
  it('is opened once, and ends with the program (#22)', async () => {
    const { origin, seen, edit } = await start(FEED, ['--drain', '0.2']);
    const headers = { 'content-type': 'application/json' };
    const opened = [listen, initialize].map((body) =>
      fetch(`${origin}/feed`, { method: 'POST', headers, body: JSON.stringify(body) }),
    );
    const streams = (await Promise.all(opened)).map((response) => response.text());
    await edit('one');
    for (const stream of streams) await expect(stream).resolves.toContain('data: {"news":1}');
    await edit('two');
    expect(seen()).toHaveLength(2);
  });
});
