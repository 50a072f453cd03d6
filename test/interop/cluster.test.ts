// The example with three nodes behind a proxy that sends each request to the next one.
import { once } from 'node:events';

import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { RedisServer } from '../support/redis-server.js';
import { ExampleProcess, programOf } from './example-process.js';

let redis: RedisServer;
let example: ExampleProcess;
beforeEach(async () => {
  redis = await RedisServer.start();
  process.env['REDIS_URL'] = redis.url;
  example = await ExampleProcess.start(programOf('cluster'));
});
afterEach(async () => {
  await example.stop();
  delete process.env['REDIS_URL'];
  await redis.end();
});

it('the nodes of examples/cluster serve one client together, and one of them can be killed', async () => {
  const client = new Client({ name: 'reader', version: '1.0.0' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { answer: true } }));
  const updated = new EventTarget();
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, () => void updated.dispatchEvent(new Event('note')));
  await client.connect(new StreamableHTTPClientTransport(new URL(example.url)));
  const call = async (name: string, args = {}) => {
    const { content } = await client.callTool({ name, arguments: args });
    return (content as { text: string }[])[0]?.text ?? '';
  };
  const nodeIn = (text: string) => Number(/process (\d+)/.exec(text)?.[1]);

  await client.subscribeResource({ uri: 'notes://all' });
  const nodes = new Set<number>();
  for (const text of ['one', 'two', 'three']) nodes.add(nodeIn(await call('add', { text })));
  expect(nodes.size).toBe(3);
  for (let times = 0; times < 3; times += 1) expect(await call('clear')).toMatch(/^Deleted by/);

  process.kill([...nodes][0] as number, 'SIGKILL');
  const noted = once(updated, 'note');
  const after = new Set<number>();
  let failures = 0;
  for (let times = 0; times < 6; times += 1) {
    try {
      after.add(nodeIn(await call('add', { text: 'after' })));
    } catch {
      failures += 1;
    }
  }
  expect(after.size).toBeGreaterThanOrEqual(2);
  expect(failures).toBeLessThanOrEqual(1);
  await noted;
  await client.close();
});
