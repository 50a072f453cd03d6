// Every server that a page shows starts, has the members that the page decorates, and answers. What readers of Start
// copy: ./start.test.ts
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { hashPassword } from '@decorum/auth-server';
import type { McpServer, ToolEntry } from '@decorum/core';
import { connect, type TestClient } from '@decorum/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

import { blocksOf, PAGES } from './blocks.js';
import { PageProcess, PagePrograms } from './running.js';

const programs = new Map<string, PagePrograms>();
const programsOf = (page: string): PagePrograms => {
  const known = programs.get(page) ?? new PagePrograms(page);
  programs.set(page, known);
  return known;
};
afterAll(() => programs.forEach((each) => each.remove()));

const SERVES = /serveStdio\(|listen\(/;
const ADA = { subject: 'ada', scopes: ['staff'] };

/**
 * Blocks that make a server and leave it to others to serve it. test/architecture runs those of docs/reference/errors.md, and the
 * server of docs/guides/tasks.md keeps files, needs a secret and asks.
 */
const SERVERS = PAGES.filter((page) => page !== 'docs/reference/errors.md' && page !== 'docs/guides/tasks.md').flatMap(
  (page) =>
    programsOf(page)
      .all.filter(({ fragment: { block } }) => /^(export )?const server = new McpServer\(/m.test(block.text))
      .filter(({ fragment: { block } }) => block.text.includes('providers:') && !SERVES.test(block.text))
      .map(({ fragment: { block }, path }) => ({ at: `${page}:${block.line}`, text: block.text, path })),
);

/** The names that a block says clients see: those in its comments about names, or else of the methods that it decorates. */
function namesIn(text: string): string[] {
  const told = [...text.matchAll(/\/\/ clients see (?:the tool )?(\w+)/g)];
  const decorated = [...text.matchAll(/^ *@(?:Tool|Prompt|Resource)\(.*\)\s+(?:async )?\*?(\w+)\(/gm)];
  return (told.length > 0 ? told : decorated).map(([, name = '']) => name);
}

async function membersOf(client: TestClient): Promise<string[]> {
  const { tools, prompts, resources } = client.initialized?.capabilities ?? {};
  const lists = await Promise.all<readonly { readonly name: string }[]>([
    tools ? client.listTools() : [],
    prompts ? client.listPrompts() : [],
    resources ? client.listResources() : [],
    resources ? client.listResourceTemplates() : [],
  ]);
  return lists.flat().map(({ name }) => name);
}

/** Arguments that fit the schema of a tool. */
function argumentsOf({ inputSchema }: ToolEntry): Record<string, unknown> {
  const { properties = {}, required = [] } = inputSchema as {
    readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
    readonly required?: readonly string[];
  };
  return Object.fromEntries(required.map((name) => [name, properties[name]?.type === 'string' ? 'Oslo' : 1]));
}

describe('a server that a page makes', () => {
  it.each(SERVERS.map(({ at, ...rest }) => [at, rest] as const))('has its members: %s', async (_at, { path, text }) => {
    const { server } = (await import(path)) as { readonly server: McpServer };
    const client = await connect(server, { principal: ADA });
    const members = await membersOf(client);
    expect(members).toEqual(expect.arrayContaining(namesIn(text)));
    expect(members).not.toHaveLength(0);
    await client.close();
  });

  it.each(SERVERS.map(({ at, path }) => [at, path]))('answers calls of its tools: %s', async (_at, path) => {
    const { server } = (await import(path)) as { readonly server: McpServer };
    const client = await connect(server, { principal: ADA });
    for (const tool of await client.listTools()) {
      expect(await client.callTool(tool.name, argumentsOf(tool))).not.toHaveProperty('isError');
    }
    await client.close();
  });

  it('shows members with access to those who have it only', async () => {
    const { server } = (await import(programsOf('docs/security/access.md').programOf('const staff'))) as {
      server: McpServer;
    };
    const [nobody, ada] = [await connect(server), await connect(server, { principal: ADA })];
    expect((await nobody.listTools()).map(({ name }) => name)).toEqual(['find']);
    expect((await ada.listTools()).map(({ name }) => name)).toEqual(['find', 'refund']);
    await Promise.all([nobody.close(), ada.close()]);
  });
});

/** Asks a server for the weather, as the official client does. */
async function forecastOver(transport: Transport): Promise<unknown> {
  const client = new Client({ name: 'reader', version: '1.0.0' });
  try {
    await client.connect(transport);
    return (await client.callTool({ name: 'forecast', arguments: { city: 'Oslo' } })).content;
  } finally {
    await client.close();
  }
}

/** Runs a program while something is asked of it. */
async function servedBy<T>(program: string, port: number, ask: (origin: string) => Promise<T>): Promise<T> {
  const server = await PageProcess.start(program, port);
  try {
    return await ask(server.origin);
  } finally {
    await server.stop();
  }
}

const SUNNY = [{ type: 'text', text: 'Sunny in Oslo' }];

describe('a program of docs/reference/http.md', () => {
  // each stands on the first, which listens too
  it.each([
    ['const { url, close } = await listen', 1],
    ["app.register(mcp, { server, path: '/mcp' })", 2],
    ["app.use('/mcp', nodeHandler(server))", 2],
    ['createServer({ ServerResponse: OneWriteResponse }', 3],
    ["allowedHosts: ['mcp.example.com'], // with any port", 2],
    ['async authenticate({ headers })', 2],
    ['findCaller(headers.authorization)', 2],
    ['credentialHeaders:', 2],
    ['new MemoryEventStore(', 2],
  ])('answers: %s', async (text, port) => {
    const answer = await servedBy(programsOf('docs/reference/http.md').programOf(text), port, async (origin) => {
      const requestInit = { headers: { authorization: 'Bearer secret' } };
      return await forecastOver(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }));
    });
    expect(answer).toEqual(SUNNY);
  });

  it('that authenticates refuses a client without a token', async () => {
    const program = programsOf('docs/reference/http.md').programOf('async authenticate(');
    const { status, headers } = await servedBy(program, 2, (origin) => fetch(`${origin}/mcp`, { method: 'POST' }));
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });
});

it('the program of docs/reference/transports.md serves HTTP beside stdio', async () => {
  const program = programsOf('docs/reference/transports.md').programOf('await listen(server');
  const tools = await servedBy(program, 1, async (origin) => {
    const client = new Client({ name: 'reader', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)));
    const listed = await client.listTools();
    await client.close();
    return listed.tools.map(({ name }) => name);
  });
  expect(tools).toEqual(['now']);
});

it('the program of docs/security/authorization.md tells clients where to get a token, and serves what is public', async () => {
  const program = programsOf('docs/security/authorization.md').programOf("from '@decorum/auth'");
  await servedBy(program, 1, async (origin) => {
    const { status, headers } = await fetch(`${origin}/mcp`, { headers: { authorization: 'Bearer secret' } });
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"'),
    ]);
    const metadata = await fetch(`${origin}/.well-known/oauth-protected-resource/mcp`);
    expect(await metadata.json()).toMatchObject({ authorization_servers: ['https://id.example.com'] });
    const client = new Client({ name: 'reader', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)));
    expect(await client.callTool({ name: 'about' })).toMatchObject({ content: [{ type: 'text' }] });
    await client.close();
  });
});

