// What clients and the user see of `decorum dev` when the program or the relay fails.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

import { describe, expect, it, jest } from '@jest/globals';

import { HttpClient, PipeClient } from '../../../test/support/dev-clients.js';
import { type DevRun, processEnds, Project, shared } from '../../../test/support/dev-project.js';

// programs start one after the other
jest.setTimeout(180_000);

const MAIN = `
import { McpServer, Tool } from '@decorum/core';
class Clock {
  @Tool({ description: 'Tells the time' }) now() { return 'noon'; }
  @Tool({ description: 'Ends the process' }) end() { process.exit(7); }
  @Tool({ description: 'Never returns' }) spin() { process.stderr.write('spinning'); for (;;); }
  @Tool({ description: 'Waits for a signal' }) async slow() {
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

const NEVER = 'await new Promise((resolve) => setInterval(resolve, 1e9));\n';
/** Shortens what `decorum dev` waits for a program that may never serve. */
const HURRY = `
const { setTimeout } = globalThis;
globalThis.setTimeout = (run, ms, ...rest) => setTimeout(run, ms >= 2000 ? ms / 10 : ms, ...rest);
`;
const HURRIED = { NODE_OPTIONS: '--require=./hurry.cjs' };

const project = (main: string) => new Project({ 'src/main.ts': main, 'hurry.cjs': HURRY });
const call = (name: string) => ['tools/call', { name, arguments: {} }] as const;
const text = (value: string) => ({ result: { content: [{ type: 'text', text: value }] } });
const failure = (message: unknown) => ({ error: { code: -32603, message } });
const RELOADED = /src\/main\.ts {2}\d+ ms/;

async function overHttp(clock: Project, env = {}): Promise<{ run: DevRun; client: HttpClient }> {
  const { run, url } = await clock.serve({ env, says: /clock|waiting for an edit/ });
  return { run, client: new HttpClient(url) };
}

/** Calls `slow`, and lets it end after the relay was told to end. */
async function endInFlight(run: DevRun, client: HttpClient | PipeClient, end: () => void): Promise<void> {
  const slow = client.request(...call('slow'));
  await run.saysNext(/slow began/);
  end();
  process.kill(run.pid, 'SIGUSR2');
  await expect(slow).resolves.toMatchObject(text('slow ended'));
  await expect(run.ended).resolves.toBe(0);
}

describe('a program over HTTP', () => {
  const serving = shared(async () => {
    const clock = project(MAIN);
    const { run, client } = await overHttp(clock);
    await client.connect();
    await client.listen();
    return { clock, run, client };
  });

  it('is answered for while it is broken or exports no server, and serves once that is mended, until SIGINT (#23)', async () => {
    const clock = project(BROKEN);
    const { run, client } = await overHttp(clock);
    const list = { listChanged: true };
    const capabilities = { tools: list, prompts: list, resources: list };
    await expect(client.connect()).resolves.toMatchObject({
      result: { serverInfo: { name: 'weather', version: '1.0.0' }, capabilities },
    });
    await client.listen();
    for (const lists of ['tools', 'prompts', 'resources']) {
      await expect(client.request(`${lists}/list`)).resolves.toMatchObject({ result: { [lists]: [] } });
    }
    await expect(client.request(...call('now'))).resolves.toMatchObject(
      failure(expect.stringMatching(/^The program has ended: src\/main\.ts:4:\d+ /)),
    );
    clock.write('src/main.ts', MAIN.replace('export const', 'const').concat('\nexport default { server };\n'));
    await run.says(
      /ended before it served anything \(exit code 0\)\. Export an McpServer, .* as `server` or `default`\. An object that contains a server doesn't count\.\n/,
    );
    clock.edit('src/main.ts', 'default { server }', 'default server');
    await client.hears('notifications/tools/list_changed');
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
    expect(run.printed.match(/src\/main\.ts:4:\d+/g)).toHaveLength(1);
    await run.saysNext(/clock 1\.0\.0/);
    await endInFlight(run, client, () => run.child.kill('SIGINT'));
    client.close();
  });

  it.each([
    ['a syntax error', `return 'noon'`, `return 'noon`, /src\/main\.ts:4:\d+ {2}/],
    ['a crash while it is loaded', 'export const', 'null.x;\nexport const', /src\/main\.ts:14:\d+ {2}TypeError/],
    [
      'a mistake found at startup',
      "@Tool({ description: 'Ends the process' })",
      `@Tool({ title: 1 as never })`,
      /src\/main\.ts:5:\d+ {2}Clock\.end.*\[DECORUM_\w+\]/,
    ],
  ])('stays after an edit with %s, whose place is printed once and told to the client', (_, from, to, place) =>
    serving(async ({ clock, run, client }) => {
      const { length } = run.printed;
      clock.write('src/main.ts', MAIN.replace(from, to));
      const { params } = await client.hears('notifications/message');
      expect(params).toMatchObject({ level: 'error', data: expect.stringMatching(place) });
      await run.saysNext(/still serving what ran before/);
      const printed = run.printed.slice(length);
      expect(printed.match(new RegExp(place, 'g'))).toHaveLength(1);
      expect(printed).not.toMatch(/^\s+at /m);
      await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
    }),
  );

  it('is started again when something kills it, and waits for an edit when it dies again', () =>
    serving(async ({ clock, run, client }) => {
      clock.write('src/main.ts', MAIN.replace(`'noon'`, `'one'`));
      await run.saysNext(RELOADED);
      const slow = client.request(...call('slow'));
      await run.saysNext(/slow began/);
      process.kill(run.pid, 'SIGKILL');
      await expect(slow).resolves.toMatchObject(failure('The program has ended: signal SIGKILL.'));
      await expect(client.request(...call('now'))).resolves.toMatchObject(text('one'));
      const ended = failure('The program has ended: exit code 7.');
      await expect(client.request(...call('end'))).resolves.toMatchObject(ended);
      await run.saysNext(/waiting for an edit/);
      await expect(client.request('tools/list')).resolves.toMatchObject(ended);
      clock.write('src/main.ts', MAIN);
      await run.saysNext(RELOADED);
      await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
    }));

  it('is answered for when the edit before it died has left one that never serves', async () => {
    const clock = project(MAIN);
    const { run, client } = await overHttp(clock, HURRIED);
    await client.connect();
    clock.write('src/main.ts', `console.error('hangs'); ${NEVER}`);
    await run.saysNext(/hangs/);
    await expect(client.request(...call('end'))).resolves.toMatchObject(failure(expect.anything()));
    await expect(client.request(...call('now'))).resolves.toMatchObject(
      failure(expect.stringMatching(/^The program has ended: exit code 7/)),
    );
    clock.write('src/main.ts', MAIN);
    await run.saysNext(RELOADED);
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
    client.close();
  });

  it('ends after its calls in flight when decorum dev gets SIGTERM', () =>
    serving(async ({ run, client }) => {
      await endInFlight(run, client, () => run.child.kill('SIGTERM'));
      client.close();
    }));
});

