// What clients and the user see of `decorum dev` when the program or the relay fails.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';

import { HttpClient, PipeClient } from '../../../test/support/dev-clients.js';
import { type DevRun, freePort, Project } from '../../../test/support/dev-project.js';

const MAIN = `
import { McpServer, Tool } from '@decorum/core';
class Clock {
  @Tool({ description: 'Tells the time' }) now() { return 'noon'; }
  @Tool({ description: 'Ends the process' }) end() { process.exit(7); }
  @Tool({ description: 'Never returns' }) spin() { process.stderr.write('spinning'); for (;;); }
  @Tool({ description: 'Ends the process later' }) async slow() {
    const released = new Promise((resolve) => process.once('SIGUSR2', resolve));
    console.error('slow began');
    await released;
    return 'slow ended';
  }
}
export const server = new McpServer({ name: 'clock', version: '1.0.0', providers: [Clock] });
console.error('pid ' + process.pid);
`;
const BROKEN = MAIN.replace(`return 'noon'`, `return 'noon`);

const projects: Project[] = [];
function project(main: string): Project {
  const created = new Project({ 'src/main.ts': main });
  projects.push(created);
  return created;
}

afterEach(async () => {
  await Promise.all(projects.splice(0).map((each) => each.remove()));
});

const call = (name: string) => ['tools/call', { name, arguments: {} }] as const;
const text = (value: string) => ({ result: { content: [{ type: 'text', text: value }] } });

async function overHttp(clock: Project, args: readonly string[] = []): Promise<{ run: DevRun; client: HttpClient }> {
  const port = await freePort();
  const run = clock.dev(['--port', String(port), ...args]);
  await run.says(/clock|waiting for an edit/);
  return { run, client: new HttpClient(`http://127.0.0.1:${port}/mcp`) };
}

describe('a program that is broken at its first start', () => {
  it('is answered for over HTTP: with empty lists, and with tools once it is mended', async () => {
    const clock = project(BROKEN);
    const { run, client } = await overHttp(clock);
    await expect(client.connect()).resolves.toMatchObject({
      result: {
        serverInfo: { name: 'weather', version: '1.0.0' },
        capabilities: {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { listChanged: true },
        },
      },
    });
    await client.listen();
    await expect(client.request('tools/list')).resolves.toMatchObject({ result: { tools: [] } });
    await expect(client.request('prompts/list')).resolves.toMatchObject({ result: { prompts: [] } });
    await expect(client.request('resources/list')).resolves.toMatchObject({ result: { resources: [] } });
    await expect(client.request(...call('now'))).resolves.toMatchObject({
      error: { code: -32603, message: expect.stringMatching(/^The program has ended: src\/main\.ts:4:\d+ /) },
    });
    clock.write('src/main.ts', MAIN);
    await client.hears('notifications/tools/list_changed');
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
    expect(run.printed.match(/src\/main\.ts:4:\d+/g)).toHaveLength(1);
    client.close();
  });

  it('is answered for over stdio', async () => {
    const clock = project(BROKEN);
    const client = new PipeClient(clock.dev(['--stdio']));
    await expect(client.connect()).resolves.toMatchObject({ result: { serverInfo: { name: 'weather' } } });
    await expect(client.request('tools/list')).resolves.toMatchObject({ result: { tools: [] } });
    clock.write('src/main.ts', MAIN);
    await client.hears('notifications/tools/list_changed');
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
  });

  it('is told what to export if it ends by itself, and serves once that is exported (#23)', async () => {
    const clock = project(MAIN.replace('export const', 'const').concat('\nexport default { server };\n'));
    const { run, client } = await overHttp(clock);
    await run.says(
      /ended before it served anything \(exit code 0\)\. Export an McpServer, .* as `server` or `default`\. An object that contains a server doesn't count\.\n/,
    );
    clock.edit('src/main.ts', 'default { server }', 'default server');
    await client.connect();
    await run.says(/clock 1\.0\.0/);
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
    client.close();
  });

  it('does not hold up a client when it never serves', async () => {
    const clock = project(`await new Promise((resolve) => setInterval(resolve, 1e9));`);
    const client = new PipeClient(clock.dev(['--stdio']));
    await expect(client.connect()).resolves.toMatchObject({ result: { serverInfo: { name: 'weather' } } });
    await expect(client.request('tools/list')).resolves.toMatchObject({ result: { tools: [] } });
  });
});

