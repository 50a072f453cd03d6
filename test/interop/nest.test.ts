// One application in both versions of Nest, as CommonJS and as ES modules, on both platforms and over stdio.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { connect, revisions, type TestClient } from '@decorum/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { compiled, createProject, type Project } from '../packaging/project.js';

// applications start in processes of their own
jest.setTimeout(60_000);

const CITY = { city: 'Oslo' };
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
  ['Nest 11 in CommonJS', 'nest11', 'commonjs'],
  ['Nest 12 in ES modules', 'nest12', 'es6'],
] as const)('%s', (_version, folder, modules) => {
  let project: Project;
  beforeAll(() => {
    project = createProject({ from: folder });
    project.write('main.js', compiled('nest.ts', modules));
  });
  afterAll(() => project.remove());

  describe.each(['express', 'fastify', 'stdio'])('on %s', (mode) => {
    const levels = mode === 'stdio' ? ['app', 'class', 'method'] : ['app', 'global', 'class', 'method'];
    let child: ChildProcess | undefined;
    let url = '';
    let client: TestClient;
    const open = (headers: Record<string, string> = {}, options: { revision?: string } = {}) =>
      mode === 'stdio'
        ? connect({ command: process.execPath, args: [project.path('main.js'), 'stdio'] }, options)
        : connect(`${url}/api/mcp`, { headers, ...options });

    beforeAll(async () => {
      if (mode !== 'stdio') {
        child = spawn(process.execPath, ['main.js', mode], {
          cwd: project.folder,
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        for await (const line of createInterface(child.stderr as NodeJS.ReadableStream)) {
          url = /listening on (\S+)/.exec(line)?.[1] ?? '';
          if (url !== '') break;
        }
      }
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

    it.each(['added', 'week'])(
      'runs global guards, interceptors and pipes around %s, a tool of no module (#22)',
      async (tool) => {
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
      },
    );

    it.each(['added', 'week'])(
      'does not run %s, a tool of no module, if a global guard denies it (#22)',
      async (tool) => {
        await eventsOf(client);
        const answer = await client.callTool(tool, { city: 'Denied-app' });
        expect(answer).toMatchObject({ isError: true, content: [{ text: 'Forbidden resource' }] });
        expect(await eventsOf(client)).toEqual(['guard app']);
      },
    );

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
      const [ann, bob] = await Promise.all([
        open({ 'x-user': 'ann' }),
        mode === 'stdio' ? client : open({ 'x-user': 'bob' }),
      ]);
      const both = mode === 'stdio' ? [client, client] : [ann, bob];
      const texts = await Promise.all(both.map(async (each) => JSON.stringify(await each.callTool('whoami'))));
      const found = texts.map((text) => /"text":"(\w+) (\d+)"/.exec(text)?.slice(1, 3) ?? []);
      expect(found.map(([user]) => user)).toEqual(mode === 'stdio' ? ['stdio', 'stdio'] : ['ann', 'bob']);
      expect(found[0]?.[1]).not.toBe(found[1]?.[1]);
      await ann.close();
      if (bob !== client) await bob.close();
    });

    if (mode === 'stdio') {
      // test/frameworks has those over HTTP, with the official clients
      it.each(revisions)('serves %s', async (revision) => {
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
});