describe('a program over stdio', () => {
  it('is answered for while it is broken and when it dies, and ends after its calls when stdin ends', async () => {
    const clock = project(BROKEN);
    const run = clock.dev(['--stdio']);
    const client = new PipeClient(run);
    await expect(client.connect()).resolves.toMatchObject({ result: { serverInfo: { name: 'weather' } } });
    await expect(client.request('tools/list')).resolves.toMatchObject({ result: { tools: [] } });
    clock.write('src/main.ts', MAIN);
    await client.hears('notifications/tools/list_changed');
    await expect(client.request(...call('end'))).resolves.toMatchObject(failure('The program has ended: exit code 7.'));
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
    await endInFlight(run, client, () => run.child.stdin?.end());
  });

  it('does not hold up a client when it never serves', async () => {
    const client = new PipeClient(project(NEVER).dev(['--stdio'], HURRIED));
    await expect(client.connect()).resolves.toMatchObject({ result: { serverInfo: { name: 'weather' } } });
    await expect(client.request('tools/list')).resolves.toMatchObject({ result: { tools: [] } });
  });

  it('answers what stdin had, even if that ended before the program served', async () => {
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
});

/** The program and the spare process, which may still be starting. */
const childrenOf = (parent: number | undefined): number[] =>
  execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []));

describe('the end of decorum dev', () => {
  it.each([
    ['that --port names', MAIN, (port: string) => [port, undefined]],
    ['that the program asks for', MAIN, (port: string) => [undefined, port]],
    ['that clients of a slow program would need', NEVER + MAIN, (port: string) => [undefined, port]],
  ])('is exit code 3 if the port %s is taken, with the option to pass', async (_, main, named) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const port = String((taken.address() as { port: number }).port);
    const [option, PORT] = named(port);
    const run = project(main).dev(option ? ['--port', option] : [], { PORT, ...HURRIED });
    await expect(run.ended).resolves.toBe(3);
    expect(run.printed).toMatch(new RegExp(`Port ${port} is taken.*--port`));
    expect(run.printed).not.toMatch(/^ +at /m);
    taken.close();
  });

  it('is exit code 2 without an entry', async () => {
    const run = project(MAIN).dev(['src/missing.ts']);
    await expect(run.ended).resolves.toBe(2);
    expect(run.printed).toContain('src/missing.ts');
  });

  it('leaves no process behind, even if it is killed: none that waits, and none that never returns', async () => {
    const { run, client } = await overHttp(project(MAIN));
    await client.connect();
    const called = client.request(...call('spin')).catch(() => {});
    await run.says(/spinning/);
    const children = childrenOf(run.child.pid);
    // the program that spins, and at least the spare process that waits
    expect(children.length).toBeGreaterThan(1);
    run.child.kill('SIGKILL');
    await expect(run.ended).resolves.toBe('SIGKILL');
    for (const child of children) await processEnds(child);
    await called;
  });
});
