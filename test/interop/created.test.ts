// Projects of `create-decorum`, from nothing to a call by an official client. There is no Docker here, so each stage of an
// image is a folder that has only what the stage copies. `npm run check:release` creates more of them, from a registry.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { createKey, HostileIssuer } from '../auth/hostile-issuer.js';
import { User } from '../auth/user.js';
import { freePort } from '../support/dev-project.js';
import { buildImage, type Image, Serving, Workshop } from './created-project.js';

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
const WITH_ENV = ['node', '--env-file=.env', 'dist/main.js'];

async function expectForecast(url: URL): Promise<void> {
  const forecast = await call(new StreamableHTTPClientTransport(url), 'forecast', { city: 'Oslo' });
  expect(forecast).toEqual([{ type: 'text', text: 'Oslo: snow, -3 °C' }]);
}

const ROLLDOWN = 'rolldown@~1.2.19';

/** Starts an image, lets an official client call it, and asks for its health. */
async function expectService({ folder, env, command, health = [] }: Image): Promise<void> {
  expect(env).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '3000' });
  const inside = workshop.env({ ...env, PORT: String(await freePort()) });
  const serving = await Serving.start(command, { cwd: folder, env: inside });
  try {
    await expectForecast(new URL(serving.url.replace('0.0.0.0', '127.0.0.1')));
    expect(await exitOf(health, inside)).toBe(0);
  } finally {
    expect(await serving.stop()).toBe(0);
  }
  expect(await exitOf(health, inside)).toBe(1);
}

async function exitOf([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  const [code] = await once(spawn(program, args, { env, stdio: 'inherit' }), 'exit');
  return code;
}

it('a project of the template minimal serves an official client over stdio from its Dockerfile, with pnpm and jest', async () => {
  const printed = await workshop.create('pnpm', '--pm', 'pnpm', '--test', 'jest');
  expect(printed).toMatch(`✔ pnpm: 13 files, dependencies installed\n  pnpm run dev `);
  await run('pnpm', 'pnpm', 'test', 'typecheck');
  const { folder, command, env } = await buildImage(workshop, workshop.path('pnpm'));
  const [program = '', ...args] = command;
  const transport = new StdioClientTransport({ command: program, args, cwd: folder, env: workshop.env(env) });
  expect(await call(transport, 'greet', { name: 'Ada' })).toMatchObject([{ text: 'Hello, Ada!' }]);
});

describe('a project of the template http', () => {
  let announced: string;
  beforeAll(async () => {
    announced = await workshop.create('weather', '--template', 'http');
  });

  it('serves an official client from its Dockerfile, with nothing of its tools', async () => {
    // as README.md announces it
    expect(announced).toBe(
      '✔ weather: 11 files, dependencies installed\n' +
        '  npm run dev    serves http://127.0.0.1:3000/mcp and follows your edits\n',
    );
    await run('weather', 'npm', 'test', 'typecheck');
    const image = await buildImage(workshop, workshop.path('weather'));
    await expectService(image);
    const installed = ['@decorum/core', '@decorum/cli', 'typescript'].map((name) =>
      existsSync(`${image.folder}/node_modules/${name}`),
    );
    expect(installed).toEqual([true, false, false]);
  });

  it('gets an image with nothing but what npm needs to run from decorum build --docker, which replaces no file unasked', async () => {
    const folder = workshop.path('weather');
    const before = readFileSync(workshop.path('weather/Dockerfile'), 'utf8');
    const build = async (...args: string[]) =>
      await workshop.run(folder, 'npx', ['--no', '--', 'decorum', 'build', ...args]);
    await expect(build('--docker')).rejects.toThrow(
      'Dockerfile would be replaced, and nothing was written. Pass --force',
    );
    expect(readFileSync(workshop.path('weather/Dockerfile'), 'utf8')).toBe(before);
    expect(existsSync(workshop.path('weather/.dockerignore'))).toBe(false);
    expect(await build('--docker', '--force')).toMatch(/\nDockerfile, \.dockerignore\n$/);
    expect(await build('--docker')).toMatch(/\nDockerfile, \.dockerignore: nothing changed\n$/);
    const image = await buildImage(workshop, folder);
    expect(readdirSync(image.folder).toSorted()).toEqual(['dist', 'node_modules', 'package.json']);
    expect(existsSync(`${image.folder}/node_modules/typescript`)).toBe(false);
    await expectService(image);
  });

  it('gets an image with only its bundle, installed by pnpm', async () => {
    await workshop.create('bundled', '--template', 'http', '--pm', 'pnpm');
    const folder = workshop.path('bundled');
    await workshop.run(folder, 'pnpm', ['add', '-D', ROLLDOWN]);
    const printed = await workshop.run(folder, 'npx', [
      '--no',
      '--',
      'decorum',
      'build',
      '--bundle',
      '--docker',
      '--force',
    ]);
    expect(printed).toMatch(/^dist\/bundle\/main\.js {3}\d\.\d MB\nDockerfile, \.dockerignore$/m);
    const image = await buildImage(workshop, folder);
    expect(readdirSync(image.folder)).toEqual(['dist']);
    expect(readdirSync(`${image.folder}/dist/bundle`).toSorted()).toEqual(['main.js', 'package.json']);
    await expectService(image);
  });
});

it('a project of the template nestjs serves an official client', async () => {
  await workshop.create('station', '--template', 'nestjs', '--pm', 'pnpm');
  await run('station', 'npm', 'test', 'typecheck', 'build');
  await serve(BUILT, workshop.path('station'), {}, expectForecast);
});

it('a project of the template secured serves an official client with a token of its issuer, and no other', async () => {
  await workshop.create('notes', '--template', 'secured', '--issuer', issuer.url, '--pm', 'pnpm');
  await run('notes', 'npm', 'test', 'typecheck', 'build');
  await serve(WITH_ENV, workshop.path('notes'), { AUDIENCE }, async (url) => {
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

it('a project of the template secured signs its user in itself, also after a restart, with no tool installed', async () => {
  const printed = await workshop.create('diary', '--template', 'secured', '--pm', 'pnpm');
  const [, password = ''] = /sign in as alice, with the password (\S+)/.exec(printed) ?? [];
  await run('diary', 'pnpm', 'test', 'typecheck');
  const { folder, command, env } = await buildImage(workshop, workshop.path('diary'));
  cpSync(workshop.path('diary/data'), join(folder, 'data'), { recursive: true });
  const [program = '', ...args] = command;
  const start = [program, `--env-file=${workshop.path('diary/.env')}`, ...args];
  const served = workshop.env({ ...env, HOST: '127.0.0.1', PORT: String(await freePort()) });
  const user = new User(undefined, undefined, { name: 'alice', password });
  const transport = (url: string) => new StreamableHTTPClientTransport(new URL(url), { authProvider: user });
  const first = await Serving.start(start, { cwd: folder, env: served });
  const signIn = transport(first.url);
  expect(await call(transport(first.url), 'about', {})).toHaveLength(1);
  await expect(call(signIn, 'list', {})).rejects.toThrow(/unauthorized/i);
  await signIn.finishAuth(user.callback);
  expect(await call(transport(first.url), 'add', { text: 'Buy milk' })).toMatchObject([{ text: 'You have 1 notes.' }]);
  await first.stop();
  const second = await Serving.start(start, { cwd: folder, env: served });
  expect(await call(transport(second.url), 'list', {})).toMatchObject([{ text: 'You have no notes.' }]);
  expect(user.asked).toHaveLength(1);
  await second.stop();
});
