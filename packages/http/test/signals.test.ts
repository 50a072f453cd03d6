import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from '@jest/globals';

import { afterwards, json, modernCall, modernHeaders, post } from './fixture.js';

const FIXTURE = fileURLToPath(new URL('fixtures/server.mjs', import.meta.url));

/** Starts the fixture: a program that uses the built packages. */
async function start(mode = 'plain') {
  const child = spawn(process.execPath, [FIXTURE, mode], { stdio: 'pipe' });
  afterwards(() => child.kill('SIGKILL'));
  const closed = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += String(chunk);
  });
  const said = async (text: string) => {
    while (!stderr.includes(text) && child.exitCode === null) await Promise.race([once(child.stderr, 'data'), closed]);
    return stderr;
  };
  const url = /^url (.+)$/m.exec(await said('/mcp\n'))?.[1] ?? '';
  return { child, url, closed, said };
}

const work = (url: string) => post(url, modernCall(1, 'work'), modernHeaders('tools/call', 'work'));

describe('A process that is served over HTTP', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'lets requests end, closes the server and exits with 0 on %s',
    async (signal) => {
      const { child, url, closed, said } = await start();
      const pending = work(url);
      await said('working');
      child.kill(signal);
      expect(await json(await pending)).toMatchObject({ result: { content: [{ text: 'worked' }] } });
      expect(await closed).toEqual([0, null]);
      expect(await said('')).toContain('closed\n');
    },
  );

  it('ends within one `closeDeadlineMs` when a call does not', async () => {
    const { child, url, closed, said } = await start('hangs');
    const pending = work(url);
    await said('working');
    const began = performance.now();
    child.kill('SIGTERM');
    expect((await pending).status).toBe(503);
    expect(await closed).toEqual([0, null]);
    // the deadline of the fixture is 2000
    expect(performance.now() - began).toBeLessThan(3800);
  });

  it('ends at once on a second signal', async () => {
    const { child, url, closed, said } = await start('works-long');
    const pending = work(url).catch(() => 'cut off');
    await said('working');
    child.kill('SIGTERM');
    await said('signalled');
    child.kill('SIGINT');
    expect(await closed).toEqual([null, 'SIGINT']);
    expect(await pending).toBe('cut off');
  });

  it('exits with 1 when an onClose hook fails, and says why', async () => {
    const { child, closed, said } = await start('fails-to-close');
    child.kill('SIGTERM');
    expect(await closed).toEqual([1, null]);
    expect(await said('')).toContain('no goodbye');
  });

  it('waits for every server that it serves, also over stdio', async () => {
    const { child, closed, said } = await start('two-servers');
    child.kill('SIGTERM');
    expect(await closed).toEqual([0, null]);
    expect(await said('')).toContain('closed\n');
  });

  it('ends with its stdin, where it serves that too, and waits for the rest', async () => {
    const { child, closed, said } = await start('two-servers');
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
    expect(await said('')).toContain('closed\n');
  });

  it('leaves signals to the program with `signals: false`', async () => {
    const { child, closed, said } = await start('own-signals');
    child.kill('SIGTERM');
    expect(await closed).toEqual([7, null]);
    expect(await said('')).not.toContain('onClose');
  });

  it.each(['logs', 'throws'])('ends when nobody reads its stdout and stderr any more, while it %s', async (mode) => {
    const { child } = await start(mode);
    const exit = once(child, 'exit');
    child.stdout.destroy();
    child.stderr.destroy();
    expect(await exit).toEqual([0, null]);
  });

  it('leaves signals alone once it is closed', async () => {
    const { child, closed, said } = await start('closes-itself');
    expect(await said('listeners')).toContain('listeners 0\n');
    child.kill('SIGTERM');
    expect(await closed).toEqual([null, 'SIGTERM']);
  });
});
