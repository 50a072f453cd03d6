// The examples behind a proxy, and without one, as clients of the official SDK see them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from '@jest/globals';
import { type Client, connectClient, proxy, type ProxyOptions } from '@decorum/client';
import { type McpError, McpServer } from '@decorum/core';
import { type Revision, revisionOf } from '@decorum/core/internal';
import { listen } from '@decorum/http';
import { revisions } from '@decorum/testing';

import { createServer } from '../../examples/everything/src/server.js';
import { FileSystem } from '../../examples/filesystem/src/file-system.js';
import { AccessDenied, Sandbox } from '../../examples/filesystem/src/sandbox.js';
import { GraphFile } from '../../examples/memory/src/graph-file.js';
import { MemoryServer } from '../../examples/memory/src/memory-server.js';
import { type Calls, comparable, explore, sdkClient } from './proxied.js';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const ENTITY = { name: 'Ada', entityType: 'person', observations: ['counts'] };

interface Example {
  /** @param folder an empty folder for its files */
  create(folder: string): Promise<McpServer>;
  readonly calls: Calls;
  /** Tools to leave out: they take seconds, or need an extension, which lists without sessions have all the same. */
  readonly without?: readonly string[];
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  everything: {
    create: async () => createServer(),
    without: ['failing_job', 'protocol_error_job', 'test_tool_with_task', 'slow_compute'],
    calls: [
      ['json_schema_2020_12_tool', { name: 'Ada', address: { street: 'Main', city: 'Oslo' } }],
      ['test_x_mcp_header', { region: 'eu' }],
      ['test_elicitation', { message: 'Who?' }],
    ],
  },
  memory: {
    create: async (folder) => new MemoryServer(new GraphFile(join(folder, 'graph.json'))),
    calls: [
      ['create_entities', { entities: [ENTITY] }],
      ['create_entities', { entities: [ENTITY] }],
      ['create_relations', { relations: [{ from: 'Ada', to: 'Ada', relationType: 'knows' }] }],
      ['add_observations', { observations: [{ entityName: 'Ada', contents: ['writes'] }] }],
      ['add_observations', { observations: [{ entityName: 'Bob', contents: ['writes'] }] }],
      ['read_graph', {}],
      ['search_nodes', { query: 'ada' }],
      ['open_nodes', { names: ['Ada'] }],
      ['delete_entities', { entityNames: ['Ada'] }],
    ],
  },
  filesystem: {
    async create(folder) {
      mkdirSync(join(folder, 'sub'));
      writeFileSync(join(folder, 'a.txt'), 'one\ntwo\n');
      const sandbox = await Sandbox.of([folder]);
      return new McpServer({
        name: 'secure-filesystem-server',
        version: '1.0.0',
        providers: [{ provider: FileSystem, scope: 'request' }],
        resolve: () => new FileSystem(sandbox),
        errors: [
          [AccessDenied, (error) => error.message],
          [Error, (error) => ('code' in error ? error.message : undefined)],
        ],
      });
    },
    calls: [
      ['list_directory', { path: '.' }],
      ['read_text_file', { path: 'a.txt' }],
      ['read_text_file', { path: 'a.txt', head: 1, tail: 1 }],
      ['read_text_file', { path: '/etc/passwd' }],
      ['read_media_file', { path: 'a.txt' }],
      ['read_multiple_files', { paths: ['a.txt', 'none.txt'] }],
      ['write_file', { path: 'b.txt', content: 'b' }],
      ['edit_file', { path: 'b.txt', edits: [{ oldText: 'b', newText: 'c' }] }],
      ['search_files', { path: '.', pattern: '*.txt' }],
      ['directory_tree', { path: '.' }],
    ],
  },
};

