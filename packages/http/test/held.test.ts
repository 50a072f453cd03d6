import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from '@jest/globals';

const FIXTURE = fileURLToPath(new URL('fixtures/held.mjs', import.meta.url));
const CALLS = 40;
const REVISION = '2025-11-25';

describe('A POST whose call waits for the client', () => {
  it('keeps neither the bytes of the message nor what was parsed from them', async () => {
    const child = fork(FIXTURE, { execArgv: ['--expose-gc'] });
    try {
      const [url] = (await once(child, 'message')) as [string];
      let session = '';
      const post = async (message: object) => {
        const headers = {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session !== '' && { 'mcp-session-id': session, 'mcp-protocol-version': REVISION }),
        };
        return await fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
      };
      const clientInfo = { name: 'held', version: '1' };
      const params = { protocolVersion: REVISION, capabilities: { roots: {} }, clientInfo };
      session = (await post({ id: 0, method: 'initialize', params })).headers.get('mcp-session-id') ?? '';
      await post({ method: 'notifications/initialized' });
      const memory = async (id: number) => {
        const answer = await post({ id, method: 'tools/call', params: { name: 'memory', arguments: {} } });
        const { result } = (await answer.json()) as { result: { content: { text: string }[] } };
        return Number(result.content[0]?.text);
      };
      await memory(100);
      const before = await memory(101);
      for (let id = 1; id <= CALLS; id += 1) {
        const junk = `${id} ${'x'.repeat(262_144)}`;
        await post({ id, method: 'tools/call', params: { name: 'ask', arguments: {}, junk } });
      }
      expect((await memory(102)) - before).toBeLessThan(4_000_000);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
