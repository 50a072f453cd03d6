import { afterEach, describe, expect, it } from '@jest/globals';

import { SYSTEM_CLOCK } from '../../src/proxy/upstream/clock.js';
import { closeAll, eventually, Front, jsonOf, Listener, program, STATEFUL, STATELESS, textOf } from './front.js';

afterEach(closeAll);

const DOWN = 'The server "geo" is not available. Try again later.';

describe.each([STATELESS, STATEFUL])('an upstream of %s', (revision) => {
  it('that is killed during 100 calls has each of them answered, and serves when it is back', async () => {
    const listener = await Listener.start();
    const front = new Front(listener.url, { revision });
    await front.upstreams.own();
    const client = await front.overHttp({ headers: { 'x-user': 'ann' } });
    const calls = Array.from({ length: 99 }, async (_, at) => await client.callTool('wait', { name: String(at) }));
    const reading = client.readResource('note://1');
    await reading;
    await eventually(async () => {
      expect((jsonOf(await client.callTool('state'))['begun'] as unknown[]).length).toBe(99);
    });
    await listener.kill();
    const texts = new Set((await Promise.all(calls)).map((result) => [result.isError, textOf(result)].join(' ')));
    expect([...texts]).toEqual([`true ${DOWN}`]);
    await expect(client.readResource('note://1')).rejects.toMatchObject({ code: -32603, message: DOWN });
    await eventually(async () => expect(front.events.at(-1)).toEqual({ kind: 'down' }));
    await Listener.start(listener.port);
    await eventually(async () => expect(textOf(await client.callTool('add', { a: 1, b: 2 }))).toBe('3'));
    await eventually(async () => expect(front.events.at(-1)?.kind).toBe('up'));
  });

  it.each(['shared', 'session'] as const)('in a %s process is started again after a kill', async (process_) => {
    const front = new Front(program, { revision, process: process_ });
    await front.upstreams.own();
    const client = await front.overHttp({ headers: { 'x-user': 'ann' } });
    const state = async () => jsonOf(await client.callTool('state'));
    const { pid } = await state();
    const calls = Array.from({ length: 99 }, async (_, at) => await client.callTool('wait', { name: String(at) }));
    await eventually(async () => expect(((await state())['begun'] as unknown[]).length).toBe(99));
    process.kill(pid as number, 'SIGKILL');
    const texts = new Set((await Promise.all(calls)).map((result) => [result.isError, textOf(result)].join(' ')));
    expect([...texts]).toEqual([`true ${DOWN}`]);
    await eventually(async () => expect((await state())['pid']).not.toBe(pid));
  });
});

it('an upstream that was never there gets the same answers, and is found once it is', async () => {
  const listener = await Listener.start();
  await listener.kill();
  const front = new Front(listener.url);
  await expect(front.upstreams.own()).rejects.toMatchObject({ code: 'unreachable' });
  const client = await front.client();
  expect(textOf(await client.callTool('add', { a: 1, b: 2 }))).toBe(DOWN);
  await Listener.start(listener.port);
  await eventually(async () => expect(front.events.map(({ kind }) => kind)).toEqual(['up']));
  expect(textOf(await client.callTool('add', { a: 1, b: 2 }))).toBe('3');
});

it('a program that can not be started, and one that ends at once, are not available', async () => {
  for (const target of [{ command: 'no-such-command' }, { command: process.execPath, args: ['-e', ''] }]) {
    const client = await new Front(target).client();
    expect(textOf(await client.callTool('add', { a: 1, b: 2 }))).toBe(DOWN);
  }
});

it('a program that never answers does not delay the end of the server', async () => {
  const silent = { command: process.execPath, args: ['-e', 'console.error(1); process.stdin.resume()'] };
  let begin = () => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const opening = new Front(silent, { onStderr: () => begin() });
  const own = opening.upstreams.own().catch((error: unknown) => error);
  await begun;
  await opening.upstreams.close();
  expect(await own).toMatchObject({ code: 'closed' });
});

it('an answer that is too large, or too late, is told by name', async () => {
  const front = new Front((await Listener.start()).url, { maxMessageBytes: 10_000, timeoutMs: 1000 });
  const client = await front.client();
  const large = await client.callTool('large', { chars: 20_000 });
  expect(textOf(large)).toBe('The server "geo" sent an answer that is too large.');
  expect(textOf(await client.callTool('wait', { name: 'x' }))).toBe('The server "geo" did not answer in time.');
  expect(textOf(await client.callTool('steps', { count: 30, ms: 50 }))).toBe('done');
});

it('an upstream that stays away is tried within a second, and then less and less often', async () => {
  const listener = await Listener.start();
  await listener.kill();
  const delays: number[] = [];
  let retry = () => {};
  const after = (ms: number, run: () => void) => {
    delays.push(ms);
    retry = run;
    return () => {};
  };
  const front = new Front(listener.url, { clock: { ...SYSTEM_CLOCK, random: () => 1, after } });
  await expect(front.upstreams.own()).rejects.toMatchObject({ code: 'unreachable' });
  for (let tries = 1; tries < 7; tries += 1) {
    retry();
    await eventually(async () => expect(delays.length).toBe(tries + 1));
  }
  expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});