/** What a client finds at an example: directly, or through a proxy that speaks a revision to it. */
async function found(example: Example, revision: string, upstream?: ProxyOptions): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-proxy-'));
  opened.push(() => rmSync(folder, { recursive: true }));
  const direct = await example.create(folder);
  const { url } = await listen(direct, { port: 0 });
  opened.push(() => direct.close());
  const names = upstream === undefined ? { prefix: '', segment: '' } : { prefix: 'px_', segment: 'px/' };
  let target = url;
  if (upstream !== undefined) {
    const front = new McpServer({
      name: 'front',
      version: '1.0.0',
      providers: [proxy(url, { prefix: 'px', forward: { roots: true, sampling: true }, ...upstream })],
    });
    target = (await listen(front, { port: 0 })).url;
    opened.push(() => front.close());
  }
  const client = await sdkClient(String(target), revision);
  opened.push(() => client.close());
  const everything = comparable(
    await explore(client, { calls: example.calls, without: example.without ?? [], ...names }),
    names,
  );
  return JSON.parse(JSON.stringify(everything).replaceAll(folder, '/folder'));
}

describe.each(Object.keys(EXAMPLES))('behind a proxy, %s', (name) => {
  const example = EXAMPLES[name] as Example;

  it.each(revisions)(
    'answers clients of %s as it does without a proxy',
    async (revision) => {
      const direct = await found(example, revision);
      expect(await found(example, revision, { revision })).toEqual(direct);
      expect(await found(example, revision, {})).toEqual(direct);
    },
    60_000,
  );
});

const PAIRS = revisions.flatMap((front, index) =>
  revisions.slice(0, index).map((upstream) => [front, upstream] as const),
);

/** The client of an example in a revision, directly or through a proxy that speaks another one to it. */
async function clientsOf(front: string, upstream: string): Promise<readonly [direct: Client, proxied: Client]> {
  const server = createServer();
  const { url } = await listen(server, { port: 0 });
  const source = proxy(url, { revision: upstream });
  const proxying = new McpServer({ name: 'front', version: '1.0.0', providers: [source] });
  const at = (await listen(proxying, { port: 0 })).url;
  opened.push(
    () => server.close(),
    () => proxying.close(),
  );
  const clients = [
    await connectClient(url, { revision: upstream }),
    await connectClient(at, { revision: front }),
  ] as const;
  for (const client of clients) opened.push(() => client.close());
  return clients;
}

/** Tools of each kind of content, and what is wrong with their arguments. */
const KINDS_OF_RESULTS = [
  'test_simple_text',
  'test_image_content',
  'test_audio_content',
  'test_embedded_resource',
  'test_multiple_content_types',
  'test_error_handling',
  'json_schema_2020_12_tool',
];

/** A result or error without what belongs to a server. */
async function outcome(promise: Promise<object>): Promise<unknown> {
  const result = await promise.catch(({ code, message, data }: McpError) => ({ error: { code, message, data } }));
  const { resultType: _type, ...rest } = result as Record<string, unknown>;
  return comparable(rest, { prefix: '', segment: '' });
}

it.each(PAIRS)('clients of %s get what %s has, as their revision words it', async (front, upstream) => {
  const revision = revisionOf(front) as Revision;
  const [direct, proxied] = await clientsOf(front, upstream);
  for (const entry of await direct.listTools()) {
    if (!KINDS_OF_RESULTS.includes(entry.name)) continue;
    for (const args of [{}, { name: 7 }]) {
      const own = direct.callTool(entry.name, args).then((result) => revision.toolResult(result, entry));
      expect([entry.name, await outcome(proxied.callTool(entry.name, args))]).toEqual([entry.name, await outcome(own)]);
    }
  }
  for (const uri of ['test://static-text', 'test://static-binary', 'test://template/7/data']) {
    const own = direct.readResource(uri).then((result) => revision.readResult(result));
    expect(await outcome(proxied.readResource(uri))).toEqual(await outcome(own));
  }
  for (const { name } of await direct.listPrompts()) {
    const own = direct.getPrompt(name, { arg1: 'a', arg2: 'b', resourceUri: 'test://static-text' });
    const gotten = proxied.getPrompt(name, { arg1: 'a', arg2: 'b', resourceUri: 'test://static-text' });
    if (name === 'test_input_required_result_prompt') await Promise.allSettled([own, gotten]);
    else expect(await outcome(gotten)).toEqual(await outcome(own.then((result) => revision.promptResult(result))));
  }
  await expect(proxied.readResource('test://nothing')).rejects.toMatchObject({
    code: revision.sessions ? -32002 : -32602,
  });
});
