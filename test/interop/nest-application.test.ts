// A usual application: passport, throttler, serializer, swagger, nestjs-cls and zod, in both versions of Nest on both platforms.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { connect, type TestClient } from '@decorum/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { compiled, createProject, type Project } from '../packaging/project.js';

// applications start in processes of their own
jest.setTimeout(60_000);

const ADA = { authorization: 'Bearer token-of-ada', 'x-request-id': 'r-17', 'x-tenant': 'acme', 'x-count': '41' };

/** The value in the text of a tool's result. */
const valueOf = ({ content }: object & { content?: unknown }) =>
  JSON.parse((content as { text: string }[])[0]?.text ?? '') as unknown;

describe.each([
  ['Nest 11 in CommonJS', 'nest11', 'commonjs', 'wish-nestjs-zod.ts'],
  ['Nest 12 in ES modules', 'nest12', 'es6', 'wish.ts'],
] as const)('A usual application in %s', (_version, folder, modules, wish) => {
  let project: Project;
  beforeAll(() => {
    project = createProject({ from: folder });
    project.write('application.js', compiled('nest-application.ts', modules));
    project.write('wish.js', compiled(wish, modules));
  });
  afterAll(() => project.remove());

  describe.each(['express', 'fastify'])('on %s', (platform) => {
    let child: ChildProcess;
    let url = '';
    let ada: TestClient;
    let stranger: TestClient;

    beforeAll(async () => {
      child = spawn(process.execPath, ['application.js', platform], {
        cwd: project.folder,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const seen: string[] = [];
      for await (const line of createInterface(child.stderr as NodeJS.ReadableStream)) {
        seen.push(line);
        url = /listening on (\S+)/.exec(line)?.[1] ?? '';
        if (url !== '') break;
      }
      if (url === '') throw new Error(seen.join('\n'));
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
});
