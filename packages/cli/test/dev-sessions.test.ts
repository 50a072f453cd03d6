// Sessions, streams, questions and calls while `decorum dev` replaces the program, over raw messages.
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it, jest } from '@jest/globals';

import { HttpClient, PipeClient } from '../../../test/support/dev-clients.js';
import { processEnds, Project, shared } from '../../../test/support/dev-project.js';
import { statelessHeaders } from '../../../test/support/http-transports.js';
import { rawRequest } from '../../../test/support/raw-http.js';
import { called } from '../../../test/support/stateless-post.js';

// programs start one after the other
jest.setTimeout(180_000);

/** `slow` takes no notice of its cancellation. */
const MEMBERS = `
import { Context, McpServer, NoInput, Resource, Tool } from '@decorum/core';
import { IsString } from 'class-validator';
class Answer { @IsString() word!: string; }
class Desk {
  @Tool({ description: 'Asks' }) async ask(_input: NoInput, ctx: Context) {
    const { action } = await ctx.elicit(Answer, { message: 'one' });
    return action;
  }
  @Tool({ description: 'Waits for its cancellation' }) async wait(_input: NoInput, ctx: Context) {
    console.error('waits');
    await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve));
    console.error('was cancelled');
    return '';
  }
  @Tool({ description: 'Never ends' }) async slow() {
    console.error('slow began');
    await new Promise(() => {});
  }
  @Tool({ description: 'Changes the note' }) touch() { server.notify.resourceUpdated('desk://note'); return 'touched'; }
  @Tool({ description: 'Says where it runs' }) where() { return String(process.pid); }
  @Resource('desk://note') note() { return 'note'; }
}
console.error('pid ' + process.pid);
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

const project = (main: string) => new Project({ 'src/main.ts': main });
const call = (name: string) => ['tools/call', { name, arguments: {} }] as const;
const callOf = (id: string, name: string) => ({ id, method: 'tools/call', params: { name, arguments: {} } });
const cancelled = (requestId: unknown) => ({ method: 'notifications/cancelled', params: { requestId } });
const text = (value: string) => ({ result: { content: [{ type: 'text', text: value }] } });
const RELOADED = /src\/main\.ts {2}\d+ ms/;
/** Longer than a test may take. */
const PATIENT = ['--drain', '60'];
const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

async function connected(via: string, desk: Project, args: readonly string[] = PATIENT) {
  if (via === 'stdio') {
    const run = desk.dev(['--stdio', ...args]);
    const client = new PipeClient(run);
    await client.connect();
    return { desk, run, client, url: '' };
  }
  const { run, url } = await desk.serve({ args });
  const client = new HttpClient(url);
  await client.connect();
  await client.listen();
  return { desk, run, client, url };
}

describe.each(['HTTP', 'stdio'])('a session over %s', (via) => {
  const following = shared(async () => {
    const all = await connected(via, project(EXPORTED));
    await all.client.request('resources/subscribe', { uri: 'desk://note' });
    return all;
  });

  it('has its questions answered by the program that asked: two programs, one client, no id twice', () =>
    following(async ({ desk, run, client }) => {
      const first = client.request(...call('ask'));
      const one = await client.hears('elicitation/create');
      desk.edit('src/main.ts', `message: 'one'`, `message: 'two'`);
      await run.saysNext(RELOADED);
      const second = client.request(...call('ask'));
      const two = await client.hears('elicitation/create');
      expect([one, two]).toMatchObject([{ params: { message: 'one' } }, { params: { message: 'two' } }]);
      expect(one['id']).not.toBe(two['id']);
      await client.send({ id: two['id'], result: { action: 'decline' } });
      await expect(second).resolves.toMatchObject(text('decline'));
      await client.send({ id: one['id'], result: { action: 'cancel' } });
      await expect(first).resolves.toMatchObject(text('cancel'));
    }));

  it('keeps its subscriptions through edits, and no program for a cancelled call (#22)', () =>
    following(async ({ desk, run, client }) => {
      const answer = client.send(callOf('slow', 'slow'));
      await run.saysNext(/slow began/);
      const { pid } = run;
      await client.send(cancelled('slow'));
      desk.edit('src/main.ts', 'class Desk', '// edited\nclass Desk');
      await run.saysNext(RELOADED);
      await processEnds(pid);
      await client.request(...call('touch'));
      await expect(client.hears('notifications/resources/updated')).resolves.toMatchObject({
        params: { uri: 'desk://note' },
      });
      expect(String(await answer)).not.toContain('has ended');
    }));

  if (via === 'HTTP') {
    it('has requests that decorum dev cannot read answered by its program (#22)', () =>
      following(async ({ client, url }) => {
        const headers = { ...JSON_TYPE, 'mcp-session-id': String((client as HttpClient).session) };
        for (const invalid of ['{', '{"id":1,"method":"ping"}', '[]', Buffer.from([0x22, 0xff, 0x22])]) {
          const answered = await rawRequest(url, { headers, body: [invalid] });
          expect(answered).toMatchObject({ status: 400, body: expect.stringMatching(/"code":-32(600|700)/) });
        }
      }));

    it('has its call cancelled by a client that leaves, where there are no sessions', () =>
      following(async ({ run, url }) => {
        const leaving = new AbortController();
        const message = called(1, 'wait');
        const headers = { ...JSON_TYPE, ...statelessHeaders(message) };
        const sent = { method: 'POST', headers, body: JSON.stringify(message), signal: leaving.signal };
        const left = fetch(url, sent).catch(() => 'left');
        await run.saysNext(/waits/);
        leaving.abort();
        await left;
        await run.saysNext(/was cancelled/);
      }));
  }
});

function overStdio(desk: Project) {
  const run = desk.dev(['--stdio', ...PATIENT]);
  let stdout = '';
  run.child.stdout?.on('data', (chunk: string) => (stdout += chunk));
  const answered = () => stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).id]));
  return { run, client: new PipeClient(run), answered };
}

describe('a pipe', () => {
  // dev-repeats.test.ts has it over HTTP
  it('is cut off from a call that takes longer than --drain', async () => {
    const { desk, client } = await connected('stdio', project(EXPORTED), ['--drain', '0.2']);
    const asking = client.request(...call('ask'));
    await client.hears('elicitation/create');
    desk.edit('src/main.ts', `message: 'one'`, `message: 'two'`);
    await expect(asking).resolves.toMatchObject({
      error: { code: -32603, message: expect.stringMatching(/^The program has ended: /) },
    });
  });

  it('gets no answer to a cancelled call: before a program serves, after an edit, or at the end (#22)', async () => {
    const desk = project(EXPORTED);
    const { run, client, answered } = overStdio(desk);
    const begun = client.connect();
    client.send(callOf('early', 'slow'));
    client.send(cancelled('early'));
    await begun;
    await expect(client.request(...call('where'))).resolves.toMatchObject({ result: {} });
    expect(run.printed).not.toContain('slow began');
    for (const id of ['slow', 'later']) client.send(callOf(id, 'slow'));
    await run.saysNext(/slow began[^]*slow began/);
    const { pid } = run;
    client.send(cancelled('slow'));
    run.child.stdin?.write(`${JSON.stringify([{ jsonrpc: '2.0', ...cancelled('later') }])}\n`);
    desk.edit('src/main.ts', 'class Desk', `// edited\nclass Desk`);
    await run.saysNext(RELOADED);
    await processEnds(pid);
    await expect(client.request('resources/list')).resolves.toMatchObject({ result: { resources: [{}] } });
    await expect(run.end()).resolves.toBe(0);
    for (const id of ['early', 'slow', 'later']) expect(answered()).not.toContain(id);
  });

  it('is not held up at its end by requests that no program can answer (#22)', async () => {
    const { run, client, answered } = overStdio(project(EXPORTED));
    await client.connect();
    run.child.stdin?.write('{"id":"bad","method":"ping"}\n');
    await expect(client.responds(({ id }) => id === 'bad')).resolves.toMatchObject({ error: { code: -32600 } });
    for (const id of ['true', '1.5', '12345678901234567890', '1e400', '{}']) {
      run.child.stdin?.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
    }
    // one id, used twice: only the second request is rejected
    client.send(callOf('twice', 'slow'));
    await run.says(/slow began/);
    client.send({ id: 'twice', method: 'ping' });
    await client.request('ping');
    client.send(cancelled('twice'));
    run.child.stdin?.end();
    await expect(run.ended).resolves.toBe(0);
    expect(answered()).not.toContain('twice');
    expect(answered().filter((id) => id === null || id === undefined)).toHaveLength(6);
  });

  it('carries messages whatever comes first in them, and nothing else', async () => {
    const resultFirst = `
import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  console.log(JSON.stringify([{ level: 'info' }]));
  console.log(JSON.stringify({ result: { asked: method }, jsonrpc: '2.0', id }));
});
`;
    const { run, client } = await connected('stdio', project(resultFirst));
    await expect(client.request('tools/list')).resolves.toMatchObject({ result: { asked: 'tools/list' } });
    await run.says(/\[\{"level":"info"\}\]/);
  });
});

