// Applications in both versions of Nest, as CommonJS and as ES modules, on both platforms and over stdio.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { connect, revisions, type TestClient } from '@decorum/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { answers, compiled, conversation, createProject, type Project } from '../packaging/project.js';

// applications start in processes of their own
jest.setTimeout(180_000);

const CITY = { city: 'Oslo' };
const ADA = { authorization: 'Bearer token-of-ada', 'x-request-id': 'r-17', 'x-tenant': 'acme', 'x-count': '41' };
const MASKED = 'an error was masked from the client';

/** The value in the text of a tool's result. */
const valueOf = ({ content }: object & { content?: unknown }) =>
  JSON.parse((content as { text: string }[])[0]?.text ?? '') as unknown;

/** Starts a program of a project, which says where it listens. */
async function listening(project: Project, ...args: string[]): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, args, { cwd: project.folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const seen: string[] = [];
  for await (const line of createInterface(child.stderr)) {
    seen.push(line);
    const url = /listening on (\S+)/.exec(line)?.[1];
    if (url !== undefined) return { child, url };
  }
  throw new Error(seen.join('\n'));
}

const ofLevels = (levels: readonly string[], what: string) => levels.map((level) => `${what} ${level}`);

type Kind = 'tool' | 'resource' | 'prompt' | 'completion';
const KINDS: readonly Kind[] = ['tool', 'resource', 'prompt', 'completion'];

/** Uses a member with a city as its argument, and resolves with the text of the answer. */
async function use(client: TestClient, kind: Kind, city: string): Promise<string> {
  if (kind === 'tool') return JSON.stringify(await client.callTool('forecast', { city }));
  if (kind === 'resource') return JSON.stringify(await client.readResource(`weather://${city}/today`));
  if (kind === 'prompt') return JSON.stringify(await client.getPrompt('pack', { city }));
  return JSON.stringify(await client.complete({ prompt: 'pack' }, { name: 'city', value: city }));
}

function cancelling() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error('cancelled')) };
}

/** What has run since the last time. */
async function eventsOf(client: TestClient): Promise<string[]> {
  const { contents } = await client.readResource('test://events');
  return JSON.parse((contents[0] as { text: string }).text) as string[];
}

