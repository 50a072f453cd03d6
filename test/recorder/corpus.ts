// Failing calls of the examples, and of a server that fails in every way.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { type CallToolResult, McpServer, mount, type Principal } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';
import { tasks } from '@decorum/tasks';
import { type ConnectOptions, elicits, type TestClient } from '@decorum/testing';

import { DocsServer } from '../../examples/docs/src/docs-server.js';
import { createServer } from '../../examples/everything/src/server.js';
import { FileSystem } from '../../examples/filesystem/src/file-system.js';
import { AccessDenied, Sandbox } from '../../examples/filesystem/src/sandbox.js';
import { GraphFile } from '../../examples/memory/src/graph-file.js';
import { MemoryServer } from '../../examples/memory/src/memory-server.js';
import { Weather } from '../../examples/weather/src/weather.js';
import { WeatherApi } from '../../examples/weather/src/weather-api.js';
import { FAULTS } from './faults.js';

const logger = { warn() {}, error() {} };

/** Creates each server, with plugins, in an empty folder. */
export const SERVERS = {
  faults: (plugins) => new McpServer({ ...FAULTS, logger, plugins }),
  everything: (plugins) => createServer({ logger, plugins: [tasks(), ...plugins] }),
  weather: (plugins) =>
    new McpServer({ name: 'weather', version: '1.0.0', logger, providers: [new Weather(new WeatherApi())], plugins }),
  memory: (plugins, folder) => {
    const mounted = new MemoryServer(new GraphFile(join(folder, 'graph.jsonl')));
    return new McpServer({ name: 'outer', version: '1.0.0', logger, providers: [mount(mounted)], plugins });
  },
  docs: (plugins, folder) => {
    writeFileSync(join(folder, 'page.md'), '# A page\n\nWith text.\n');
    return new DocsServer(folder, plugins);
  },
  files: async (plugins, folder) => {
    const place = join(folder, 'place');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'a.txt'), 'one\ntwo\n');
    const sandbox = await Sandbox.of([place]);
    return new McpServer({
      name: 'files',
      version: '1.0.0',
      logger,
      providers: [new FileSystem(sandbox)],
      errors: [
        [AccessDenied, (error) => error.message],
        [Error, (error) => ('code' in error ? error.message : undefined)],
      ],
      plugins,
    });
  },
} satisfies Record<
  string,
  (plugins: readonly Plugin[], folder: string) => McpServer<never> | Promise<McpServer<never>>
>;

/** A call that fails. */
export interface Failing {
  readonly server: keyof typeof SERVERS;
  /** What the client does. */
  readonly call: (client: TestClient) => Promise<unknown>;
  readonly client?: ConnectOptions;
}

const tool =
  (name: string, args: object = {}, meta: Record<string, unknown> = {}) =>
  (client: TestClient): Promise<CallToolResult> =>
    client.callTool(name, args, { meta });

const read = (uri: string) => (client: TestClient) => client.readResource(uri);
const prompt =
  (name: string, args: object = {}) =>
  (client: TestClient) =>
    client.getPrompt(name, args);

const ADMIN: Principal = {
  subject: 'ada@example.com',
  scopes: [],
  claims: { role: 'admin', email: 'ada@example.com' },
};
const refuses = () => {
  throw new Error('The user has gone home.');
};

const faults = (call: Failing['call'], client?: ConnectOptions): Failing => ({
  server: 'faults',
  call,
  ...(client && { client }),
});
const inEverything = (call: Failing['call'], client?: ConnectOptions): Failing => ({
  ...faults(call, client),
  server: 'everything',
});

