// Images of created projects: there is no Docker here, so each stage is a folder that has only what the stage copies.
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { freePort } from '../support/dev-project.js';
import { buildImage, type Image, Serving, Workshop } from './created-project.js';

// package managers, compilers and servers run in separate processes
jest.setTimeout(300_000);

let workshop: Workshop;
beforeAll(async () => {
  workshop = await Workshop.open();
});
afterAll(() => workshop.remove());

const ROLLDOWN = 'rolldown@~1.2.19';

/** Starts an image, lets an official client call it, and asks for its health. */
async function expectService({ folder, env, command, health = [] }: Image): Promise<void> {
  expect(env).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: '3000' });
  const inside = workshop.env({ ...env, PORT: String(await freePort()) });
  const serving = await Serving.start(command, { cwd: folder, env: inside });
  try {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const url = serving.url.replace('0.0.0.0', '127.0.0.1');
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    const { content } = await client.callTool({ name: 'forecast', arguments: { city: 'Oslo' } });
    expect(content).toEqual([{ type: 'text', text: 'Oslo: snow, -3 °C' }]);
    await client.close();
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

describe('decorum build --docker', () => {
  it('writes an image with nothing but what npm needs to run, and replaces no file unasked', async () => {
    await workshop.create('weather', '--template', 'http');
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

  it('writes an image with only the bundle, of a project of pnpm', async () => {
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
