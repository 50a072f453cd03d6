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

/** Runs a script of a project with a package manager. */
const script = async (project: string, installer: string, name: string) =>
  await workshop.run(workshop.path(project), installer, ['run', name]);

async function testAndBuild(project: string, installer: string): Promise<void> {
  const tested = await script(project, installer, 'test');
  // jest prints its summary to stderr
  if (!existsSync(workshop.path(project, 'jest.config.json'))) expect(tested).toMatch(/Tests.* 2 passed/);
  await script(project, installer, 'typecheck');
  await script(project, installer, 'build');
}

describe('a project of the template minimal serves an official client over stdio', () => {
  it.each([
    { installer: 'npm', test: 'vitest', count: 11 },
    { installer: 'pnpm', test: 'jest', count: 13 },
    { installer: 'yarn', test: 'vitest', count: 12 },
  ])('installed by $installer and tested by $test', async ({ installer, test, count }) => {
    const name = `greeter-${installer}`;
    const printed = await workshop.create(name, '--pm', installer, '--test', test);
    expect(printed).toMatch(`✔ ${name}: ${count} files, dependencies installed\n  ${installer} run dev `);
    await testAndBuild(name, installer);
    const env = workshop.env();
    const started = { command: 'npm', args: ['start', '--silent'], cwd: workshop.path(name), env };
    expect(await greet(started)).toMatchObject([{ text: 'Hello, Ada!' }]);
    // the one of npm is run below, and yarn takes half a minute for each installation
    if (installer !== 'pnpm') return;
    const { folder, command } = await buildImage(workshop, workshop.path(name));
    const [program = '', ...args] = command;
    expect(await greet({ command: program, args, cwd: folder, env })).toMatchObject([{ text: 'Hello, Ada!' }]);
  });

  const greet = async (started: ConstructorParameters<typeof StdioClientTransport>[0]) =>
    await call(new StdioClientTransport(started), 'greet', { name: 'Ada' });
});

describe('a project of the template http', () => {
  const name = 'weather';
  let printed: string;

  beforeAll(async () => {
    printed = await workshop.create(name, '--template', 'http');
  });

  async function forecast(command: readonly string[], cwd: string, env: object): Promise<unknown> {
    const serving = await Serving.start(command, { cwd, env: workshop.env({ ...env, PORT: '0' }) });
    try {
      const transport = new StreamableHTTPClientTransport(new URL(serving.url));
      return await call(transport, 'forecast', { city: 'Oslo' });
    } finally {
      await serving.stop();
    }
  }

  const FORECAST = [{ type: 'text', text: 'Oslo: snow, -3 °C' }];

  it('is announced as in README.md', () => {
    expect(printed).toBe(
      `✔ ${name}: 11 files, dependencies installed\n` +
        '  npm run dev    serves http://127.0.0.1:3000/mcp and follows your edits\n',
    );
  });

  it('serves an official client', async () => {
    await testAndBuild(name, 'npm');
    expect(await forecast(['node', 'dist/main.js'], workshop.path(name), {})).toEqual(FORECAST);
  });

  it('does so as its Dockerfile says, with nothing of its tools', async () => {
    const { folder, command, env } = await buildImage(workshop, workshop.path(name));
    expect(env['HOST']).toBe('0.0.0.0');
    expect(await forecast(command, folder, env)).toEqual(FORECAST);
    const installed = ['@decorum/core', '@decorum/cli', 'typescript'].map((each) =>
      existsSync(`${folder}/node_modules/${each}`),
    );
    expect(installed).toEqual([true, false, false]);
  });
});

it('a project of the template nestjs serves an official client', async () => {
  await workshop.create('station', '--template', 'nestjs');
  await testAndBuild('station', 'npm');
  const serving = await Serving.start(['node', 'dist/main.js'], {
    cwd: workshop.path('station'),
    env: workshop.env({ PORT: '0' }),
  });
  try {
    const transport = new StreamableHTTPClientTransport(new URL(serving.url));
    expect(await call(transport, 'forecast', { city: 'Oslo' })).toEqual([{ type: 'text', text: 'Oslo: snow, -3 °C' }]);
  } finally {
    await serving.stop();
  }
});

it('a project of the template secured serves an official client with a token of its issuer, and no other', async () => {
  expect(await workshop.create('notes', '--template', 'secured')).toContain('cp .env.example .env    then set ISSUER');
  await testAndBuild('notes', 'npm');
  const cwd = workshop.path('notes');
  const env = { PORT: '0', ISSUER: issuer.url, AUDIENCE };
  const serving = await Serving.start(['node', 'dist/main.js'], { cwd, env: workshop.env(env) });
  try {
    const url = new URL(serving.url);
    const transport = (claims: Record<string, unknown>) => {
      const headers = { authorization: `Bearer ${issuer.sign({ aud: AUDIENCE, ...claims })}` };
      return new StreamableHTTPClientTransport(url, { requestInit: { headers } });
    };
    const add = { text: 'Buy milk' };
    expect(await call(transport({ scope: 'notes:write' }), 'add', add)).toMatchObject([{ text: 'You have 1 notes.' }]);
    expect(await call(transport({}), 'list', {})).toMatchObject([{ text: 'Buy milk' }]);
    await expect(call(transport({}), 'add', add)).rejects.toThrow(/403|scope/i);
    await expect(call(transport({ aud: 'https://other.example.com' }), 'list', {})).rejects.toThrow(
      'Authentication is required',
    );
    expect(await call(new StreamableHTTPClientTransport(url), 'about', {})).toHaveLength(1);
  } finally {
    await serving.stop();
  }
});
