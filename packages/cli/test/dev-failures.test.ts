// What clients and the user see of `decorum dev` when the program or the relay fails.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { HttpClient, PipeClient } from '../../../test/support/dev-clients.js';
import { type DevRun, freePort, processEnds, Project } from '../../../test/support/dev-project.js';

// programs start one after the other
jest.setTimeout(60_000);

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

const projects: Project[] = [];
function project(main: string): Project {
  const created = new Project({ 'src/main.ts': main });
  projects.push(created);
  return created;
}

afterAll(async () => {
  await Promise.all(projects.map((each) => each.remove()));
});

const call = (name: string) => ['tools/call', { name, arguments: {} }] as const;
const text = (value: string) => ({ result: { content: [{ type: 'text', text: value }] } });
const failure = (message: unknown) => ({ error: { code: -32603, message } });
const RELOADED = /src\/main\.ts {2}\d+ ms/;

async function overHttp(clock: Project): Promise<{ run: DevRun; client: HttpClient }> {
  const port = await freePort();
  const run = clock.dev(['--port', String(port)]);
  await run.says(/clock|waiting for an edit/);
  return { run, client: new HttpClient(`http://127.0.0.1:${port}/mcp`) };
}

/** Calls `slow`, and lets it end after the relay was told to end. */
async function endInFlight(run: DevRun, client: HttpClient | PipeClient, end: () => void): Promise<void> {
  const slow = client.request(...call('slow'));
  await run.saysNext(/slow began/);
  end();
  process.kill(
    Number(
      run.printed
        .match(/pid \d+/g)
        ?.at(-1)
        ?.slice(4),
    ),
    'SIGUSR2',
  );
  await expect(slow).resolves.toMatchObject(text('slow ended'));
  await expect(run.ended).resolves.toBe(0);
}

// each test goes on where the one before has ended
describe('a program over HTTP', () => {
  let clock: Project;
  let run: DevRun;
  let client: HttpClient;
  beforeAll(async () => {
    clock = project(BROKEN);
    ({ run, client } = await overHttp(clock));
  });
  afterAll(() => client.close());

  it('is answered for if it is broken at its first start: with empty lists, and with tools once it is mended', async () => {
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
    await expect(client.request(...call('now'))).resolves.toMatchObject(
      failure(expect.stringMatching(/^The program has ended: src\/main\.ts:4:\d+ /)),
    );
    clock.write('src/main.ts', MAIN);
    await client.hears('notifications/tools/list_changed');
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
    expect(run.printed.match(/src\/main\.ts:4:\d+/g)).toHaveLength(1);
    await run.saysNext(/clock 1\.0\.0/);
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
  ])('stays after an edit with %s, whose place is printed once and told to the client', async (_, from, to, place) => {
    const { length } = run.printed;
    clock.write('src/main.ts', MAIN.replace(from, to));
    const { params } = await client.hears('notifications/message');
    expect(params).toMatchObject({ level: 'error', data: expect.stringMatching(place) });
    await run.saysNext(/still serving what ran before/);
    const printed = run.printed.slice(length);
    expect(printed.match(new RegExp(place, 'g'))).toHaveLength(1);
    expect(printed).not.toMatch(/^\s+at /m);
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
  });

  it('is started again when something kills it, and waits for an edit when it dies again', async () => {
    clock.write('src/main.ts', MAIN.replace(`'noon'`, `'one'`));
    await run.saysNext(RELOADED);
    const slow = client.request(...call('slow'));
    await run.saysNext(/slow began/);
    process.kill(
      Number(
        run.printed
          .match(/pid \d+/g)
          ?.at(-1)
          ?.slice(4),
      ),
      'SIGKILL',
    );
    await expect(slow).resolves.toMatchObject(failure('The program has ended: signal SIGKILL.'));
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('one'));
    const ended = failure('The program has ended: exit code 7.');
    await expect(client.request(...call('end'))).resolves.toMatchObject(ended);
    await run.saysNext(/waiting for an edit/);
    await expect(client.request('tools/list')).resolves.toMatchObject(ended);
    clock.write('src/main.ts', MAIN);
    await run.saysNext(RELOADED);
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
  });

  it('is answered for when the edit before it died has left one that never serves', async () => {
    clock.write('src/main.ts', `console.error('hangs'); setInterval(() => {}, 1e9);`);
    await run.saysNext(/hangs/);
    await expect(client.request(...call('end'))).resolves.toMatchObject(failure(expect.anything()));
    await expect(client.request(...call('now'))).resolves.toMatchObject(
      failure(expect.stringMatching(/^The program has ended: exit code 7/)),
    );
    clock.write('src/main.ts', MAIN);
    await run.saysNext(RELOADED);
    await expect(client.request(...call('now'))).resolves.toMatchObject(text('noon'));
  });

  it('ends after its calls in flight when decorum dev gets SIGTERM', async () => {
    await endInFlight(run, client, () => run.child.kill('SIGTERM'));
  });
});

describe('a program that ends by itself', () => {
  it('is told what to export, serves once that is exported, and ends after its calls on SIGINT (#23)', async () => {
    const clock = project(MAIN.replace('export const', 'const').concat('\nexport default { server };\n'));
    const { run, client } = await overHttp(clock);
    await run.says(
      /ended before it served anything \(exit code 0\)\. Export an McpServer, .* as `server` or `default`\. An object that contains a server doesn't count\.\n/,
    );
    clock.edit('src/main.ts', 'default { server }', 'default server');
    await client.connect();
    await run.saysNext(/clock 1\.0\.0/);
    await endInFlight(run, client, () => run.child.kill('SIGINT'));
    client.close();
  });
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
    const client = new PipeClient(
      project(`await new Promise((resolve) => setInterval(resolve, 1e9));`).dev(['--stdio']),
    );
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
    [
      'that clients of a slow program would need',
      `await new Promise((resolve) => setInterval(resolve, 1e9));\n${MAIN}`,
      (port: string) => [undefined, port],
    ],
  ])('is exit code 3 if the port %s is taken, with the option to pass', async (_, main, named) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const port = String((taken.address() as { port: number }).port);
    const [option, PORT] = named(port);
    const run = project(main).dev(option ? ['--port', option] : [], { PORT });
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
