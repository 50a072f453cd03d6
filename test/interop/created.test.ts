// The projects of `create-decorum`, from nothing to a call by an official client.
import { existsSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { createKey, HostileIssuer } from '../auth/hostile-issuer.js';
import { buildImage, Serving, Workshop } from './created-project.js';

// package managers, compilers and servers run in separate processes
jest.setTimeout(300_000);

const AUDIENCE = 'https://mcp.example.com/mcp';

let workshop: Workshop;
let issuer: HostileIssuer;
beforeAll(async () => {
  workshop = await Workshop.open();
  issuer = await HostileIssuer.open([createKey('ES256', 'one')]);
});
afterAll(async () => {
  workshop.remove();
  await issuer.stop();
});

type Transport = Parameters<Client['connect']>[0];

/** Calls a tool, and always closes the client: an open one keeps its server alive. */
async function call(transport: Transport, name: string, args: Record<string, unknown>): Promise<unknown> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  try {
    await client.connect(transport);
    return (await client.callTool({ name, arguments: args })).content;
  } finally {
    await client.close();
  }
}

/** Runs scripts of a project with a package manager. */
async function run(project: string, installer: string, ...scripts: string[]): Promise<void> {
  for (const name of scripts) {
    const printed = await workshop.run(workshop.path(project), installer, ['run', name]);
    // jest prints its summary to stderr
    const isSummary = name === 'test' && !existsSync(workshop.path(project, 'jest.config.json'));
    if (isSummary) expect(printed).toMatch(/Tests.* 2 passed/);
  }
}

/** Starts a server over HTTP, and stops it after `use`. */
async function serve(command: readonly string[], cwd: string, env: object, use: (url: URL) => Promise<void>) {
  const serving = await Serving.start(command, { cwd, env: workshop.env({ ...env, PORT: '0' }) });
  await use(new URL(serving.url)).finally(() => serving.stop());
}

const BUILT = ['node', 'dist/main.js'];

async function expectForecast(url: URL): Promise<void> {
  const forecast = await call(new StreamableHTTPClientTransport(url), 'forecast', { city: 'Oslo' });
  expect(forecast).toEqual([{ type: 'text', text: 'Oslo: snow, -3 °C' }]);
}

describe('a project of the template minimal serves an official client over stdio', () => {
  const expectGreeting = async (command: string, args: string[], cwd: string) => {
    const transport = new StdioClientTransport({ command, args, cwd, env: workshop.env() });
    expect(await call(transport, 'greet', { name: 'Ada' })).toMatchObject([{ text: 'Hello, Ada!' }]);
  };
  const create = async (name: string, count: number, ...flags: string[]) => {
    const printed = await workshop.create(name, '--pm', name, ...flags);
    expect(printed).toMatch(`✔ ${name}: ${count} files, dependencies installed\n  ${name} run dev `);
  };

  it('from its Dockerfile, installed by pnpm and tested by jest', async () => {
    await create('pnpm', 13, '--test', 'jest');
    await run('pnpm', 'pnpm', 'test', 'typecheck');
    const { folder, command } = await buildImage(workshop, workshop.path('pnpm'));
    const [program = '', ...args] = command;
    await expectGreeting(program, args, folder);
  });

  it('from its scripts, installed by yarn and tested by vitest', async () => {
    await create('yarn', 12);
    await run('yarn', 'yarn', 'test', 'build');
    await expectGreeting('npm', ['start', '--silent'], workshop.path('yarn'));
  });
});

it('a project of the template http serves an official client from its Dockerfile, with nothing of its tools', async () => {
  // as README.md announces it
  expect(await workshop.create('weather', '--template', 'http')).toBe(
    '✔ weather: 11 files, dependencies installed\n' +
      '  npm run dev    serves http://127.0.0.1:3000/mcp and follows your edits\n',
  );
  await run('weather', 'npm', 'test', 'typecheck');
  const { folder, command, env } = await buildImage(workshop, workshop.path('weather'));
  expect(env['HOST']).toBe('0.0.0.0');
  await serve(command, folder, env, expectForecast);
  const installed = ['@decorum/core', '@decorum/cli', 'typescript'].map((name) =>
    existsSync(`${folder}/node_modules/${name}`),
  );
  expect(installed).toEqual([true, false, false]);
});

it('a project of the template nestjs serves an official client', async () => {
  await workshop.create('station', '--template', 'nestjs', '--pm', 'pnpm');
  await run('station', 'npm', 'test', 'typecheck', 'build');
  await serve(BUILT, workshop.path('station'), {}, expectForecast);
});

it('a project of the template secured serves an official client with a token of its issuer, and no other', async () => {
  expect(await workshop.create('notes', '--template', 'secured', '--pm', 'pnpm')).toContain(
    'cp .env.example .env    then set ISSUER',
  );
  await run('notes', 'npm', 'test', 'typecheck', 'build');
  await serve(BUILT, workshop.path('notes'), { ISSUER: issuer.url, AUDIENCE }, async (url) => {
    const transport = (claims: Record<string, unknown>) => {
      const headers = { authorization: `Bearer ${issuer.sign({ aud: AUDIENCE, ...claims })}` };
      return new StreamableHTTPClientTransport(url, { requestInit: { headers } });
    };
    const add = { text: 'Buy milk' };
    expect(await call(transport({ scope: 'notes:write' }), 'add', add)).toMatchObject([{ text: 'You have 1 notes.' }]);
    expect(await call(transport({}), 'list', {})).toMatchObject([{ text: 'Buy milk' }]);
    await expect(call(transport({}), 'add', add)).rejects.toThrow(/403|scope/i);
    const other = call(transport({ aud: 'https://other.example.com' }), 'list', {});
    await expect(other).rejects.toThrow('Authentication is required');
    expect(await call(new StreamableHTTPClientTransport(url), 'about', {})).toHaveLength(1);
  });
});
