import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { afterEach, describe, expect, it } from '@jest/globals';
import { type Client, type ClientOptions, connectClient, type ConnectTarget } from '@decorum/client';
import { type Context, McpServer, NoInput, Tool } from '@decorum/core';
import { nodeHandler } from '@decorum/http/node';
import { revisions } from '@decorum/testing';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

class Shop {
  @Tool({ description: 'Reports, and answers' })
  add(_input: NoInput, ctx: Context) {
    ctx.progress(1);
    ctx.log.warning('Added');
    return 'done';
  }
}

const createServer = () => new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] });

async function urlOf(): Promise<URL> {
  const listener = createHttpServer(nodeHandler(createServer(), { events: false }));
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  open.push({
    async close() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  });
  return new URL(`http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`);
}

/** Bytes that this process retains. */
async function retained(): Promise<number> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  return process.memoryUsage().heapUsed;
}

const CALLS = 10_000;

async function callMany(client: Client, calls: number): Promise<void> {
  const { signal } = new AbortController();
  const onProgress = () => {};
  for (let done = 0; done < calls; done += 20) {
    const batch = Array.from({ length: 20 }, async () => await client.callTool('add', {}, { signal, onProgress }));
    await Promise.all(batch);
  }
}

const [session, stateless] = revisions.slice(-2) as [string, string];
const TARGETS: readonly (readonly [string, string, () => Promise<ConnectTarget>])[] = [
  ['memory', session, async () => createServer()],
  ['memory', stateless, async () => createServer()],
  ['http', session, urlOf],
  ['http', stateless, urlOf],
];

describe('a client', () => {
  it.each(TARGETS)(
    'keeps nothing of 10,000 calls over %s in %s',
    async (_via, revision, target) => {
      const options: ClientOptions = { revision, onNotification() {} };
      const client = await connectClient(await target(), options);
      open.push(client);
      await client.setLogLevel('debug');
      await callMany(client, 2000);
      // compiled code grows at times, but what is kept of calls grows in each round
      let perCall = Infinity;
      for (let round = 0; round < 10 && perCall >= 20; round += 1) {
        const before = await retained();
        await callMany(client, CALLS);
        perCall = Math.min(perCall, ((await retained()) - before) / CALLS);
      }
      // an entry of a map alone takes more
      expect(perCall).toBeLessThan(20);
    },
    300_000,
  );
});