it('the program of docs/security/authorization-server.md is its own issuer', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'decorum-docs-'));
  writeFileSync(join(cwd, 'users.json'), JSON.stringify({ alice: { password: await hashPassword('secret') } }));
  const program = programsOf('docs/security/authorization-server.md').programOf('new McpServer(');
  const env = { ...process.env, DECORUM_SECRET: 's'.repeat(32) };
  const server = await PageProcess.start(program, 1, { cwd, env });
  const resource = await fetch(`${server.origin}/.well-known/oauth-protected-resource/mcp`);
  const issuer = 'https://mcp.example.com';
  expect(await resource.json()).toMatchObject({
    authorization_servers: [issuer],
    scopes_supported: ['mcp', 'notes:write'],
  });
  const metadata = await fetch(`${server.origin}/.well-known/oauth-authorization-server`);
  expect(await metadata.json()).toMatchObject({ issuer, authorization_endpoint: `${issuer}/authorize` });
  await server.stop();
  rmSync(cwd, { recursive: true });
});

it('the program of docs/operate/limits.md refuses a message beyond its limit', async () => {
  const program = programsOf('docs/operate/limits.md').programOf('onLimit:');
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { zeros: Array(20_000).fill(0) },
  });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const answer = await servedBy(program, 1, async (origin) => {
    return await (await fetch(`${origin}/mcp`, { method: 'POST', headers, body })).text();
  });
  expect(answer).toContain('more than 20000 values');
});