const OF_FAULTS: Readonly<Record<string, Failing>> = {
  'too many': faults(tool('order', { count: 12, sku: 'a' })),
  'text for a number': faults(tool('order', { count: 'many', sku: 'a' })),
  'a missing argument': faults(tool('order', { count: 1 })),
  'no arguments': faults(tool('order')),
  'an unknown argument': faults(tool('order', { count: 1, sku: 'a', size: 'XL' })),
  'a long text': faults(tool('order', { count: 1, sku: 'a'.repeat(20) })),
  'a wrong password': faults(
    tool('login', { login: 'ada@example.com', apiKey: 'a3bb189e-8bf9-4c88-9912-ace4e6543002', password: 'hunter2!' }),
  ),
  'a wrong email': faults(tool('login', { login: 'ada', apiKey: '1', password: 'x' })),
  'sold out': faults(tool('sold_out')),
  'a bug': faults(tool('bug')),
  'a late bug': faults(tool('late_bug')),
  'a bug in what was planned': faults(async (client) => {
    const { _meta: meta = {} } = await client.callTool('planned_bug');
    return await client.callTool('planned_bug', { ticket: meta['dev.decorum/ticket'] });
  }),
  'a thrown text': faults(tool('text')),
  'an error of the protocol': faults(tool('protocol')),
  'an own code': faults(tool('own_code')),
  'rejected arguments': faults(tool('rejected')),
  'a busy tool': faults(tool('busy')),
  'a timeout': faults(tool('slow')),
  'a timeout of another service': faults(tool('upstream')),
  'a hidden tool': faults(tool('hidden')),
  'a tool for others': faults(tool('admins'), { principal: { subject: 'bob' } }),
  'a tool for admins': faults(tool('admins'), { principal: ADMIN }),
  'a tool for HTTP': faults(tool('web')),
  'a wrong output': faults(tool('sum')),
  'an accepted confirmation': faults(tool('confirm'), { onElicit: elicits('accept') }),
  'a declined confirmation': faults(tool('confirm'), { onElicit: elicits('decline') }),
  'a user who can not be asked': faults(tool('confirm')),
  'a client that fails to ask': faults(tool('confirm'), { onElicit: refuses }),
  'an answer that does not fit': faults(tool('book'), { onElicit: elicits({ name: 'Eve' }) }),
  'two answers': faults(tool('book'), { onElicit: elicits({ name: 'Ada' }, 'accept') }),
  'a second answer that declines': faults(tool('book'), { onElicit: elicits({ name: 'Bob' }, 'decline') }),
  'a model': faults(tool('model'), { onSample: () => 'a poem' }),
  'no model': faults(tool('model')),
  'folders of the client': faults(tool('folders'), { onRoots: () => [{ uri: 'file:///a' }] }),
  'a page to visit': faults(tool('page'), {
    onElicit: () => ({ action: 'accept' }),
    capabilities: { elicitation: { form: {}, url: {} } },
  }),
  'a page that is declined': faults(tool('page'), {
    onElicit: () => ({ action: 'decline' }),
    capabilities: { elicitation: { form: {}, url: {} } },
  }),
  'a field of _meta': faults(tool('branch', {}, { 'shop/branch': 'Oslo' })),
  'a failed effect': faults(tool('effect')),
  'an interceptor': faults(tool('sold_out', {}, { 'shop/closed': true })),
  'a client that stops waiting': faults(async (client) => {
    const stop = new AbortController();
    await client.callTool('endless', {}, { signal: stop.signal, onProgress: () => stop.abort() }).catch(() => {});
    // the server has read the cancellation by then
    await client.listTools();
  }),
  'a server that closes': faults(async (client) => {
    await new Promise<void>((resolve) => {
      client.callTool('endless', {}, { onProgress: () => resolve() }).catch(() => {});
    });
  }),
  'an unknown tool': faults(tool('nothing')),
  'an unknown prompt': faults(prompt('nothing')),
  'an unknown resource': faults(read('faults://nothing')),
  'a broken resource': faults(read('faults://broken')),
  'a note that is not there': faults(read('faults://notes/a')),
  'a store that is down': faults(read('faults://notes/b')),
  'a bug in a template': faults(read('faults://notes/bug')),
  'a wrong variable': faults(read('faults://notes/abcdef')),
  'a prompt that fails': faults(prompt('greet', { name: 'Ada' })),
  'a prompt with a wrong argument': faults(prompt('greet', { name: 'Eve' })),
  'a broken prompt': faults(prompt('broken_prompt')),
  'a broken completion': faults((client) => client.complete({ prompt: 'greet' }, { name: 'name', value: 'x' })),
  'a completion of nothing': faults((client) => client.complete({ prompt: 'nothing' }, { name: 'name', value: 'x' })),
};

const file = (name: string, args: object): Failing => ({ server: 'files', call: tool(name, args) });
const memory = (name: string, args: object): Failing => ({ server: 'memory', call: tool(name, args) });

const OF_EXAMPLES: Readonly<Record<string, Failing>> = {
  'everything: an error': inEverything(tool('test_error_handling')),
  'everything: no capability': inEverything(tool('test_missing_capability')),
  'everything: a model that refuses': inEverything(tool('test_sampling', { prompt: 'Write' }), { onSample: refuses }),
  'everything: a form that does not fit': inEverything(tool('test_elicitation', { message: 'Who?' }), {
    onElicit: elicits({ username: 7 } as never),
  }),
  'everything: no question': inEverything(tool('test_elicitation', {})),
  'everything: a wrong contact': inEverything(tool('json_schema_2020_12_tool', { name: 7 })),
  'everything: a task without a task': inEverything(tool('failing_job')),
  'everything: a prompt without arguments': inEverything(prompt('test_prompt_with_arguments')),
  'everything: an unknown resource': inEverything(read('test://nothing')),
  'weather: an unknown city': { server: 'weather', call: tool('forecast', { city: 'Atlantis' }) },
  'weather: a wrong unit': { server: 'weather', call: tool('forecast', { city: 'Oslo', units: 'kelvin' }) },
  'weather: a long city': { server: 'weather', call: tool('forecast', { city: 'a'.repeat(100) }) },
  'weather: an unknown station': { server: 'weather', call: read('weather://Atlantis/today') },
  'weather: a prompt for nowhere': { server: 'weather', call: prompt('pack') },
  'memory: an unknown entity': memory('add_observations', { observations: [{ entityName: 'Ada', contents: ['x'] }] }),
  'memory: an entity without a name': memory('create_entities', { entities: [{ entityType: 'person' }] }),
  'memory: no list': memory('delete_entities', { entityNames: 'Ada' }),
  'docs: an unknown page': { server: 'docs', call: read('docs://nothing.md') },
  'docs: a search for nothing': { server: 'docs', call: tool('search', {}) },
  'docs: an unknown tool': { server: 'docs', call: tool('find', { text: 'a' }) },
  'files: no such file': file('read_text_file', { path: 'nothing.txt' }),
  'files: outside': file('read_text_file', { path: '/etc/passwd' }),
  'files: a folder': file('read_media_file', { path: '.' }),
  'files: an edit that does not match': file('edit_file', { path: 'a.txt', edits: [{ oldText: 'x', newText: 'y' }] }),
  'files: no path': file('write_file', { content: 'a' }),
  'files: a file as a folder': file('list_directory', { path: 'a.txt' }),
};

/** All failing calls by what fails. */
export const CORPUS: Readonly<Record<string, Failing>> = { ...OF_FAULTS, ...OF_EXAMPLES };
