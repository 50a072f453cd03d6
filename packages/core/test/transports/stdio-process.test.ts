import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect, it } from '@jest/globals';

import { PipeClient } from './pipe-client.js';

const FIXTURE = fileURLToPath(new URL('fixtures/server.mjs', import.meta.url));

const children: ReturnType<typeof spawn>[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Starts the fixture, a program that uses the built package. */
async function start(mode = 'plain') {
  const child = spawn(process.execPath, [FIXTURE, mode], { stdio: 'pipe' });
  children.push(child);
  const closed = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += String(chunk);
  });
  const said = async (text: string) => {
    while (!stderr.includes(text)) await Promise.race([once(child.stderr, 'data'), closed]);
    return stderr;
  };
  const client = new PipeClient(child.stdin, child.stdout);
  return { child, client, closed, said, stderr: () => stderr };
}

async function begin(mode?: string) {
  const started = await start(mode);
  await started.client.initialize();
  return started;
}

describe('A process that is served over stdio', () => {
  it('[STDIO-02] [STDIO-03] has nothing but messages on stdout: everything else goes to stderr', async () => {
    const { child, client, closed, said } = await begin();
    expect((await client.call(1, 'print')).result).toMatchObject({ content: [{ text: 'printed' }] });
    await said('noise of a timer');
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
    expect(client.received.map(({ id }) => id)).toEqual(['initialize', 1]);
    const noise = ['onStart', 'console.log { deep: [ 1 ] }', 'console.info', 'write', 'bytes', 'a callback', 'onClose'];
    for (const of of noise) expect(await said('')).toContain(`noise of ${of}\n`);
    expect(await said('')).toMatch(/of console\.table/);
  });

  it('neither prints nor lives longer with a watchdog (#22)', async () => {
    const { child, client, closed } = await begin('watched');
    await client.call(1, 'print');
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
    expect(client.received.map(({ id }) => id)).toEqual(['initialize', 1]);
    const closing = await start('watched-closes-itself');
    expect(await closing.closed).toEqual([0, null]);
    expect(closing.client.received).toEqual([{ after: 'close' }]);
  });

  it.each(['closes-itself', 'closes-server'])('restores stdout when it %s', async (mode) => {
    const { client, closed } = await start(mode);
    expect(await closed).toEqual([0, null]);
    expect(client.received).toEqual([{ after: 'close' }]);
  });

  it('[STDIO-16] survives unhandled rejections and throwing timers of handlers', async () => {
    const { child, client, closed, said } = await begin();
    await client.call(1, 'crash');
    for (const error of ['thrown by a timer', 'thrown by a tick', 'rejected by nobody']) await said(error);
    expect((await client.call(2, 'print')).result).toMatchObject({ content: [{ text: 'printed' }] });
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
  });

  it.each(['plain', 'keeps-alive'])('[STDIO-06] exits with 0 when stdin ends (%s)', async (mode) => {
    const { child, closed } = await begin(mode);
    const ended = performance.now();
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
    // clients send SIGTERM after 2 seconds
    expect(performance.now() - ended).toBeLessThan(2000);
  });

  it('[STDIO-06] first answers requests in flight, however long the response is', async () => {
    const { child, client, closed } = await begin('drains-long');
    client.send(
      { id: 1, method: 'tools/call', params: { name: 'wait', arguments: { ms: 50 } } },
      { id: 2, method: 'tools/call', params: { name: 'big', arguments: { characters: 5_000_000 } } },
    );
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
    expect(client.received.map(({ id }) => id)).toEqual(['initialize', 2, 1]);
    expect(JSON.stringify(client.received).length).toBeGreaterThan(5_000_000);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('[STDIO-08] drains and exits with 0 on %s', async (signal) => {
    const { child, client, closed, said } = await begin('keeps-alive');
    client.send({ id: 1, method: 'tools/call', params: { name: 'wait', arguments: { ms: 100 } } });
    await said('waiting');
    child.kill(signal);
    expect(await closed).toEqual([0, null]);
    expect((await client.response(1)).result).toMatchObject({ content: [{ text: 'waited' }] });
    expect(await said('')).toContain('noise of onClose');
  });

  it('[STDIO-08] exits at once on a second signal', async () => {
    const { child, client, closed, said } = await begin('drains-long');
    client.send({ id: 1, method: 'tools/call', params: { name: 'wait', arguments: { ms: 60_000 } } });
    await said('waiting');
    child.kill('SIGTERM');
    await said('signalled');
    child.kill('SIGTERM');
    expect(await closed).toEqual([null, 'SIGTERM']);
  });

  it('exits quietly when its stdout is closed', async () => {
    const { child, client, closed, stderr } = await begin('drains-long');
    child.stdout.destroy();
    client.send({ id: 1, method: 'tools/call', params: { name: 'big', arguments: { characters: 1_000_000 } } });
    expect(await closed).toEqual([0, null]);
    expect(stderr()).not.toMatch(/EPIPE|error/i);
  });

  it('exits with 1 if its onClose hook fails, and logs the error', async () => {
    const { child, closed, stderr } = await begin('fails-to-close');
    child.stdin.end();
    expect(await closed).toEqual([1, null]);
    expect(stderr()).toContain('no goodbye');
  });

  it('exits like any program if its onStart hook fails', async () => {
    const { client, closed, stderr } = await start('fails-to-start');
    expect(await closed).toEqual([1, null]);
    expect(stderr()).toContain('no database');
    expect(client.received).toEqual([]);
  });
});