describe('an edit that breaks the program', () => {
  it.each([
    ['a syntax error', `return 'noon'`, `return 'noon`, /src\/main\.ts:4:\d+ {2}/],
    ['a crash while it is loaded', 'export const', 'null.x;\nexport const', /src\/main\.ts:14:\d+ {2}TypeError/],
    [
      'a mistake found at startup',
      "@Tool({ description: 'Ends the process' })",
      `@Tool({ title: 1 as never })`,
      /src\/main\.ts:5:\d+ {2}Clock\.end.*\[DECORUM_\w+\]/,
    ],
  ])('leaves the old one serving, prints its place once, and tells the client: %s', async (_, from, to, place) => {
    const clock = project(MAIN);
    const { run, client } = await overHttp(clock);
    await client.connect();
    await client.listen();
    clock.edit('src/main.ts', from, to);
    const { params } = await client.hears('notifications/message');
    expect(params).toMatchObject({ level: 'error', data: expect.stringMatching(place) });
    await run.says(/still serving what ran before/);
    expect(run.printed.match(new RegExp(place, 'g'))).toHaveLength(1);
    expect(run.printed).not.toMatch(/^\s+at /m);
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
    client.close();
  });
});

describe('a program that dies while it serves', () => {
  it.each(['HTTP', 'stdio'])('fails the calls in flight, and starts once more: over %s', async (via) => {
    const clock = project(MAIN);
    const client = via === 'HTTP' ? (await overHttp(clock)).client : new PipeClient(clock.dev(['--stdio']));
    await client.connect();
    await expect(client.request(...call('end'))).resolves.toMatchObject({
      error: { code: -32603, message: 'The program has ended: exit code 7.' },
    });
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
  });

  it('waits for an edit when it dies again', async () => {
    const clock = project(MAIN);
    const { run, client } = await overHttp(clock);
    await client.connect();
    await client.request(...call('end'));
    await client.request(...call('end'));
    await run.says(/waiting for an edit/);
    await expect(client.request('tools/list')).resolves.toMatchObject({
      error: { code: -32603, message: 'The program has ended: exit code 7.' },
    });
    clock.edit('src/main.ts', `'noon'`, `'one'`);
    await run.says(/src\/main\.ts {2}\d+ ms/);
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('one'));
  });

  it('is answered for when the edit before has left a program that never serves', async () => {
    const clock = project(MAIN);
    const { run, client } = await overHttp(clock);
    await client.connect();
    clock.write('src/main.ts', `console.error('hangs'); setInterval(() => {}, 1e9);`);
    await run.says(/hangs/);
    await expect(client.request(...call('end'))).resolves.toMatchObject({ error: { code: -32603 } });
    await expect(client.request(...call('now'))).resolves.toMatchObject({
      error: { code: -32603, message: expect.stringMatching(/^The program has ended: exit code 7/) },
    });
    clock.write('src/main.ts', MAIN);
    await run.saysNext(/src\/main\.ts {2}\d+ ms/);
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
  });

  it('is started again when something kills it', async () => {
    const clock = project(MAIN);
    const { run, client } = await overHttp(clock);
    await client.connect();
    const slow = client.request(...call('slow'));
    await run.says(/slow began/);
    const [, pid] = await run.says(/pid (\d+)/);
    process.kill(Number(pid), 'SIGKILL');
    await expect(slow).resolves.toMatchObject({
      error: { code: -32603, message: 'The program has ended: signal SIGKILL.' },
    });
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
  });
});

describe('decorum dev --check', () => {
  it('prints type errors, with the program running all the same', async () => {
    const clock = project(MAIN);
    clock.write('src/wrong.ts', `export const wrong: number = 'x';\n`);
    const { run, client } = await overHttp(clock, ['--check']);
    await run.says(/src\/wrong\.ts:1:14 {2}Type 'string' is not assignable to type 'number'\. \[TS2322\]/);
    await client.connect();
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
  });
});

