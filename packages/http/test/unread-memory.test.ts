import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from '@jest/globals';

import { afterwards, type Fields, INITIALIZE } from './fixture.js';

const FIXTURE = fileURLToPath(new URL('fixtures/unread.mjs', import.meta.url));
const MIB = 1_048_576;
const STREAMS = 1000;

/** Starts the fixture, a program that uses the built packages. */
async function start(count: number, size: number) {
  const folder = await mkdtemp(join(tmpdir(), 'unread-'));
  const path = join(folder, 'socket');
  const limits = { maxTotalBufferedBytes: 16 * MIB, maxStreams: STREAMS };
  const child = fork(
    FIXTURE,
    [path, count, size, limits].map((each) => JSON.stringify(each)),
  );
  afterwards(() => rm(folder, { recursive: true }));
  afterwards(() => child.kill('SIGKILL'));
  await once(child, 'message');
  const rss = async (): Promise<number> => {
    const answered = once(child, 'message');
    child.send('rss');
    const [{ rss: bytes }] = (await answered) as [{ rss: number }];
    return bytes;
  };
  /** Sends a request on a new connection. Returns the first part of the answer, if any, and reads no more. */
  const send = async (method: string, more: Fields, body = ''): Promise<string> => {
    const accept = method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream';
    const headers = { host: 'localhost', accept, ...more };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const client = connect(path);
    client.on('error', () => {});
    afterwards(() => client.destroy());
    client.write(`${method} /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    const [first] = (await Promise.race([once(client, 'data'), once(client, 'close')])) as [Buffer | boolean];
    client.pause();
    return typeof first === 'boolean' ? '' : first.toString('latin1', 0, 1000);
  };
  return { rss, send };
}

describe('a client that resumes a thousand streams and reads nothing', () => {
  it.each([
    ['one large event', 1, 400_000],
    ['many small events', 4000, 250],
  ])('does not make the process hold %s of each', async (_which, count, size) => {
    const { rss, send } = await start(count, size);
    const body = JSON.stringify(INITIALIZE);
    const type = { 'content-type': 'application/json', 'content-length': String(body.length) };
    const id = /^mcp-session-id: (.+)\r$/im.exec(await send('POST', type, body))?.[1] as string;
    const session = { 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' };
    const before = await rss();
    const streamIds = Array.from({ length: STREAMS }, (_, n) => `p${String(n).padStart(8, '0')}`);
    const answers: string[] = [];
    while (streamIds.length > 0) {
      // more at once would not fit in the queue of a socket file, and be refused
      const some = streamIds.splice(0, 100);
      answers.push(
        ...(await Promise.all(some.map((stream) => send('GET', { ...session, 'last-event-id': `${stream}-0` })))),
      );
    }
    // the others were cut off before their first byte
    const begun = answers.filter((answer) => answer !== '');
    expect(begun.length).toBeGreaterThan(STREAMS / 10);
    for (const answer of begun) expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    // 400 MB to 1 GB if each were copied; what exceeds the limit is garbage that the runtime has not collected
    expect((await rss()) - before).toBeLessThan(200 * MIB);
  });
});
