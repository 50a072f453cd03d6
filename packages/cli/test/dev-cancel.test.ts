// Requests that nobody waits for any more, while `decorum dev` replaces the program.
import { afterEach, describe, expect, it } from '@jest/globals';

import { HttpClient, PipeClient } from '../../../test/support/dev-clients.js';
import { type DevRun, freePort, Project } from '../../../test/support/dev-project.js';

/** `slow` takes no notice of its cancellation. */
const MAIN = `
import { McpServer, Tool } from '@decorum/core';
class Clock {
  @Tool({ description: 'Tells the time' }) now() { return 'noon'; }
  @Tool({ description: 'Never ends' }) async slow() {
    console.error('slow began');
    await new Promise(() => {});
  }
}
export const server = new McpServer({ name: 'clock', version: '1.0.0', providers: [Clock] });
console.error('pid ' + process.pid);
`;
/** Longer than a test may take. */
const PATIENT = ['--drain', '60'];

const projects: Project[] = [];
function project(): Project {
  const created = new Project({ 'src/main.ts': MAIN });
  projects.push(created);
  return created;
}

afterEach(async () => {
  await Promise.all(projects.splice(0).map((each) => each.remove()));
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Resolves once the first program has ended, although the relay would wait for longer than the test. */
async function replaced(clock: Project, run: DevRun): Promise<void> {
  const [, pid] = await run.says(/pid (\d+)/);
  clock.edit('src/main.ts', `'noon'`, `'one'`);
  await run.says(/src\/main\.ts {2}\d+ ms/);
  while (isAlive(Number(pid))) await new Promise((resolve) => setImmediate(resolve));
}

function overStdio(clock: Project) {
  const run = clock.dev(['--stdio', ...PATIENT]);
  let stdout = '';
  run.child.stdout?.on('data', (text: string) => (stdout += text));
  const answered = () => stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).id]));
  return { run, client: new PipeClient(run), answered };
}

const SLOW = { method: 'tools/call', params: { name: 'slow', arguments: {} } };
const cancelled = (requestId: unknown) => ({ method: 'notifications/cancelled', params: { requestId } });

describe('a cancelled call over stdio', () => {
  it('does not keep the old program, and has no answer, then or at the end (#22)', async () => {
    const clock = project();
    const { run, client, answered } = overStdio(clock);
    await client.connect();
    client.send({ id: 'slow', ...SLOW });
    client.send({ id: 'later', ...SLOW });
    await run.says(/slow began[^]*slow began/);
    client.send(cancelled('slow'));
    run.child.stdin?.write(`${JSON.stringify([{ jsonrpc: '2.0', ...cancelled('later') }])}\n`);
    await replaced(clock, run);
    await expect(client.request('tools/list')).resolves.toMatchObject({ result: { tools: [{}, {}] } });
    await expect(run.end()).resolves.toBe(0);
    expect(answered()).not.toContain('slow');
    expect(answered()).not.toContain('later');
  });

  it('never reaches a program if none has served yet (#22)', async () => {
    const { run, client, answered } = overStdio(project());
    const begun = client.connect();
    client.send({ id: 'slow', ...SLOW });
    client.send(cancelled('slow'));
    await begun;
    await expect(client.request('tools/call', { name: 'now', arguments: {} })).resolves.toMatchObject({ result: {} });
    await expect(run.end()).resolves.toBe(0);
    expect(run.printed).not.toContain('slow began');
    expect(answered()).not.toContain('slow');
  });
});

describe('a cancelled call over HTTP', () => {
  it('does not keep the old program (#22)', async () => {
    const clock = project();
    const port = String(await freePort());
    const run = clock.dev(['--port', port, ...PATIENT]);
    await run.says(/clock 1\.0\.0/);
    const client = new HttpClient(`http://127.0.0.1:${port}/mcp`);
    await client.connect();
    const slow = client.post({ id: 'slow', ...SLOW }).then((response) => response.text());
    await run.says(/slow began/);
    await client.post(cancelled('slow'));
    await replaced(clock, run);
    await expect(slow).resolves.not.toContain('has ended');
    client.close();
  });
});

describe('a request over stdio that no program can answer', () => {
  it('does not hold up the end of decorum dev (#22)', async () => {
    const { run, client, answered } = overStdio(project());
    await client.connect();
    for (const id of ['true', '1.5', '12345678901234567890', '1e400', '{}']) {
      run.child.stdin?.write(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
    }
    // one id, used twice: only the second request is rejected
    client.send({ id: 'twice', ...SLOW });
    await run.says(/slow began/);
    client.send({ id: 'twice', method: 'ping' });
    await client.request('ping');
    client.send(cancelled('twice'));
    run.child.stdin?.end();
    await expect(run.ended).resolves.toBe(0);
    expect(answered()).not.toContain('twice');
    expect(answered().filter((id) => id === null || id === undefined)).toHaveLength(6);
  });
});
