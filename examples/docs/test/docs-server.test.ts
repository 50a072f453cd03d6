import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { DocsServer } from '../src/docs-server.js';
import { overHttp, overStdio } from './carriers.js';
import type { Client, Json } from './client.js';
import { makeFolder, START } from './folder.js';

const START_URI = 'docs://guide/start.md';
const UMLAUT_URI = 'docs://guide/%C3%BCber%20uns.md';

describe.each([
  ['stdio', overStdio],
  ['HTTP', overHttp],
])('The documentation over %s', (_carrier, connect) => {
  let folder: Awaited<ReturnType<typeof makeFolder>>;
  let client: Client;

  beforeEach(async () => {
    folder = await makeFolder();
    client = await connect(new DocsServer(folder.docs));
  });

  afterEach(async () => {
    await client.close();
    await folder.remove();
  });

  const call = (name: string, args: Json) => client.request('tools/call', { name, arguments: args });
  const read = (uri: string) => client.request('resources/read', { uri });
  const write = (path: string, text: string) => writeFile(join(folder.docs, path), text);
  const complete = async (ref: Json, argument: Json) => {
    const { completion } = await client.request('completion/complete', { ref, argument });
    return (completion as { values: string[] }).values;
  };
  const resources = async () => (await client.request('resources/list'))['resources'] as Json[];

  describe('tools', () => {
    it('are read-only, described, and have schemas', async () => {
      const { tools } = (await client.request('tools/list')) as { tools: Json[] };
      expect(tools.map(({ name }) => name)).toEqual(['search', 'read']);
      for (const { annotations } of tools) expect(annotations).toMatchObject({ readOnlyHint: true });
      expect(tools[0]).toMatchObject({
        inputSchema: {
          required: ['query'],
          properties: {
            query: { type: 'string', maxLength: 200, description: expect.any(String) },
            limit: { type: 'integer', minimum: 1, maximum: 50, default: 10 },
          },
        },
        outputSchema: { properties: { total: { type: 'integer' }, hits: { type: 'array' } } },
      });
    });

    it('find sections, best first, with everything needed to read them', async () => {
      const result = await call('search', { query: 'session timeout' });
      expect(result['structuredContent']).toMatchObject({
        hits: [
          {
            uri: START_URI,
            path: 'guide/start.md',
            title: 'Getting started',
            heading: 'Session timeout',
            section: 'session-timeout',
            snippet: expect.stringContaining('thirty minutes'),
          },
        ],
      });
    });

    it('return no more than the limit', async () => {
      const { structuredContent } = await call('search', { query: 'timeout', limit: 1 });
      expect(structuredContent).toMatchObject({ hits: [{}] });
      expect((structuredContent as { hits: Json[] }).hits).toHaveLength(1);
    });

    it('explain invalid arguments', async () => {
      const result = JSON.stringify(await call('search', { query: '', limit: 99 }));
      expect(result).toContain('query');
      expect(result).toContain('limit');
    });

    it('read a page, or one section of it', async () => {
      expect(await call('read', { path: 'guide/start.md' })).toMatchObject({
        content: [{ type: 'text', text: START }],
      });
      const { content } = await call('read', { path: 'guide/start.md', section: 'next-steps' });
      expect(content).toEqual([{ type: 'text', text: '## Next steps\n\nRead the reference.' }]);
    });

    it('help a model that asks for something unknown', async () => {
      const wrongPath = await call('read', { path: 'docs/start.md' });
      expect(wrongPath).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('"guide/start.md"') }],
      });
      const wrongSection = await call('read', { path: 'guide/start.md', section: 'nope' });
      expect(wrongSection).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining('session-timeout') }],
      });
    });
  });

  describe('resources', () => {
    it('list only the pages of the folder, with title, type, size and date', async () => {
      const list = await resources();
      expect(list.map(({ uri }) => uri)).toEqual([
        'docs://index',
        'docs://README.md',
        'docs://alias.md',
        START_URI,
        UMLAUT_URI,
        "docs://odd%20(a&b),%20c=d+e;%20it's!.md",
        'docs://untitled.md',
      ]);
      expect(list.find(({ uri }) => uri === START_URI)).toEqual({
        uri: START_URI,
        name: 'guide/start.md',
        title: 'Getting started',
        mimeType: 'text/markdown',
        size: START.length,
        annotations: { lastModified: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) },
      });
    });

    it('can be read by their listed URI', async () => {
      for (const { uri } of await resources()) {
        expect(await read(uri as string)).toMatchObject({ contents: [{ uri, mimeType: 'text/markdown' }] });
      }
      expect(await read(START_URI)).toMatchObject({ contents: [{ text: START }] });
      expect(await read(UMLAUT_URI)).toMatchObject({ contents: [{ text: expect.stringContaining('Märchen') }] });
    });

    it('have an index that links to all pages', async () => {
      const { contents } = (await read('docs://index')) as { contents: { text: string }[] };
      expect(contents[0]?.text).toContain(`- [Über uns](${UMLAUT_URI})\n`);
      for (const { uri } of (await resources()).slice(1)) expect(contents[0]?.text).toContain(`](${uri as string})\n`);
    });

    it('do not exist at URIs that lead elsewhere', async () => {
      for (const uri of [
        'docs://../package.json',
        'docs://../outside.md',
        'docs://guide/../../outside.md',
        'docs://guide/../guide/start.md',
        'docs://%2e%2e/outside.md',
        'docs://%2E%2E%2Foutside.md',
        'docs://..%2foutside.md',
        'docs://%252e%252e%252foutside.md',
        'docs://..%5coutside.md',
        'docs://%c0%ae%c0%ae/outside.md',
        'docs:///etc/passwd',
        'docs://%2fetc%2fpasswd',
        'docs://../docs-private/plan.md',
        'docs://README.md%00',
        'docs://README.md%00.md',
        'docs://README.md\u0000',
        'docs://README.md/',
        'docs://./README.md',
        'docs://README.md?x',
        'docs://README.md#top',
        'docs://constructor',
        'docs://__proto__',
        'docs://.hidden.md',
        'docs://.git/config.md',
        'docs://node_modules/pkg/README.md',
        'docs://notes.txt',
        'docs://out.md',
        'docs://sibling.md',
        'docs://sneaky.md',
        'docs://loop.md',
        'docs://outer/plan.md',
        'docs://guide',
        'docs://',
      ]) {
        const answer = await read(uri);
        expect([uri, answer]).toMatchObject([uri, { code: -32002, message: 'Resource not found' }]);
        expect(JSON.stringify(answer)).not.toMatch(/SECRET|root:|decorum-docs-/);
      }
    });

    it('are not found by search if they are not served', async () => {
      expect(await call('search', { query: 'secret' })).toMatchObject({ structuredContent: { total: 0, hits: [] } });
    });
  });

  describe('prompts', () => {
    it('explain a topic from the most relevant pages', async () => {
      const { messages } = await client.request('prompts/get', {
        name: 'explain',
        arguments: { topic: 'session timeout' },
      });
      expect(messages).toMatchObject([
        { role: 'user', content: { type: 'text', text: expect.stringContaining('session timeout') } },
        {
          role: 'user',
          content: { type: 'resource', resource: { uri: START_URI, mimeType: 'text/markdown', text: START } },
        },
      ]);
    });

    it('say so if no page matches the topic', async () => {
      const { messages } = await client.request('prompts/get', { name: 'explain', arguments: { topic: 'xylophone' } });
      expect(messages).toMatchObject([{ content: { text: expect.stringContaining('says nothing') } }]);
    });

    it('summarise a page', async () => {
      const { messages } = await client.request('prompts/get', {
        name: 'summarise',
        arguments: { path: 'guide/start.md' },
      });
      expect(messages).toMatchObject([
        { content: { type: 'text' } },
        { content: { type: 'resource', resource: { text: START } } },
      ]);
    });

    it.each(['nope.md', '../outside.md'])('reject the page %j', async (path) => {
      expect(await client.request('prompts/get', { name: 'summarise', arguments: { path } })).toMatchObject({
        code: -32602,
      });
    });
  });

  describe('completion', () => {
    it('suggests matching paths, best first', async () => {
      const template = { type: 'ref/resource', uri: 'docs://{+path}' };
      expect(await complete(template, { name: 'path', value: 'start' })).toEqual(['guide/start.md']);
      expect(await complete(template, { name: 'path', value: 'guide/' })).toEqual([
        'guide/start.md',
        'guide/über uns.md',
      ]);
      const prompt = { type: 'ref/prompt', name: 'summarise' };
      expect(await complete(prompt, { name: 'path', value: 'rdme' })).toEqual(['README.md']);
    });

    it('suggests headings as topics', async () => {
      const prompt = { type: 'ref/prompt', name: 'explain' };
      expect(await complete(prompt, { name: 'topic', value: 'time' })).toEqual([
        'Session timeout',
        'Changing the timeout',
      ]);
    });
  });

  describe('changes', () => {
    it('of a page notify its subscribers and are visible at once', async () => {
      await client.request('resources/subscribe', { uri: START_URI });
      await write('guide/start.md', '# Getting started\n\nEverything about giraffes.\n');
      expect(await client.heard('notifications/resources/updated')).toEqual({ uri: START_URI });
      expect(await read(START_URI)).toMatchObject({ contents: [{ text: expect.stringContaining('giraffes') }] });
      expect(await call('search', { query: 'giraffes' })).toMatchObject({ structuredContent: { total: 1 } });
      expect(await call('search', { query: 'thirty minutes' })).toMatchObject({ structuredContent: { total: 0 } });
    });

    it('of the list cause a notification when a page is added', async () => {
      await write('new.md', '# Brand new\n');
      await client.heard('notifications/resources/list_changed');
      expect(await resources()).toContainEqual(expect.objectContaining({ uri: 'docs://new.md', title: 'Brand new' }));
    });

    it('of the list cause a notification when a page is deleted', async () => {
      await client.request('resources/subscribe', { uri: START_URI });
      await rm(join(folder.docs, 'guide/start.md'));
      expect(await client.heard('notifications/resources/updated')).toEqual({ uri: START_URI });
      await client.heard('notifications/resources/list_changed');
      expect(await read(START_URI)).toMatchObject({ code: -32002 });
    });

    it('notify subscribers of the index', async () => {
      await client.request('resources/subscribe', { uri: 'docs://index' });
      await rename(join(folder.docs, 'untitled.md'), join(folder.docs, 'renamed.md'));
      expect(await client.heard('notifications/resources/updated')).toEqual({ uri: 'docs://index' });
    });

    it('that replace a page by a link out of the folder remove the page', async () => {
      await client.request('resources/subscribe', { uri: 'docs://README.md' });
      await symlink('../outside.md', join(folder.docs, 'swap.md'));
      await rename(join(folder.docs, 'swap.md'), join(folder.docs, 'README.md'));
      await client.heard('notifications/resources/updated');
      expect(await read('docs://README.md')).toMatchObject({ code: -32002 });
    });
  });
});
