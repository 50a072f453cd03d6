import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from '@jest/globals';

import { PipeClient, type Received } from './pipe-client.js';

const FIXTURE = fileURLToPath(new URL('fixtures/held.mjs', import.meta.url));
const CALLS = 40;
const JUNK = 'x'.repeat(262_144);

const textOf = ({ result }: Received) => (result as { content: { text: string }[] }).content[0]?.text ?? '';

describe('A call that waits for the client', () => {
  it('keeps only what its handler can still read of the request', async () => {
    const child = spawn(process.execPath, ['--expose-gc', FIXTURE], { stdio: ['pipe', 'pipe', 'inherit'] });
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
      expect((await heap(102)) - before).toBeLessThan(2_000_000);
      for (const { id, method } of client.received)
        if (method === 'roots/list') client.send({ id, result: { roots: [] } });
      for (let id = 0; id < CALLS; id += 1) expect(textOf(await client.response(id))).toBe(`0 note ${id}`);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
