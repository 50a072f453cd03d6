// What an upstream says of its members switches nothing on in the server in front.
import { connectClient, proxy } from '@decorum/client';
import { type Context, McpServer, NoInput, Resource, Tool } from '@decorum/core';
import { listen } from '@decorum/http';
import { expect, it } from '@jest/globals';

class Shop {
  runs = 0;

  @Tool({ annotations: { readOnlyHint: true, idempotentHint: true } }) count() {
    return `run ${++this.runs}`;
  }

  @Tool({ annotations: { readOnlyHint: true, idempotentHint: true } }) fail(): string {
    throw new Error(`run ${++this.runs}`);
  }

  @Resource('shop://stock') stock(_input: NoInput, _ctx: Context) {
    return `run ${++this.runs}`;
  }
}

it('neither keeps results nor repeats calls because of hints of its upstream', async () => {
  const shop = new Shop();
  const logger = { warn() {}, error() {} };
  const server = new McpServer({ name: 'shop', version: '1', providers: [shop], logger });
  const listening = await listen(server, { port: 0 });
  const front = new McpServer({ name: 'front', version: '1', providers: [proxy(listening.url)], logger });
  const client = await connectClient(front);
  const read = async () => (await client.readResource('shop://stock')).contents;
  expect(await read()).toMatchObject([{ text: 'run 1' }]);
  expect(await read()).toMatchObject([{ text: 'run 2' }]);
  for (const run of ['run 3', 'run 4']) expect(JSON.stringify(await client.callTool('count'))).toContain(run);
  expect(await client.callTool('fail')).toMatchObject({ isError: true });
  expect(shop.runs).toBe(5);
  await client.close();
  await front.close();
  await listening.close();
});
