// How `decorum start --workers` starts, and what it says. test/interop/workers.test.ts has what clients notice.
import { type AddressInfo, createServer } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';

import { CLOCK, createProject, type Project } from './project.js';

let project: Project | undefined;
afterEach(() => project?.remove());

const EXPORTED = `${CLOCK} export default Clock;`;
const SECRET = { DECORUM_SECRET: 'a secret of the workers that is long enough' };

/** Runs a program with two workers until it ends. */
async function ended(code: string, env: Record<string, string> = {}) {
  project = createProject({ 'package.json': { type: 'module' }, 'main.ts': code });
  const { stderr, ...rest } = await project.decorum(['start', '--workers', '2', 'main.ts'], {
    env: { ...SECRET, ...env },
  });
  return { ...rest, stderr: stderr.replace(/^main\.ts is TypeScript.*\n/, '') };
}

describe('decorum start --workers ends', () => {
  it.each([
    ['auto ', 'Pass a whole number from 1 to 256, or "auto" for one per core.'],
    ['0', 'Pass a whole number from 1 to 256, or "auto" for one per core.'],
    ['1.5', 'Pass a whole number from 1 to 256, or "auto" for one per core.'],
  ])('with a usage error for the number "%s"', async (count, remedy) => {
    project = createProject({ 'main.ts': EXPORTED });
    expect(await project.decorum(['start', '--workers', count, 'main.ts'])).toEqual({
      code: 2,
      stdout: '',
      stderr: `--workers is "${count}". ${remedy}\n`,
    });
  });

  it('with a usage error over stdio', async () => {
    project = createProject({ 'main.ts': EXPORTED });
    expect(await project.decorum(['start', '--workers', '2', '--stdio', 'main.ts'])).toEqual({
      code: 2,
      stdout: '',
      stderr: '--workers needs HTTP: over stdio, a program has one client. Leave out one of them.\n',
    });
  });

  it('with the error of its program, printed once', async () => {
    expect(await ended("throw new Error('No key.');")).toEqual({
      code: 1,
      stdout: '',
      stderr: '[1] main.ts:1:7  No key.\n',
    });
  });

  it('with an error if its program does not serve', async () => {
    expect(await ended('export const clock = 1;')).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^\[1\] main\.ts has ended without serving\. Export an McpServer/),
    });
  });

  it.each([
    { serves: 'exports a server', code: EXPORTED },
    {
      serves: 'listens itself',
      code: `import { createServer } from 'node:http'; ${CLOCK}
        import { nodeHandler } from '@decorum/http/node';
        createServer(nodeHandler(new Clock())).listen(Number(process.env['PORT']), '127.0.0.1');`,
    },
  ])('if the port is taken and the program $serves', async ({ code }) => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const result = await ended(code, { PORT: String(port) });
    await new Promise((resolve) => other.close(resolve));
    expect(result).toEqual({
      code: 3,
      stdout: '',
      stderr: `[1] Port ${port} is taken: another program listens there. Set PORT to another port, or to 0 for any that is free.\n`,
    });
  });

  it('if workers that have served fail to start again and again, with the code of the last one', async () => {
    project = createProject({
      'package.json': { type: 'module' },
      'main.ts': `
        import { existsSync } from 'node:fs';
        ${CLOCK}
        if (existsSync('broken')) process.exit(7);
        export default Clock;
        setInterval(() => existsSync('broken') && process.exit(1), 50);`,
    });
    const running = project.start(['start', '--workers', '2', 'main.ts'], SECRET);
    for (const worker of [1, 2]) await running.printed(new RegExp(`^\\[${worker}\\] clock 1\\.0\\.0 {3}http`, 'm'));
    project.write({ broken: '' });
    const { code, stderr } = await running.ended;
    expect(code).toBe(7);
    expect(stderr).toMatch(/^Worker [12] exited with code 1\. Another one starts in 100 ms\.$/m);
    expect(stderr).toMatch(/^Worker [12] exited with code 7\. Another one starts in 200 ms\.$/m);
  });
});

