// Official clients of a server that restarts, and keeps its sessions in a store.
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from '@jest/globals';
import { listen, MemoryEventStore, MemorySessionStore } from '@decorum/http';

import { afterwards, createServer, Probe } from '../../packages/http/test/fixture.js';

const INFO = { name: 'interop', version: '1.0.0' };

/** The clients try until the server is back. */
const reconnectionOptions = {
  initialReconnectionDelay: 10,
  maxReconnectionDelay: 10,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 10_000,
};

const CLIENTS = [
  [
    'SDK 1.32',
    async (url: URL, heard: () => void) => {
      const client = new ClientV1(INFO);
      client.setNotificationHandler(ToolListChangedNotificationSchema, heard);
      await client.connect(new HttpV1(url, { reconnectionOptions }) as never);
      return client;
    },
  ],
  [
    'SDK 2.4',
    async (url: URL, heard: () => void) => {
      const client = new ClientV2(INFO, { versionNegotiation: { mode: 'legacy' } });
      client.setNotificationHandler('notifications/tools/list_changed', heard);
      await client.connect(new HttpV2(url, { reconnectionOptions }));
      return client;
    },
  ],
] as const;

describe.each(CLIENTS)('the %s', (_name, connect) => {
  it.each([
    ['events that outlive it', true],
    ['events in its memory', false],
  ])('hears of changes after the server has restarted, with %s (#22)', async (_events, isShared) => {
    const sessionStore = new MemorySessionStore();
    const events = new MemoryEventStore();
    const start = async (port: number) => {
      const { server } = createServer(new Probe());
      const listening = await listen(server, { port, sessionStore, ...(isShared && { events }) });
      afterwards(async () => {
        await listening.close();
        await server.close();
      });
      return { ...listening, server };
    };
    const first = await start(0);
    let told = () => {};
    const hear = async (notify: () => void) => {
      const heard = new Promise<void>((resolve) => {
        told = resolve;
      });
      // until the client has its stream, it hears nothing
      const timer = setInterval(notify, 20);
      await heard;
      clearInterval(timer);
    };
    const client = await connect(new URL(first.url), () => told());
    await hear(() => first.server.notify.toolsChanged());
    await first.close();
    const second = await start(Number(new URL(first.url).port));
    // before the server: without one, it would try again for ever
    afterwards(() => client.close());
    await hear(() => second.server.notify.toolsChanged());
    expect(await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).toMatchObject({
      content: [{ text: '3' }],
    });
  });
});