describe.each([
  ['Nest 11 in CommonJS', 'nest11', 'commonjs', 'wish-nestjs-zod.ts'],
  ['Nest 12 in ES modules', 'nest12', 'es6', 'wish.ts'],
] as const)('%s', (_version, folder, modules, wish) => {
  let project: Project;
  beforeAll(() => {
    project = createProject({ from: folder });
    const programs = ['nest', 'nest-application', 'nest-loggers', 'nest-prints'];
    for (const name of programs) project.write(`${name}.js`, compiled(`${name}.ts`, modules));
    project.write('wish.js', compiled(wish, modules));
  });
  afterAll(() => project.remove());

  describe.each(['express', 'fastify', 'stdio'])('on %s', (mode) => {
    const levels = mode === 'stdio' ? ['app', 'class', 'method'] : ['app', 'global', 'class', 'method'];
    let child: ChildProcess | undefined;
    let url = '';
    let client: TestClient;
    const open = (headers: Record<string, string> = {}, options: { revision?: string } = {}) =>
      mode === 'stdio'
        ? connect({ command: process.execPath, args: [project.path('nest.js'), 'stdio'] }, options)
        : connect(`${url}/api/mcp`, { headers, ...options });

    beforeAll(async () => {
      if (mode !== 'stdio') ({ child, url } = await listening(project, 'nest.js', mode));
      client = await open();
    });
    afterAll(async () => {
      await client.close();
      child?.kill('SIGKILL');
    });

    it.each(KINDS)('runs guards, interceptors and pipes of each level around a %s', async (kind) => {
      await eventsOf(client);
      expect(await use(client, kind, 'Oslo')).toContain(`${kind} Oslo`);
      expect(await eventsOf(client)).toEqual([
        ...ofLevels(levels, 'guard'),
        ...ofLevels(levels, 'interceptor'),
        ...ofLevels(levels, 'pipe').map((each) => `${each} ${kind === 'completion' ? 'String' : 'Place'}`),
        `method ${kind}`,
        ...ofLevels([...levels].reverse(), 'after'),
      ]);
    });

    it.each(KINDS)('returns what the filter of each level returns for a %s', async (kind) => {
      for (const level of levels) {
        expect(await use(client, kind, level)).toContain('filtered');
        expect(await eventsOf(client)).toContain(`filter ${level}`);
      }
    });

    it.each(KINDS)('does not run the method of a %s that a guard denies', async (kind) => {
      await eventsOf(client);
      const answer = await use(client, kind, 'Denied-class').catch((error: unknown) => error);
      if (kind === 'tool') expect(answer).toContain('"isError":true');
      else expect(answer).toMatchObject({ code: -32602, message: expect.stringContaining('Forbidden resource') });
      expect(await eventsOf(client)).toEqual(ofLevels(levels.slice(0, levels.indexOf('class') + 1), 'guard'));
    });

    it.each(['added', 'week'])('runs what is global around %s, a tool of no module (#22)', async (tool) => {
      const shared = levels.filter((level) => level === 'app' || level === 'global');
      await eventsOf(client);
      expect(JSON.stringify(await client.callTool(tool, CITY))).toContain('tool Oslo');
      expect(await eventsOf(client)).toEqual([
        ...ofLevels(shared, 'guard'),
        ...ofLevels(shared, 'interceptor'),
        ...ofLevels(shared, 'pipe').map((each) => `${each} Place`),
        'method tool',
        ...ofLevels([...shared].reverse(), 'after'),
      ]);
      const denied = { isError: true, content: [{ text: 'Forbidden resource' }] };
      expect(await client.callTool(tool, { city: 'Denied-app' })).toMatchObject(denied);
      expect(await eventsOf(client)).toEqual(['guard app']);
    });

    it('masks what a guard throws, unless it is an HttpException below 500', async () => {
      const [odd, broken, bad] = await Promise.all(['Odd', 'Broken', 'Bad'].map((city) => use(client, 'tool', city)));
      for (const masked of [odd, broken]) expect(masked).toMatch(/isError/);
      expect(`${odd} ${broken}`).not.toMatch(/odd|secret/);
      expect(bad).toContain('city is bad; very bad');
      await eventsOf(client);
    });

    it('answers other calls while a guard never settles', async () => {
      const { signal, abort } = cancelling();
      const never = client.callTool('forecast', { city: 'Never' }, { signal });
      expect(await use(client, 'tool', 'Oslo')).toContain('tool Oslo');
      abort();
      await expect(never).rejects.toThrow('cancelled');
      await eventsOf(client);
    });

    it('checks arguments after guards and interceptors, and before pipes', async () => {
      await eventsOf(client);
      expect(JSON.stringify(await client.callTool('forecast', {}))).toContain('city: is required');
      expect(await eventsOf(client)).toEqual([...ofLevels(levels, 'guard'), ...ofLevels(levels, 'interceptor')]);
    });

    it('gives two concurrent calls two instances, each with its own user', async () => {
      const isOverHttp = mode !== 'stdio';
      const users = isOverHttp ? ['ann', 'bob'] : ['stdio', 'stdio'];
      const both = isOverHttp ? await Promise.all(users.map((user) => open({ 'x-user': user }))) : [client, client];
      const texts = await Promise.all(both.map(async (each) => JSON.stringify(await each.callTool('whoami'))));
      const found = texts.map((text) => /"text":"(\w+) (\d+)"/.exec(text)?.slice(1, 3) ?? []);
      expect(found.map(([user]) => user)).toEqual(users);
      expect(found[0]?.[1]).not.toBe(found[1]?.[1]);
      if (isOverHttp) await Promise.all(both.map((each) => each.close()));
    });

    if (mode === 'stdio') {
      // test/frameworks has all of them over HTTP, with the official clients
      it.each([revisions[0], revisions.at(-1)])('serves %s', async (revision = '') => {
        const other = await open({}, { revision });
        expect(await use(other, 'tool', 'Oslo')).toContain('tool Oslo');
        expect(await use(other, 'resource', 'Oslo')).toContain('resource Oslo');
        await other.close();
      });
      return;
    }

    it('lists with hideGuarded what the guards let the caller use', async () => {
      const guest = await open({ 'x-role': 'guest' });
      const names = async (of: TestClient) => (await of.listTools()).map(({ name }) => name);
      expect(await names(guest)).not.toContain('forecast');
      expect(await names(client)).toContain('forecast');
      await guest.close();
    });

    it('reads bodies under the global prefix itself, behind the middleware of the application', async () => {
      const post = (body: string, headers = {}) =>
        fetch(`${url}/api/mcp`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
      expect(await use(client, 'tool', 'x'.repeat(1_048_000))).toContain('tool x');
      const over = await post(JSON.stringify({ text: 'x'.repeat(1_048_576) }));
      expect(over.status).toBe(413);
      expect(await over.json()).toMatchObject({ jsonrpc: '2.0', error: { message: expect.any(String) } });
      expect((await post('{}', { 'x-user': 'banned' })).status).toBe(403);
      const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":1}' };
      expect(await (await fetch(`${url}/api/users`, json)).json()).toEqual({ a: 1 });
    });

    it('lets calls finish before it destroys what they use', async () => {
      let finished: Promise<unknown> = Promise.resolve();
      await new Promise<void>((resolve) => {
        finished = client.callTool('slow', CITY, { onProgress: () => resolve() });
      });
      const exited = once(child as ChildProcess, 'exit');
      child?.kill('SIGTERM');
      expect(JSON.stringify(await finished)).toContain('open');
      await exited;
    });
  });

  // with passport, throttler, serializer, swagger, nestjs-cls and zod
  describe.each(['express', 'fastify'])('a usual application on %s', (platform) => {
    let child: ChildProcess;
    let url = '';
    let ada: TestClient;
    let stranger: TestClient;
    beforeAll(async () => {
      ({ child, url } = await listening(project, 'nest-application.js', platform));
      ada = await connect(`${url}/mcp`, { headers: ADA });
      stranger = await connect(`${url}/mcp`, { headers: { authorization: 'Bearer stolen' } });
    });
    afterAll(async () => {
      await Promise.all([ada.close(), stranger.close()]);
      child.kill('SIGKILL');
    });

    it.each([
      ['the user of a parameter decorator', 'whoami', {}, 'u1 Ada'],
      ['arguments that ApiProperty describes', 'greet', { name: 'Grace' }, 'Hello Grace'],
      ['the id that the middleware of nestjs-cls chose', 'requestId', {}, 'r-17'],
      ['what a guard put into nestjs-cls', 'tenant', {}, 'acme'],
      ['arguments with the defaults of zod', 'wish', { text: 'snow' }, 'snow 1'],
      ['the last value of an observable', 'stream', {}, 'last'],
      ['a header that a pipe parses', 'count', {}, '42'],
      ['a provider in request scope', 'basket', {}, 'basket of acme'],
    ])('serves %s (#23)', async (_what, tool, args, text) => {
      expect(await ada.callTool(tool, args)).toMatchObject({ content: [{ text }] });
    });

    it('describes arguments as ApiProperty does (#23)', async () => {
      const greet = (await ada.listTools()).find(({ name }) => name === 'greet');
      expect(greet?.inputSchema['properties']).toMatchObject({
        name: { type: 'string', description: 'Whom to greet', examples: ['Ada'] },
      });
    });

    it.each([
      ['an exception', 'missing', {}, 'There is no such order.'],
      ['the exception behind a filter that returns the response', 'gone', {}, 'This desk has moved.'],
      ['the exception of a timeout', 'slow', {}, 'Request Timeout'],
      ['the path of an argument that zod rejects', 'wish', { text: 'no' }, 'text'],
      ['an error without its message', 'broken', {}, 'Internal error'],
    ])('reports %s (#23)', async (_what, tool, args, text) => {
      const result = await ada.callTool(tool, args);
      expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(text) }] });
      expect(JSON.stringify(result)).not.toContain('hunter2');
    });

    it('leaves out what the serializer excludes (#23)', async () => {
      expect(valueOf(await ada.callTool('profile'))).toEqual({ id: 'u1', name: 'Ada' });
    });

    it('sends the progress of a generator, and serializes its result (#23)', async () => {
      const progress: number[] = [];
      const onProgress = (each: number) => void progress.push(each);
      const result = await ada.callTool('importUsers', {}, { onProgress });
      expect(valueOf(result)).toEqual({ id: 'u1', name: 'Ada' });
      expect(progress).toEqual([1, 2, 3]);
    });

    it('returns the value of a filter (#23)', async () => {
      expect(valueOf(await ada.callTool('conflict'))).toEqual({ resolved: 'two orders' });
    });

    it('throttles calls (#23)', async () => {
      for (let call = 0; call < 2; call++)
        expect(await ada.callTool('lottery')).toMatchObject({ content: [{ text: '7' }] });
      expect(await ada.callTool('lottery')).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('Too Many Requests') }],
      });
    });

    it('reads resources and prompts and completes arguments for who is signed in (#23)', async () => {
      expect(await ada.readResource('desk://hours')).toMatchObject({ contents: [{ text: '9 to 5' }] });
      expect(JSON.stringify(await ada.getPrompt('letter', { name: 'Bo' }))).toContain('A letter of Ada to Bo');
      const completion = await ada.complete({ prompt: 'letter' }, { name: 'name', value: 'G' });
      expect(JSON.stringify(completion)).toContain('Grace');
    });

    it('denies what the strategy of passport rejects (#23)', async () => {
      const unauthorized = expect.stringContaining('Unauthorized');
      expect(await stranger.callTool('whoami')).toMatchObject({ isError: true, content: [{ text: unauthorized }] });
      await expect(stranger.readResource('desk://hours')).rejects.toMatchObject({ message: unauthorized });
      await expect(stranger.getPrompt('letter', { name: 'Bo' })).rejects.toMatchObject({ message: unauthorized });
    });

    it('authenticates an endpoint with a strategy of passport (#23)', async () => {
      const refused = async (headers: Record<string, string>) => {
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
        const response = await fetch(`${url}/safe`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
          body,
        });
        return [response.status, response.headers.get('www-authenticate')];
      };
      expect(await refused({})).toEqual([401, 'Bearer']);
      expect(await refused({ authorization: 'Bearer stolen' })).toEqual([
        401,
        expect.stringContaining('invalid_token'),
      ]);
      const client = await connect(`${url}/safe`, { headers: ADA });
      expect(await client.callTool('open')).toMatchObject({ content: [{ text: 'opened by u1' }] });
      await client.close();
    });

    it.each([
      ['the user', { 'x-session': 'token-of-ada' }, 'u1 Ada'],
      ['nobody', {}, 'nobody undefined'],
    ])('takes %s that middleware signed in as the caller (#23)', async (_who, headers, text) => {
      const client = await connect(`${url}/board`, { headers });
      expect(await client.callTool('read')).toMatchObject({ content: [{ text }] });
      await client.close();
    });

    it('serves HTTP routes beside it, and a swagger document without the endpoints (#23)', async () => {
      const me = await fetch(`${url}/users/me`, { headers: ADA });
      expect([me.status, await me.json()]).toEqual([200, { id: 'u1', name: 'Ada' }]);
      expect((await fetch(`${url}/users/me`)).status).toBe(401);
      const document = (await (await fetch(`${url}/docs-json`)).json()) as { paths: object };
      expect(Object.keys(document.paths)).toEqual(['/users/me']);
    });
  });

  it.each(['default', 'levels', 'json'])('writes only messages to stdout, with the %s logger', async (mode) => {
    const input = conversation([
      ['now', {}],
      ['broken', {}],
    ]);
    const stdout = await project.run(process.execPath, ['nest-prints.js', mode], { input });
    expect(answers(stdout)).toMatchObject([
      { id: 1 },
      { id: 2 },
      { id: 3, result: { content: [{ text: 'noon' }] } },
      { id: 4, result: { content: [{ text: expect.stringContaining('Internal error (reference') }] } },
    ]);
    expect(stdout).not.toContain('printed');
  });

  it('fails over stdio with the error of a hook, which it prints to stderr', () => {
    const args = ['nest-prints.js', 'failing'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: project.folder, encoding: 'utf8' });
    expect([status === 0, stdout, stderr]).toEqual([false, '', expect.stringContaining('printed by a hook')]);
  });

  it('has the facts of a masked error in the log of each logger (#23)', async () => {
    const logs = JSON.parse(await project.run(process.execPath, ['nest-loggers.js'])) as Record<
      string,
      { result: object; entries: Record<string, unknown>[] }
    >;
    const err = { type: 'Error', message: 'The bank refused.', stack: expect.stringContaining('nest-loggers.js') };
    for (const [logger, own] of Object.entries({
      'nestjs-pino': { level: 50, message: MASKED, context: 'McpServer' },
      PinoLogger: { level: 50, msg: MASKED },
      'nest-winston': { level: 'error', message: MASKED, context: 'McpServer' },
    })) {
      const { result, entries } = logs[logger]!;
      const [reference] = /[\da-f]{8}/.exec(JSON.stringify(result)) ?? [];
      const facts = { reference, method: 'tools/call', member: 'pay', subject: 'ada', transport: 'memory' };
      expect(entries.filter(({ level }) => level === own.level)).toMatchObject([{ ...own, ...facts, err }]);
    }
  });
});