it('decorum start --workers creates a secret for programs without one, and names the worker in lines that are not JSON', async () => {
  project = createProject({
    'package.json': { type: 'module' },
    'main.ts': `${EXPORTED}
      console.log(Object.keys(process.env).filter((name) => name.endsWith('_SECRET')).length, 'secrets');
      console.error('{"level":30}');`,
  });
  const running = project.start(['start', '--workers', '2', 'main.ts']);
  await running.printed(/^\[2\] clock 1\.0\.0 {3}http/m);
  running.child.kill('SIGTERM');
  const { code, stdout, stderr } = await running.ended;
  expect(code).toBe(0);
  expect(stdout.match(/^\[1\] .*$/gm)).toEqual(['[1] 0 secrets', expect.stringContaining('[1] clock 1.0.0   http')]);
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringContaining('is TypeScript'),
    expect.stringContaining('DECORUM_SECRET is not set, so the workers share a random one.'),
    '{"level":30}',
    '{"level":30}',
  ]);
  const ports = [...stdout.matchAll(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/g)].map(([, port]) => port);
  expect(new Set(ports).size).toBe(1);
});

it('decorum start --workers lets a program work for seconds before it serves', async () => {
  const work = `import { pbkdf2 } from 'node:crypto';
    import { promisify } from 'node:util';
    const end = Date.now() + 2000;
    while (Date.now() < end) await promisify(pbkdf2)('a', 'b', 100_000, 32, 'sha512');`;
  project = createProject({ 'package.json': { type: 'module' }, 'main.ts': `${work} ${EXPORTED}` });
  const running = project.start(['start', '--workers', '2', 'main.ts'], SECRET);
  await running.printed(/^\[2\] clock 1\.0\.0 {3}http/m);
  running.child.kill('SIGTERM');
  expect(await running.ended).toMatchObject({ code: 0 });
});

it('decorum start --workers ends on a signal that arrives before a worker has loaded', async () => {
  project = createProject({
    'main.ts': EXPORTED,
    'late.mjs': `import cluster from 'node:cluster';
      if (cluster.isWorker) {
        console.log('loading');
        await new Promise((resolve) => setTimeout(resolve, 60_000));
      }`,
  });
  const running = project.start(['start', '--workers', '2', 'main.ts'], {
    ...SECRET,
    NODE_OPTIONS: '--import ./late.mjs',
  });
  await running.printed(/^\[1\] loading/m);
  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(0);
});

it('decorum start --workers gives its random secret to no server with a cluster of its own', async () => {
  const code = `${CLOCK}
    const part = new Proxy({}, { get: () => () => {} });
    const cluster = { bus: part, singleUse: part, sessions: part, events: part, courier: part, store: part };
    export default new McpServer({ name: 'clock', version: '1.0.0', cluster });`;
  project = createProject({ 'package.json': { type: 'module' }, 'main.ts': code });
  const { code: exitCode, stderr } = await project.decorum(['start', '--workers', '2', 'main.ts']);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('`secret` is missing. The processes of a cluster need the same one: set DECORUM_SECRET');
});

it('clusterHub fails in a worker whose primary has not called it', async () => {
  project = createProject({
    'main.mjs': `
      import cluster from 'node:cluster';
      import { McpServer } from '@decorum/core';
      import { listen } from '@decorum/http';
      import { clusterHub } from '@decorum/http/cluster';
      if (cluster.isPrimary) cluster.fork().on('exit', (code) => console.log('exit', code));
      else {
        const server = new McpServer({ name: 'shop', version: '1.0.0', cluster: clusterHub() });
        await listen(server, { port: 0 }).catch(({ code }) => console.log(code));
        process.exit();
      }`,
  });
  expect((await project.node(['main.mjs'], { env: SECRET })).stdout).toBe('DECORUM_NO_HUB\nexit 0\n');
});

it('clusterHub lets the workers of a program that forks them itself share sessions', async () => {
  project = createProject({
    'main.mjs': `
      import cluster from 'node:cluster';
      import { McpServer } from '@decorum/core';
      import { listen } from '@decorum/http';
      import { clusterHub } from '@decorum/http/cluster';
      const hub = clusterHub();
      if (cluster.isPrimary) for (let count = 0; count < 2; count += 1) cluster.fork();
      else {
        const { url } = await listen(new McpServer({ name: 'shop', version: '1.0.0', cluster: hub }), { port: 0 });
        console.log('at ' + url);
      }`,
  });
  const running = project.spawn(['main.mjs'], SECRET);
  const [, url = ''] = await running.printed(/at (http\S+)\nat /);
  const send = (body: object, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        connection: 'close',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
    });
  const clientInfo = { name: 'raw', version: '1.0.0' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const { headers } = await send({ method: 'initialize', params });
  const session = { 'mcp-session-id': headers.get('mcp-session-id') as string };
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) statuses.push((await send({ method: 'ping' }, session)).status);
  expect(statuses).toEqual([200, 200, 200, 200]);
});
