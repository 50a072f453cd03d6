import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { describe, expect, it } from '@jest/globals';

import { PACKAGES, ROOT } from './source.js';

const WEATHER = join(ROOT, 'examples/weather/dist/main.js');

const script = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;

/** Prints the URL of each ES module before it is loaded. Hooks run in a thread of their own. */
const HOOKS = script(`
  import { writeSync } from 'node:fs';
  export const load = (url, context, next) => {
    if (url.includes('/node_modules/')) writeSync(2, 'loaded: ' + url + '\\n');
    return next(url, context);
  };
`);

/** Prints what is loaded: ES modules at once, and one file of each package with CommonJS modules on exit. */
const LOADED = script(`
  import { createRequire, register } from 'node:module';
  const { cache } = createRequire(${JSON.stringify(pathToFileURL(WEATHER).href)});
  process.on('exit', () => {
    const folders = Object.keys(cache).map((file) => /.*\\/node_modules\\/(?:@[^/]+\\/)?[^/]+/.exec(file)?.[0] ?? '');
    console.error([...new Set(folders)].map((folder) => 'loaded: ' + folder).join('\\n'));
  });
  register(${JSON.stringify(HOOKS)});
`);

/** The packages that were loaded. */
function packagesIn(printed: string): string[] {
  const names = printed.split('\n').map((line) => /^loaded: .*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(line)?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

const message = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

const INITIALIZE = message(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1.0.0' },
});
const CALL = message(3, 'tools/call', { name: 'forecast', arguments: { city: 'Oslo' } });

/** Serves a tool over HTTP, calls it, and prints the status. */
const SERVE = `
  import { McpServer } from '@decorum/core';
  import { listen } from '@decorum/http';
  const server = new McpServer({ name: 'clock', version: '1.0.0' });
  server.addTool({ name: 'now', description: 'Tells the time' }, () => 'noon');
  const { url } = await listen(server, { port: 0, OPTIONS });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'now',
  };
  const version = 'io.modelcontextprotocol/protocolVersion';
  const _meta = { [version]: '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'now', arguments: {}, _meta } });
  const answer = await fetch(url, { method: 'POST', headers, body });
  console.log(answer.status);
  await answer.text();
  await server.close();
`;

/** What only authorization servers need, once they are open. */
const OF_ISSUERS = new Set(['oidc-provider', 'koa', 'fs-native-extensions', 'openid-client']);

/** Creates an authorization server. */
const ISSUER = `
  import { authorizationServer, fileStore, memoryStore } from '@decorum/auth-server';
  process.env.DECORUM_SECRET = 'a secret of more than 32 characters';
  const options = { resource: 'https://mcp.example.com/mcp', consent: { mcp: 'Use' }, login: () => undefined };
  authorizationServer({ ...options, store: fileStore('never-opened') });
  const auth = authorizationServer({ ...options, store: memoryStore() });
`;

/** Prints the export name and the own name of each exported class. */
const CLASSES = `
  const exported = Object.entries(await import(process.argv[1]));
  const classes = exported.filter(([, value]) => /^class\\b/.test(String(value)));
  console.log(JSON.stringify(classes.map(([name, { name: itself }]) => [name, itself])));
`;

/** Runs Node in the root directory and waits for its exit. */
function run(args: readonly string[], input = ''): Promise<{ stdout: string; loaded: string[] }> {
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, ['--import', LOADED, ...args], { cwd: ROOT }, (error, stdout, stderr) => {
      if (error !== null) reject(error);
      else resolve({ stdout, loaded: packagesIn(stderr) });
    });
    child.stdin?.end(input);
  });
}

describe('startup', () => {
  it('of @decorum/http does not load Fastify before listen', async () => {
    const { loaded } = await run(['--input-type=module', '--eval', `import '@decorum/http'`]);
    expect(loaded).not.toContain('fastify');
  });

  it('of @decorum/core loads no validator', async () => {
    const { loaded } = await run(['--input-type=module', '--eval', `import '@decorum/core'`]);
    expect(loaded).toContain('reflect-metadata');
    expect(loaded).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(?:ajv|class-)/)]));
  });

  it('of @decorum/core does not load the fetch of Node.js, which takes 20 ms', async () => {
    const code = `import '@decorum/core'; console.log(process.moduleLoadList.some((name) => name.includes('undici')))`;
    expect((await run(['--input-type=module', '--eval', code])).stdout.trim()).toBe('false');
  });

  it('of a stdio server does not load ajv before the first call', async () => {
    const listed = await run([WEATHER, '--stdio'], `${INITIALIZE}${message(2, 'tools/list', {})}`);
    expect(listed.stdout).toContain('inputSchema');
    expect(listed.loaded).not.toContain('ajv');
    expect(listed.loaded).not.toContain('fastify');
    const called = await run([WEATHER, '--stdio'], `${INITIALIZE}${CALL}`);
    expect(called.stdout).toContain('structuredContent');
    expect(called.loaded).toContain('ajv');
  });

  it('of @decorum/auth loads jose, and nothing of an authorization server', async () => {
    const { loaded } = await run(['--input-type=module', '--eval', `import '@decorum/auth'; import '@decorum/http'`]);
    expect(loaded).toContain('jose');
    expect(loaded.filter((name) => OF_ISSUERS.has(name))).toEqual([]);
  });

  it('of @decorum/auth-server loads oidc-provider, which takes 300 ms, when it opens', async () => {
    const { loaded } = await run(['--input-type=module', '--eval', ISSUER]);
    expect(loaded).toContain('jose');
    expect(loaded.filter((name) => OF_ISSUERS.has(name))).toEqual([]);
    const opened = await run([
      '--input-type=module',
      '--eval',
      `${ISSUER} await auth.principalOf('').catch(() => {});`,
    ]);
    expect(opened.loaded).toEqual(expect.arrayContaining(['oidc-provider', 'koa']));
  });

  it.each([
    ['without auth', '', 200],
    ['with auth of the application', `auth: { authenticate: () => ({ subject: 'ada' }) }`, 200],
    ['that refuses a caller', `auth: { authenticate: () => undefined }`, 401],
  ])('of a server %s never loads jose, nor do its calls', async (_what, options, status) => {
    const { stdout, loaded } = await run(['--input-type=module', '--eval', SERVE.replace('OPTIONS', options)]);
    expect(stdout.trim()).toBe(String(status));
    expect(loaded).toContain('fastify');
    expect(loaded).not.toContain('jose');
  });
});

/** Packages that are run, not imported. */
const PROGRAMS = new Set(['cli', 'create-decorum']);

describe('the published code', () => {
  it.each(PACKAGES.filter((name) => !PROGRAMS.has(name)))(
    'of %s keeps class names, which users read in stack traces',
    async (name) => {
      const { stdout } = await run(['--input-type=module', '--eval', CLASSES, `@decorum/${name}`]);
      for (const [exported, itself] of JSON.parse(stdout) as [string, string][]) expect(itself).toBe(exported);
    },
  );
});