describe('a file', () => {
  it('is followed from the moment the program reads it, and after its folder was removed and has come back', async () => {
    const desk = project(`import './inner/deep/word.js';
import { readFileSync, writeFileSync } from 'node:fs';
const word = new URL('inner/deep/word.ts', import.meta.url);
if (readFileSync(word, 'utf8').includes('first')) writeFileSync(word, "console.error('second');");
${EXPORTED}`);
    desk.write('src/inner/deep/word.ts', `console.error('first');`);
    const run = desk.dev(['--stdio']);
    await run.saysNext(/first[^]*second/);
    await run.saysNext(/src\/inner\/deep\/word\.ts {2}\d+ ms/);
    rmSync(join(desk.folder, 'src/inner'), { recursive: true });
    await run.saysNext(/still serving/);
    desk.write('src/inner/deep/word.ts', `console.error('third');`);
    await run.saysNext(/third/);
    desk.edit('src/inner/deep/word.ts', 'third', 'fourth');
    await run.saysNext(/fourth/);
  });
});

describe('an application that serves by itself', () => {
  it('has its response cut off where it dies in the middle of it', async () => {
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

  it('finds the port of --port in PORT, whatever the environment has, so that it can name its own URL', async () => {
    const run = project(`
import { createServer } from 'node:http';
createServer((_request, response) => response.end(process.env['PORT'])).listen(Number(process.env['PORT']));
`).dev(['--port', '0'], { PORT: '3000' });
    const url = await run.url();
    await expect(fetch(url).then((got) => got.text())).resolves.toBe(new URL(url).port);
  });

  it('runs unchanged: it believes to listen where clients connect, and serves its other routes', async () => {
    const desk = project(EXPRESS);
    const { run, url } = await desk.serve({ says: /desk 1\.0\.0/ });
    const [, address = ''] = await run.says(/listening on (.*)/);
    const { port } = new URL(url);
    expect(JSON.parse(address)).toMatchObject({ port: Number(port) });
    const health = await fetch(`http://localhost:${port}/health`);
    await expect(health.json()).resolves.toEqual({ host: `localhost:${port}` });
    const client = new HttpClient(url, { origin: `http://localhost:${port}` });
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
