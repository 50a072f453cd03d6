// Sessions, streams and questions while `decorum dev` replaces the program, over raw messages.
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from '@jest/globals';

import { HttpClient, PipeClient } from '../../../test/support/dev-clients.js';
import { type DevRun, freePort, Project } from '../../../test/support/dev-project.js';
import { statelessHeaders } from '../../../test/support/http-transports.js';
import { called } from '../../../test/support/stateless-post.js';

const MEMBERS = `
import { Context, McpServer, NoInput, Resource, Tool } from '@decorum/core';
import { IsString } from 'class-validator';
class Answer { @IsString() word!: string; }
class Desk {
  @Tool({ description: 'Asks' }) async ask(_input: NoInput, ctx: Context) {
    const { action } = await ctx.elicit(Answer, { message: 'one' });
    return action;
  }
  @Tool({ description: 'Changes the note' }) touch() { server.notify.resourceUpdated('desk://note'); return 'touched'; }
  @Tool({ description: 'Says where it runs' }) where() { return String(process.pid); }
  @Resource('desk://note') note() { return 'note'; }
}
`;
const EXPORTED = `${MEMBERS}
export const server = new McpServer({ name: 'desk', version: '1.0.0', providers: [Desk] });
`;
const EXPRESS = `${MEMBERS}
import { nodeHandler } from '@decorum/http/node';
import express from 'express';
const server = new McpServer({ name: 'desk', version: '1.0.0', providers: [Desk] });
const app = express();
app.get('/health', (request, response) => void response.json({ host: request.headers.host }));
app.use('/mcp', nodeHandler(server));
const listener = app.listen(Number(process.env['PORT']), () => console.log('listening on ' + JSON.stringify(listener.address())));
`;

const projects: Project[] = [];
function project(main: string): Project {
  const created = new Project({ 'src/main.ts': main });
  projects.push(created);
  return created;
}

afterEach(async () => {
  await Promise.all(projects.splice(0).map((each) => each.remove()));
});

const call = (name: string) => ['tools/call', { name, arguments: {} }] as const;
const text = (value: string) => ({ result: { content: [{ type: 'text', text: value }] } });
const RELOADED = /src\/main\.ts {2}\d+ ms/;

/** What both clients have. */
type RawClient = Pick<HttpClient, 'connect' | 'request' | 'hears'> & {
  reply(id: unknown, result: object): Promise<void>;
};

async function connected(via: string, desk: Project): Promise<{ run: DevRun; client: RawClient }> {
  if (via === 'stdio') {
    const run = desk.dev(['--stdio']);
    const pipe = new PipeClient(run);
    await pipe.connect();
    const client = Object.assign(pipe, { reply: async (id: unknown, result: object) => pipe.send({ id, result }) });
    return { run, client };
  }
  const port = String(await freePort());
  const run = desk.dev(['--port', port], { PORT: port });
  await run.says(/http:/);
  const http = new HttpClient(`http://127.0.0.1:${port}/mcp`);
  await http.connect();
  await http.listen();
  const client = Object.assign(http, {
    reply: async (id: unknown, result: object) => void (await http.post({ id, result })),
  });
  return { run, client };
}

describe.each(['HTTP', 'stdio'])('a session over %s', (via) => {
  it('has its questions answered by the program that asked: two programs, one client, no id twice', async () => {
    const desk = project(EXPORTED);
    const { run, client } = await connected(via, desk);
    const first = client.request(...call('ask'));
    const one = await client.hears('elicitation/create');
    desk.edit('src/main.ts', `message: 'one'`, `message: 'two'`);
    await run.saysNext(RELOADED);
    const second = client.request(...call('ask'));
    const two = await client.hears('elicitation/create');
    expect([one, two]).toMatchObject([{ params: { message: 'one' } }, { params: { message: 'two' } }]);
    expect(one['id']).not.toBe(two['id']);
    await client.reply(two['id'], { action: 'decline' });
    await expect(second).resolves.toMatchObject(text('decline'));
    await client.reply(one['id'], { action: 'cancel' });
    await expect(first).resolves.toMatchObject(text('cancel'));
  });

  it('keeps its subscriptions', async () => {
    const desk = project(EXPORTED);
    const { run, client } = await connected(via, desk);
    await client.request('resources/subscribe', { uri: 'desk://note' });
    for (const word of ['a', 'b']) {
      desk.edit('src/main.ts', 'class Desk', `// ${word}\nclass Desk`);
      await run.saysNext(RELOADED);
      await client.request(...call('touch'));
      await expect(client.hears('notifications/resources/updated')).resolves.toMatchObject({
        params: { uri: 'desk://note' },
      });
    }
  });

  it('is cut off from a call that takes longer than --drain', async () => {
    const desk = project(EXPORTED);
    const { client } = await connectedWith(via, desk, ['--drain', '0.2']);
    const asking = client.request(...call('ask'));
    await client.hears('elicitation/create');
    desk.edit('src/main.ts', `message: 'one'`, `message: 'two'`);
    await expect(asking).resolves.toMatchObject({
      error: { code: -32603, message: expect.stringMatching(/^The program has ended: /) },
    });
  });
});