it('the program of docs/guides/previews.md deletes only what its plan has', async () => {
  const program = programsOf('docs/guides/previews.md').programOf("preview: 'plan'");
  const results = await servedBy(program, 1, async (origin) => {
    const client = new Client({ name: 'reader', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)));
    const call = async (args: Record<string, unknown>) => await client.callTool({ name: 'prune', arguments: args });
    const shown = await call({ text: 'buy' });
    const { _meta: meta = {} } = shown;
    const done = await call({ text: 'buy', ticket: meta['dev.decorum/ticket'] });
    await client.close();
    return [shown, done];
  });
  expect(results).toMatchObject([
    { structuredContent: { ids: [1, 2] } },
    { content: [{ type: 'text', text: 'Deleted 2 notes.' }] },
  ]);
});

it('the program of docs/operate/server-card.md announces itself', async () => {
  const program = programsOf('docs/operate/server-card.md').programOf('card: true');
  const card = await servedBy(program, 1, async (origin) => await (await fetch(`${origin}/mcp/server-card`)).json());
  expect(card).toMatchObject({ name: 'localhost/weather', description: 'Forecasts for all of Norway.' });
});

describe('every page with a server', () => {
  const ELSEWHERE = new Map([
    ['docs/reference/errors.md', 'test/architecture/docs.test.ts runs each example'],
    ['docs/guides/from-fastmcp.md', 'from-fastmcp.test.ts'],
    ['docs/start/why.md', 'why.test.ts'],
    ['docs/index.md', 'front-page.test.ts'],
    ['docs/guides/database.md', 'cookbook.test.ts'],
    ['docs/guides/patch.md', 'cookbook.test.ts'],
    ['docs/guides/rest-wrapper.md', 'cookbook.test.ts'],
    ['docs/guides/multi-tenant.md', 'cookbook.test.ts'],
    ['docs/guides/large-servers.md', 'cookbook.test.ts'],
    ['docs/start/getting-started.md', 'start.test.ts does what the page says'],
    ['docs/guides/from-mcp-nest.md', 'from-mcp-nest.test.ts'],
    ['docs/guides/from-the-sdk.md', 'from-the-sdk.test.ts'],
    ['docs/operate/scaling.md', 'scaling.test.ts'],
    ['docs/guides/tasks.md', 'examples/reports, which is the same server'],
    ['packages/tasks/README.md', 'shows a plugin only'],
    ['docs/guides/apps.md', 'examples/apps, which is the same server'],
    ['packages/apps/README.md', 'shows a plugin only'],
    ['docs/guides/schemas.md', 'shows an option only'],
    ['packages/redis/README.md', 'shows an option only'],
    ['docs/operate/telemetry.md', 'shows plugins only'],
    ['docs/guides/openapi.md', 'is compiled. test/openapi serves documents'],
    ['packages/openapi/README.md', 'is compiled, like docs/guides/openapi.md'],
    ['docs/guides/evals.md', 'evals.test.ts asks its models'],
    ['docs/guides/search.md', 'is compiled. test/search serves such a document'],
    ['packages/search/README.md', 'shows a plugin only'],
    ['docs/guides/skills.md', 'shows a plugin only'],
    ['packages/skills/README.md', 'shows a plugin only'],
    ['skills/decorum-server/SKILL.md', 'is compiled, like the first example of the README'],
    ['skills/decorum-server/references/http.md', 'is compiled, like docs/security/access.md'],
    ['skills/decorum-testing/SKILL.md', 'is compiled, like docs/start/getting-started.md'],
    ['docs/guides/testing.md', 'test/packaging/runners.test.ts and start.test.ts run its tests'],
    ['docs/operate/lambda.md', 'is compiled. test/interop/lambda.test.ts serves such functions'],
    ['docs/operate/bun.md', 'test/frameworks, which runs Bun'],
    ['docs/operate/cloudflare.md', 'test/packaging/lacking.test.ts'],
    ['docs/operate/deno.md', 'test/frameworks, which runs Deno'],
    ['packages/opentelemetry/README.md', 'shows a plugin only'],
    ['packages/prometheus/README.md', 'shows a plugin only'],
    ['docs/security/audit.md', 'shows a plugin only'],
    ['docs/operate/recorder.md', 'shows a plugin only'],
    ['packages/files/README.md', 'shows an option only'],
    ['packages/audit/README.md', 'shows a plugin only'],
    ['packages/core/README.md', 'has the first example of the README, which start.test.ts runs'],
  ]);
  const HERE = [
    'docs/security/authorization.md',
    'docs/security/authorization-server.md',
    'docs/reference/http.md',
    'docs/operate/limits.md',
    'docs/guides/previews.md',
    'docs/operate/server-card.md',
    'docs/operate/production.md',
    'docs/reference/transports.md',
    'docs/operate/running.md',
    'docs/reference/stdio.md',
    ...SERVERS.map(({ at }) => at.split(':')[0]),
  ];

  it('is run by a test', () => {
    const shown = PAGES.filter((page) =>
      programsOf(page).all.some(({ fragment }) => fragment.block.text.includes('new McpServer(')),
    );
    expect(shown.filter((page) => !HERE.includes(page) && !ELSEWHERE.has(page))).toEqual([]);
  });

  it('of a package shows the first example of the README', () => {
    const [first, copy] = ['README.md', 'packages/core/README.md'].map(
      (page) =>
        programsOf(page).all.find(({ fragment }) => fragment.block.text.includes('serveStdio('))?.fragment.block,
    );
    expect(copy?.text).toBe(first?.text);
  });
});

