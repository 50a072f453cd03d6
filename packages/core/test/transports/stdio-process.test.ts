import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { afterEach, describe, expect, it } from '@jest/globals';

import { PipeClient, type Received } from './pipe-client.js';

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url));

const children: ReturnType<typeof spawn>[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Starts the fixture, a program that uses the built package. */
async function start(mode = 'plain') {
  const child = spawn(process.execPath, [fixture('server'), mode], { stdio: 'pipe' });
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
  it('has nothing but messages on stdout: everything else goes to stderr', async () => {
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

  it('survives unhandled rejections and throwing timers of handlers', async () => {
    const { child, client, closed, said } = await begin();
    await client.call(1, 'crash');
    for (const error of ['thrown by a timer', 'thrown by a tick', 'rejected by nobody']) await said(error);
    expect((await client.call(2, 'print')).result).toMatchObject({ content: [{ text: 'printed' }] });
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
  });

  it.each(['plain', 'keeps-alive'])('exits with 0 when stdin ends (%s)', async (mode) => {
    const { child, closed } = await begin(mode);
    const ended = performance.now();
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
    // clients send SIGTERM after 2 seconds
    expect(performance.now() - ended).toBeLessThan(2000);
  });

  it('first answers requests in flight, however long the response is', async () => {
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

  it.each(['SIGTERM', 'SIGINT'] as const)('drains and exits with 0 on %s', async (signal) => {
    const { child, client, closed, said } = await begin('keeps-alive');
    client.send({ id: 1, method: 'tools/call', params: { name: 'wait', arguments: { ms: 100 } } });
    await said('waiting');
    child.kill(signal);
    expect(await closed).toEqual([0, null]);
    expect((await client.response(1)).result).toMatchObject({ content: [{ text: 'waited' }] });
    expect(await said('')).toContain('noise of onClose');
  });

  it('exits at once on a second signal', async () => {
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

/** Starts a client that starts the server, and waits until the server has answered the ping after the call. */
async function startFamily(stderr: string, mode: string) {
  const parent = spawn(process.execPath, [fixture('parent'), stderr, fixture('orphan'), mode], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  });
  const output = parent.stdio[1] as Readable;
  let stdout = '';
  output.on('data', (chunk: Buffer) => {
    stdout += String(chunk);
  });
  while (!stdout.includes('"id":3')) await once(output, 'data');
  return parent;
}

describe('A stdio server whose client was killed', () => {
  it.each([
    ['piped', 'works'],
    ['inherited', 'logs'],
    ['piped', 'throws'],
    ['inherited', 'hangs'],
  ])('leaves no process behind, with stderr %s, while it %s', async (stderr, mode) => {
    const parent = await startFamily(stderr, mode);
    // both processes have the other end: it closes when the last of them is gone
    const lifeline = parent.stdio[3] as Readable;
    lifeline.resume();
    const gone = once(lifeline, 'end');
    parent.kill('SIGKILL');
    await gone;
    expect(lifeline.readableEnded).toBe(true);
  });

  it('leaves no process behind with `watchdog`, while a handler blocks the event loop (#22)', async () => {
    const parent = await startFamily('inherited', 'blocks');
    const lifeline = parent.stdio[3] as Readable;
    expect(String((await once(lifeline, 'data'))[0])).toBe('blocked');
    const gone = once(lifeline.resume(), 'end');
    parent.kill('SIGKILL');
    await gone;
    expect(lifeline.readableEnded).toBe(true);
  });
});

const CALLS = 40;
const JUNK = 'x'.repeat(262_144);

const textOf = ({ result }: Received) => (result as { content: { text: string }[] }).content[0]?.text ?? '';

it('A call that waits for the client keeps only what its handler can still read of the request', async () => {
  const child = spawn(process.execPath, ['--expose-gc', fixture('held')], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const client = new PipeClient(child.stdin, child.stdout);
    await client.initialize({ roots: {} });
    const heap = async (id: number) => Number(textOf(await client.call(id, 'heap')));
    await heap(100);
    const before = await heap(101);
    for (let id = 0; id < CALLS; id += 1) {
      const params = { name: 'ask', arguments: {}, junk: { id, JUNK }, _meta: { note: `note ${id}` } };
      client.send({ id, method: 'tools/call', params });
    }
    await client.find(() => client.received.filter(({ method }) => method === 'roots/list').length === CALLS);
    expect((await heap(102)) - before).toBeLessThan(4_000_000);
    for (const { id, method } of client.received)
      if (method === 'roots/list') client.send({ id, result: { roots: [] } });
    for (let id = 0; id < CALLS; id += 1) expect(textOf(await client.response(id))).toBe(`0 note ${id}`);
  } finally {
    child.kill('SIGKILL');
  }
});