async function connectedWith(via: string, desk: Project, args: readonly string[]) {
  const dev = desk.dev.bind(desk);
  desk.dev = (all = [], env = {}) => dev([...all, ...args], env);
  return connected(via, desk);
}

const RESULT_FIRST = `
import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  console.log(JSON.stringify([{ level: 'info' }]));
  console.log(JSON.stringify({ result: { asked: method }, jsonrpc: '2.0', id }));
});
`;

describe('a pipe', () => {
  it('carries messages whatever comes first in them, and nothing else', async () => {
    const { run, client } = await connected('stdio', project(RESULT_FIRST));
    await expect(client.request('tools/list')).resolves.toMatchObject({ result: { asked: 'tools/list' } });
    await run.says(/\[\{"level":"info"\}\]/);
  });

  it('carries the refusal of a request that is none', async () => {
    const run = project(EXPORTED).dev(['--stdio']);
    const client = new PipeClient(run);
    await client.connect();
    run.child.stdin?.write('{"id":"bad","method":"ping"}\n');
    await expect(client.responds(({ id }) => id === 'bad')).resolves.toMatchObject({
      error: { code: -32600 },
    });
  });
});

describe('a folder of the program', () => {
  it('is followed after it was removed and has come back', async () => {
    const desk = project(`import './inner/deep/word.js';\n${EXPORTED}`);
    desk.write('src/inner/deep/word.ts', `console.error('first');`);
    const run = desk.dev(['--stdio']);
    await run.says(/desk 1\.0\.0/);
    desk.edit('src/inner/deep/word.ts', 'first', 'edited');
    await run.says(/edited/);
    rmSync(join(desk.folder, 'src/inner'), { recursive: true });
    await run.says(/still serving/);
    desk.write('src/inner/deep/word.ts', `console.error('second');`);
    await run.says(/second/);
    desk.edit('src/inner/deep/word.ts', 'second', 'third');
    await run.says(/third/);
  });
});

describe('a file', () => {
  it('is followed from the moment the program reads it', async () => {
    const desk = project(`import './word.js';
import { readFileSync, writeFileSync } from 'node:fs';
const word = new URL('word.ts', import.meta.url);
if (readFileSync(word, 'utf8').includes('first')) writeFileSync(word, "console.error('second');");
${EXPORTED}`);
    desk.write('src/word.ts', `console.error('first');`);
    await desk.dev(['--stdio']).says(/first[^]*second/);
  });
});

describe('a client over HTTP that leaves', () => {
  it('cancels its call where there are no sessions', async () => {
    const desk = project(
      EXPORTED.replace(
        'class Desk {',
        `class Desk {
  @Tool({ description: 'Waits' }) async wait(_input: NoInput, ctx: Context) {
    console.error('waits');
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
    console.error('was cancelled');
    return '';
  }`,
      ),
    );
    const run = desk.dev(['--port', '0']);
    const url = await run.url();
    const leaving = new AbortController();
    const message = called(1, 'wait');
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...statelessHeaders(message),
    };
    const sent = { method: 'POST', headers, body: JSON.stringify(message), signal: leaving.signal };
    const left = fetch(url, sent).catch(() => 'left');
    await run.says(/waits/);
    leaving.abort();
    await left;
    await run.says(/was cancelled/);
  });

  it('has its response cut off where the program dies in the middle of it', async () => {
    const run = project(`
import { createServer } from 'node:http';
createServer((request, response) => {
  if (request.url !== '/half') return void response.end();
  response.write('half', () => process.kill(process.pid, 'SIGKILL'));
}).listen(Number(process.env['PORT']));
`).dev(['--port', '0']);
    const { origin } = new URL(await run.url());
    const response = fetch(`${origin}/half`).then((got) => got.text());
    await expect(response).rejects.toThrow(/terminated|fetch failed/);
  });
});

describe('an Express application that serves by itself', () => {
  it('runs unchanged: it believes to listen where clients connect, and serves its other routes', async () => {
    const desk = project(EXPRESS);
    const port = String(await freePort());
    const run = desk.dev([], { PORT: port });
    const [, address = ''] = await run.says(/listening on (.*)/);
    await run.says(/desk 1\.0\.0/);
    expect(JSON.parse(address)).toMatchObject({ port: Number(port) });
    const health = await fetch(`http://localhost:${port}/health`);
    await expect(health.json()).resolves.toEqual({ host: `localhost:${port}` });
    const client = new HttpClient(`http://127.0.0.1:${port}/mcp`, { origin: `http://localhost:${port}` });
    await client.connect();
    const before = await client.request(...call('where'));
    desk.edit('src/main.ts', 'class Desk', '// edited\nclass Desk');
    await run.saysNext(RELOADED);
    const after = await client.request(...call('where'));
    expect(after).toMatchObject({ result: { content: [{ text: expect.stringMatching(/^\d+$/) }] } });
    expect(after['result']).not.toEqual(before['result']);
    const foreign = await client.post({ id: 9, method: 'ping' }, { origin: 'http://evil.example' });
    expect(foreign.status).toBe(403);
    client.close();
  });
});