it('the program of docs/reference/stdio.md answers', async () => {
  const program = programsOf('docs/reference/stdio.md').programOf('await serveStdio(server);');
  expect(await forecastOver(new StdioClientTransport({ command: process.execPath, args: [program] }))).toEqual(SUNNY);
});

it('the route handler of docs/operate/running.md answers', async () => {
  const { POST } = (await import(programsOf('docs/operate/running.md').programOf('fetchHandler('))) as {
    readonly POST: (request: Request) => Promise<Response>;
  };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'reader', version: '1.0.0' } };
  const request = new Request('http://localhost:3000/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  const response = await POST(request);
  expect(await response.json()).toMatchObject({ result: { serverInfo: { name: 'shop' } } });
});

const production = programsOf('docs/operate/production.md');
const REFERENCE = /[0-9a-f]{8}/;

/** The JSON blocks of the page, in order. */
const [masked, logged, expected] = blocksOf('docs/operate/production.md')
  .filter(({ language }) => language === 'json')
  .map(({ text }) => JSON.parse(text) as Record<string, unknown>);

describe('the server of docs/operate/production.md', () => {
  let server: PageProcess;
  let client: Client;
  beforeAll(async () => {
    server = await PageProcess.start(production.programOf('main.ts'));
    client = new Client({ name: 'reader', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.origin}/mcp`)));
  });

  /** The lines of JSON that the server has written. */
  const lines = (): Record<string, unknown>[] =>
    server.output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('masks an error, and logs it under the reference that the client sees', async () => {
    const result = JSON.stringify(await client.callTool({ name: 'list', arguments: { page: 1 } }));
    const [reference = ''] = REFERENCE.exec(result) ?? [];
    const shown = JSON.stringify(masked).replace(REFERENCE, reference);
    expect(JSON.parse(result)).toEqual(JSON.parse(shown));

    await server.wrote(/^\{.*"level":50.*\n/m);
    await server.wrote(/^\{"captured".*\n/m);
    const line = lines().find((each) => each['reference'] === reference && 'level' in each);
    expect(Object.keys(line ?? {}).sort()).toEqual(Object.keys(logged ?? {}).sort());
    expect(line).toMatchObject({ level: 50, method: 'tools/call', msg: logged?.['msg'] });
    expect(line?.['err']).toMatchObject({ type: 'Error', message: 'connect ECONNREFUSED 10.0.0.7:5432' });
    expect(lines()).toContainEqual({
      captured: 'Error: connect ECONNREFUSED 10.0.0.7:5432',
      reference,
      method: 'tools/call',
    });
  });

  it('shows an expected error as it is', async () => {
    expect(await client.callTool({ name: 'read', arguments: { id: '42' } })).toEqual(expected);
    expect(await client.callTool({ name: 'list', arguments: { page: 0 } })).toMatchObject({
      isError: true,
      content: [{ text: 'Pages are counted from 1.' }],
    });
    expect(server.output).not.toMatch(/There is no note|counted from 1/);
  });

  it('is healthy until it closes, and then ends by itself', async () => {
    const health = await fetch(`${server.origin}/health`);
    expect([health.status, await health.json()]).toEqual([200, { isClosing: false }]);
    await client.close();
    expect(await server.stop()).toBe(0);
  });
});
