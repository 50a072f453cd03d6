// Sessions, streams and questions while `decorum dev` replaces the program, over raw messages.
import { afterEach, describe, expect, it } from '@jest/globals';

import { HttpClient, PipeClient } from '../../../test/support/dev-clients.js';
import { type DevRun, freePort, Project } from '../../../test/support/dev-project.js';

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
