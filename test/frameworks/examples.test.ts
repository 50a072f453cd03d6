// The examples of frameworks, run as their READMEs say.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { afterEach, expect, it } from '@jest/globals';

import { CLIENTS, useWeather } from './weather.js';

const RUN = fileURLToPath(new URL('../../scripts/example.js', import.meta.url));

let child: ChildProcess;

function run(name: string): ChildProcess {
  const env = { ...process.env, NODE_OPTIONS: '', PORT: '0' };
  child = spawn(process.execPath, [RUN, name], { stdio: ['ignore', 'pipe', 'pipe'], env });
  return child;
}

afterEach(() => {
  child.kill('SIGKILL');
});

it.each(['express', 'hono'])('the example %s serves the weather, and ends when it is told to', async (name) => {
  const { stdout } = run(name);
  const [line] = (await once(createInterface({ input: stdout as NodeJS.ReadableStream }), 'line')) as [string];
  const url = /http:\S+/.exec(line)?.[0] ?? '';
  for (const [, connect] of CLIENTS.slice(-3)) await useWeather(connect, url);
  const ended = once(child, 'exit');
  child.kill();
  expect(await ended).toEqual([0, null]);
});

it('an unknown name is answered with those that exist', async () => {
  const { stderr } = run('nope');
  const [text] = (await once(stderr as NodeJS.ReadableStream, 'data')) as [Buffer];
  await once(child, 'exit');
  expect(String(text)).toMatch(/There is no example "nope"\. Choose one of: .*express.*hono.*next/);
  expect(child.exitCode).toBe(1);
});