/** The program and the spare process, which may still be starting. */
const childrenOf = (parent: number | undefined): number[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []));

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('the end of decorum dev', () => {
  it('is exit code 3 if the port is taken, with the option to pass', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const run = project(MAIN).dev(['--port', String(port)]);
    await expect(run.ended).resolves.toBe(3);
    expect(run.printed).toMatch(new RegExp(`Port ${port} is taken.*--port`));
    taken.close();
  });

  it('is exit code 3 if the port that the program asks for is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const run = project(MAIN).dev([], { PORT: String(port) });
    await expect(run.ended).resolves.toBe(3);
    expect(run.printed).toMatch(new RegExp(`Port ${port} is taken.*--port`));
    taken.close();
  });

  it('is exit code 2 without an entry', async () => {
    const clock = project(MAIN);
    const run = clock.dev(['src/missing.ts']);
    await expect(run.ended).resolves.toBe(2);
    expect(run.printed).toContain('src/missing.ts');
  });

  it('is exit code 3 if the port is taken that clients of a slow program would need', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as { port: number };
    const never = `await new Promise((resolve) => setInterval(resolve, 1e9));`;
    const run = project(`${never}\n${MAIN}`).dev([], { PORT: String(port) });
    await expect(run.ended).resolves.toBe(3);
    expect(run.printed).toMatch(new RegExp(`Port ${port} is taken.*--port`));
    expect(run.printed).not.toMatch(/^ +at /m);
    taken.close();
  });

  it('comes after the answers to what stdin had, even if it ended before the program served', async () => {
    const run = project(MAIN).dev(['--stdio']);
    const client = new PipeClient(run);
    const clientInfo = { name: 'raw', version: '1.0.0' };
    const begun = client.request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
    run.child.stdin?.write('not a message\n');
    const pinged = client.request('ping');
    run.child.stdin?.end();
    await expect(begun).resolves.toMatchObject({ result: { serverInfo: { name: 'clock' } } });
    await expect(client.responds((response) => 'error' in response)).resolves.toMatchObject({
      error: { code: -32700 },
    });
    await expect(pinged).resolves.toMatchObject({ result: {} });
    await expect(run.ended).resolves.toBe(0);
  });

  it('comes after the calls in flight: when stdin ends', async () => {
    const clock = project(MAIN);
    const run = clock.dev(['--stdio']);
    const client = new PipeClient(run);
    await client.connect();
    const slow = client.request(...call('slow'));
    await run.says(/slow began/);
    const [, pid] = await run.says(/pid (\d+)/);
    run.child.stdin?.end();
    process.kill(Number(pid), 'SIGUSR2');
    await expect(slow).resolves.toMatchObject(text('slow ended'));
    await expect(run.ended).resolves.toBe(0);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('comes after the calls in flight: on %s', async (signal) => {
    const clock = project(MAIN);
    const { run, client } = await overHttp(clock);
    await client.connect();
    const slow = client.request(...call('slow'));
    await run.says(/slow began/);
    const [, pid] = await run.says(/pid (\d+)/);
    run.child.kill(signal);
    process.kill(Number(pid), 'SIGUSR2');
    await expect(slow).resolves.toMatchObject(text('slow ended'));
    await expect(run.ended).resolves.toBe(0);
  });

  it.each([
    ['waits', 'now'],
    ['never returns to its event loop', 'spin'],
  ])('leaves no process behind, even if it is killed while the program %s', async (_, tool) => {
    const clock = project(MAIN);
    const { run, client } = await overHttp(clock);
    await client.connect();
    const called = client.request(...call(tool)).catch(() => {});
    if (tool === 'spin') await run.says(/spinning/);
    else await called;
    const children = childrenOf(run.child.pid);
    expect(children.length).toBeGreaterThan(0);
    run.child.kill('SIGKILL');
    await expect(run.ended).resolves.toBe('SIGKILL');
    while (children.some(isAlive)) await new Promise((resolve) => setImmediate(resolve));
  });
});
