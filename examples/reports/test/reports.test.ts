// The program, called as clients with and without tasks do, and killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { connect, elicits, type TestClient } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const CLIENTS = [
  ['2025-06-18', { task: false }],
  ['2025-11-25', { task: false }],
  ['2025-11-25', { task: true }],
  ['2026-07-28', { task: false }],
  ['2026-07-28', { task: true }],
] as const;
const SECRET = 'a secret of at least 32 characters';

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'reports-'));
});
afterEach(() => rm(data, { recursive: true }));

const published = async () => (await readdir(join(data, 'site')).catch(() => [])).length;
const result = [{ type: 'text', text: expect.stringMatching(/^Published: file:/) }];

describe.each(CLIENTS)('the reports, for a client of %s with %j', (revision, options) => {
  const call = async (answer: 'accept' | 'decline') => {
    const env = { DATA: data, COOL_DOWN_MS: '0', DECORUM_SECRET: SECRET };
    const program = { command: process.execPath, args: [MAIN, '--stdio'], env };
    const client = await connect(program, { revision, onElicit: elicits(answer) });
    const { content } = await client.callTool('yearly', { year: 2025 }, options);
    await client.close();
    return content;
  };

  it('are published once the user agrees, and not otherwise', async () => {
    expect(await call('decline')).toEqual([{ type: 'text', text: 'Not published.' }]);
    expect(await published()).toBe(0);
    expect(await call('accept')).toEqual(result);
    expect(await published()).toBe(1);
  });
});

/** Starts the program, and connects to it. */
async function serve(onElicit = elicits()): Promise<{ client: TestClient; kill: () => Promise<void> }> {
  const env = { ...process.env, DATA: data, COOL_DOWN_MS: '2000', DECORUM_SECRET: SECRET, PORT: '0' };
  const child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  const client = await connect(/http\S+/.exec(line)?.[0] ?? line, { revision: '2026-07-28', onElicit });
  const kill = async () => {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    await client.close();
  };
  return { client, kill };
}

describe('a report whose server is killed', () => {
  it('goes on in the next one, which neither asks nor publishes again', async () => {
    const first = await serve();
    const { taskId } = await first.client.tasks.start('yearly', { year: 2025 });
    const status = async ({ client }: typeof first) => (await client.tasks.get(taskId)).statusMessage;
    await until(async () => (await first.client.tasks.get(taskId)).status === 'input_required');
    await first.kill();
    const second = await serve(elicits('accept'));
    const ended = second.client.tasks.result(taskId).catch((error: Error) => error);
    await until(async () => (await status(second)) === 'Cooling down');
    await second.kill();
    expect(await ended).toBeInstanceOf(Error);
    const third = await serve();
    expect((await third.client.tasks.result(taskId)).content).toEqual(result);
    expect(await published()).toBe(1);
    await third.kill();
  });
});

/** Looks again and again. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((done) => setTimeout(done, 10));
}
