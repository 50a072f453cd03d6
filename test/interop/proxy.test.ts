// The examples behind a proxy, and without one, as clients of the official SDK see them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, connectClient, proxy, type ProxyOptions } from '@decorum/client';
import { type McpError, McpServer } from '@decorum/core';
import { type Revision, revisionOf } from '@decorum/core/internal';
import { listen } from '@decorum/http';
import { revisions } from '@decorum/testing';

import { ExampleProcess } from './example-process.js';
import { type Calls, comparable, explore, sdkClient } from './proxied.js';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** Most tests share it: no tool that is called here changes what others find. */
let everything: ExampleProcess;
beforeAll(async () => {
  everything = await ExampleProcess.start(SERVER, 'everything');
});
afterAll(() => everything.stop());

const SERVER = fileURLToPath(new URL('example-server.js', import.meta.url));
const ENTITY = { name: 'Ada', entityType: 'person', observations: ['counts'] };

interface Example {
  readonly calls: Calls;
  /** All of them, if results have more than texts. */
  readonly revisions: readonly string[];
  /**
   * Tools to leave out: they take seconds, need an extension, which lists without sessions have all the same, or remember
   * something for a session, which the connection of a proxy lacks.
   */
  readonly without?: readonly string[];
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  everything: {
    revisions,
    without: [
      'failing_job',
      'protocol_error_job',
      'test_tool_with_task',
      'slow_compute',
      'take_note',
      'read_notes',
      'forget_notes',
    ],
    calls: [
      ['json_schema_2020_12_tool', { name: 'Ada', address: { street: 'Main', city: 'Oslo' } }],
      ['test_x_mcp_header', { region: 'eu' }],
      ['test_elicitation', { message: 'Who?' }],
    ],
  },
  memory: {
    revisions: revisions.filter((_, index) => index % 2 === 0),
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
    revisions: revisions.filter((_, index) => index % 2 === 1),
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

/** The URL of an example, with a new folder if its calls change something. */
async function started(name: string): Promise<{ readonly url: string; readonly folder: string }> {
  if (name === 'everything') return { url: everything.url, folder: '/folder' };
  const folder = mkdtempSync(join(tmpdir(), 'decorum-proxy-'));
  opened.push(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'sub'));
  writeFileSync(join(folder, 'a.txt'), 'one\ntwo\n');
  const server = await ExampleProcess.start(SERVER, name, folder);
  opened.push(() => server.stop());
  return { url: server.url, folder };
}

/** The URL of a proxy. */
async function proxied(url: string, options: ProxyOptions): Promise<URL> {
  const front = new McpServer({ name: 'front', version: '1.0.0', providers: [proxy(url, options)] });
  opened.push(() => front.close());
  return new URL((await listen(front, { port: 0 })).url);
}

/** What a client finds at an example: directly, or through a proxy. */
async function found(name: string, revision: string, options?: ProxyOptions): Promise<unknown> {
  const { url, folder } = await started(name);
  const forward = { roots: true, sampling: true };
  const target = options === undefined ? url : await proxied(url, { prefix: 'px', forward, ...options });
  const names = options === undefined ? { prefix: '', segment: '' } : { prefix: 'px_', segment: 'px/' };
  const { calls, without = [] } = EXAMPLES[name] as Example;
  const client = await sdkClient(String(target), revision);
  opened.push(() => client.close());
  const all = comparable(await explore(client, { calls, without, ...names }), names);
  return JSON.parse(JSON.stringify(all).replaceAll(folder, '/folder'));
}

describe.each(Object.entries(EXAMPLES))('behind a proxy, %s', (name, example) => {
  it.each(example.revisions)(
    'answers clients of %s as it does without a proxy',
    async (revision) => {
      const direct = await found(name, revision);
      expect(await found(name, revision, { revision })).toEqual(direct);
      expect(await found(name, revision, {})).toEqual(direct);
    },
    60_000,
  );
});

const PAIRS = revisions.flatMap((front, index) =>
  revisions.slice(0, index).map((upstream) => [front, upstream] as const),
);

/** The client of an example in a revision, directly or through a proxy that speaks another one to it. */
async function clientsOf(front: string, upstream: string): Promise<readonly [direct: Client, proxied: Client]> {
  const { url } = everything;
  const at = await proxied(url, { revision: upstream });
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
  const [direct, behind] = await clientsOf(front, upstream);
  for (const entry of await direct.listTools()) {
    if (!KINDS_OF_RESULTS.includes(entry.name)) continue;
    for (const args of [{}, { name: 7 }]) {
      const own = direct.callTool(entry.name, args).then((result) => revision.toolResult(result, entry));
      expect([entry.name, await outcome(behind.callTool(entry.name, args))]).toEqual([entry.name, await outcome(own)]);
    }
  }
  for (const uri of ['test://static-text', 'test://static-binary', 'test://template/7/data']) {
    const own = direct.readResource(uri).then((result) => revision.readResult(result));
    expect(await outcome(behind.readResource(uri))).toEqual(await outcome(own));
  }
  for (const { name } of await direct.listPrompts()) {
    const own = direct.getPrompt(name, { arg1: 'a', arg2: 'b', resourceUri: 'test://static-text' });
    const gotten = behind.getPrompt(name, { arg1: 'a', arg2: 'b', resourceUri: 'test://static-text' });
    if (name === 'test_input_required_result_prompt') await Promise.allSettled([own, gotten]);
    else expect(await outcome(gotten)).toEqual(await outcome(own.then((result) => revision.promptResult(result))));
  }
  await expect(behind.readResource('test://nothing')).rejects.toMatchObject({
    code: revision.sessions ? -32002 : -32602,
  });
});
