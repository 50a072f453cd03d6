// The weather server in web applications, and the examples of frameworks, run as their READMEs say.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { programOf } from '../interop/example-process.js';
import { ROOT } from '../packaging/project.js';
import { BUN, DENO, type Hosted, HOSTS, MORE_HOSTS } from './hosts.js';
import { NEST_HOSTS } from './nest-hosts.js';
import { CLIENTS, overStdio, sendLargeBodies, useWeather } from './weather.js';

// npm, Node and a compiler start, each in a process of its own
jest.setTimeout(180_000);

/** The newest session clients, and a stateless one. */
const NEWEST = CLIENTS.slice(-3);

describe.each([
  ...Object.entries({ ...HOSTS, ...NEST_HOSTS }).map(([name, serve]) => [name, serve, CLIENTS] as const),
  ...Object.entries(MORE_HOSTS).map(([name, serve]) => [name, serve, NEWEST] as const),
])('the weather server in %s', (_name, serve, clients) => {
  let hosted: Hosted;
  beforeAll(async () => {
    hosted = await serve();
  });
  afterAll(() => hosted.close());

  it.each(clients)('serves the official client of %s, and delays no progress', async (_client, connect) => {
    await useWeather(connect, hosted.url);
  });

  it('serves a body of a mebibyte, and rejects one over the limit with 413 as JSON-RPC', async () => {
    await sendLargeBodies(hosted.url);
  });
});

describe('the example', () => {
  let child: ChildProcess;

  /** Runs an example in a process group, which shows whether it leaves processes behind. */
  function run(name: string): ChildProcess {
    // a development server of Next rewrites its tsconfig.json if NODE_ENV is jest's
    const env = { ...process.env, NODE_ENV: undefined, NODE_OPTIONS: '', PORT: '0' };
    child = spawn('npm', ['run', '-s', 'example', name], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
      detached: true,
    });
    return child;
  }

  /** Sends a signal to all processes that the example has started; 0 only asks whether there are any. */
  const signalAll = (signal: NodeJS.Signals | 0) => process.kill(-(child.pid as number), signal);

  afterEach(() => {
    try {
      signalAll('SIGKILL');
    } catch {
      // all have ended
    }
  });

  /** Reads where the example listens, and goes on reading, so that it can write. */
  async function urlOf({ stdout, stderr }: ChildProcess): Promise<string> {
    stderr?.pipe(process.stderr);
    const lines = createInterface({ input: stdout as NodeJS.ReadableStream });
    return await new Promise((resolve, reject) => {
      lines.on('line', (line) => {
        const url = /http:\S+/.exec(line)?.[0];
        if (url !== undefined) resolve(new URL('/mcp', url).href);
      });
      lines.on('close', () => reject(new Error('It ended without saying where it listens.')));
    });
  }

  // Nest ends its process with the signal that has closed the application
  it.each([
    ['express', [0, null], NEWEST],
    ['hono', [0, null], NEWEST],
    ['next', [0, null], NEWEST],
    ['nest11', [null, 'SIGTERM'], NEWEST],
    ['nest12', [null, 'SIGTERM'], NEWEST],
    ['weather', [0, null], NEWEST],
    ['bun', [0, null], CLIENTS],
    ['cloudflare', [0, null], CLIENTS],
    ['deno', [0, null], CLIENTS],
  ] as const)(
    '%s serves the weather, and ends with all its processes when it is told to',
    async (name, end, clients) => {
      const running = run(name);
      const url = await urlOf(running);
      for (const [, connect] of clients) await useWeather(connect, url);
      const ended = once(running, 'exit');
      running.kill();
      expect(await ended).toEqual(end);
      expect(() => signalAll(0)).toThrow('ESRCH');
    },
  );

  it.each([
    ['weather', process.execPath, []],
    ['bun', BUN, []],
    ['deno', DENO, ['run', '--allow-env']],
  ])('%s serves over stdio', async (name, command, args) => {
    await useWeather(overStdio(command, ...args), programOf(name));
  });

  it('of an unknown name is answered with those that exist', async () => {
    const { stderr } = run('nope');
    const [text] = (await once(stderr as NodeJS.ReadableStream, 'data')) as [Buffer];
    await once(child, 'exit');
    expect(String(text)).toMatch(/There is no example "nope"\. Choose one of: .*express.*hono.*next/);
    expect(child.exitCode).toBe(1);
  });
});
