import { on, once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from '@jest/globals';
import { type Client, type ClientOptions, connectClient, type ConnectTarget } from '@decorum/client';
import { Context, McpServer, NoInput, Tool } from '@decorum/core';
import { nodeHandler } from '@decorum/http/node';
import { revisions } from '@decorum/testing';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function clientOf(target: ConnectTarget, options: ClientOptions = {}): Promise<Client> {
  const client = await connectClient(target, options);
  open.push(client);
  return client;
}

class Desk {
  @Tool({ description: 'Asks for a name' })
  async greet(_input: NoInput, ctx: Context) {
    return `Hello ${(await ctx.confirm('Formally?')) ? 'Sir' : 'you'}`;
  }

  @Tool({ description: 'Counts to three' })
  count(_input: NoInput, ctx: Context) {
    for (const step of [1, 2, 3]) ctx.progress(step, 3);
    return 'three';
  }

  tidy() {
    return 'not for clients';
  }
}

const createServer = () => new McpServer({ name: 'desk', version: '1.0.0', providers: [Desk] });

/** Breaks all connections of the last server. */
let breakConnections = () => {};

async function urlOf(server: McpServer): Promise<URL> {
  const listener = createHttpServer(nodeHandler(server));
  await new Promise<void>((resolve) => {
    listener.listen(0, '127.0.0.1', resolve);
  });
  breakConnections = () => listener.closeAllConnections();
  open.push({
    async close() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    },
  });
  return new URL(`http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`);
}

const TARGETS: Readonly<Record<string, () => Promise<ConnectTarget>>> = {
  memory: async () => createServer(),
  http: async () => await urlOf(createServer()),
};

describe.each(Object.keys(TARGETS))('a client over %s', (via) => {
  const target = async () => await (TARGETS[via] as () => Promise<ConnectTarget>)();

  it('negotiates the newest revision', async () => {
    const client = await clientOf(await target());
    expect(client.revision).toBe(revisions.at(-1));
    expect(client.isStateless).toBe(true);
    expect(client.serverInfo).toMatchObject({ name: 'desk', version: '1.0.0' });
    expect(client.capabilities.tools).toEqual({ listChanged: true });
  });

  it.each(revisions)('speaks %s if told to', async (revision) => {
    const client = await clientOf(await target(), { revision });
    expect(client.revision).toBe(revision);
    await client.ping();
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['greet', 'count']);
    const progress: number[] = [];
    await client.callTool('count', {}, { onProgress: (done) => void progress.push(done) });
    expect(progress).toEqual([1, 2, 3]);
  });

  it.each(revisions.slice(-2))('tells handlers which call asks, in %s', async (revision) => {
    const options = { meta: { 'example/trace': 'a' } };
    const asked: unknown[] = [];
    const client = await clientOf(await target(), {
      revision,
      onElicit(question, call) {
        asked.push([question.message, call?.method, call?.params['name'], call?.options === options]);
        return { action: 'accept', content: { confirm: true } };
      },
    });
    await client.callTool('greet', {}, options);
    expect(asked).toEqual([['Formally?', 'tools/call', 'greet', true]]);
  });
});

describe('a client in a session', () => {
  it('goes on after the server has ended the stream of the session', async () => {
    const handle = nodeHandler(createServer());
    const listener = createHttpServer((request, response) => {
      if (request.method !== 'GET') return handle(request, response);
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end();
      listener.emit('stream');
    });
    await once(listener.listen(0, '127.0.0.1'), 'listening');
    open.push({
      async close() {
        listener.closeAllConnections();
        await new Promise((resolve) => listener.close(resolve));
      },
    });
    const { port } = listener.address() as AddressInfo;
    const opens = on(listener, 'stream');
    const client = await clientOf(`http://127.0.0.1:${port}/mcp`, { revision: '2025-11-25' });
    await opens.next();
    // the client opens the second stream once it has read the end of the first
    await opens.next();
    expect(await client.callTool('count')).toMatchObject({ content: [{ text: 'three' }] });
  });
});

describe('a provider as a client sees it', () => {
  it('has its tools as methods, under the prefix of its mount', async () => {
    const client = await clientOf(createServer(), {});
    expect(await client.as(Desk).count()).toBe('three');
    await expect(client.as(Desk, { prefix: 'front' }).count()).rejects.toThrow('front_count');
    expect(() => client.as(Date)).toThrow('has no method with @Tool');
    await expect(client.as(Desk).tidy()).rejects.toThrow("Desk.tidy is not a tool, so clients can't call it");
    await expect(client.as(Desk).tidy()).rejects.toThrow('The tools are greet, count.');
  });
});

describe('a client that listens', () => {
  it.each(revisions.slice(-2))('hears of changes in %s, until it is closed', async (revision) => {
    const server = createServer();
    const client = await clientOf(await urlOf(server), { revision });
    const listening = await client.listen({ tools: true });
    const heard: string[] = [];
    const loop = (async () => {
      for await (const { method } of listening) {
        heard.push(method);
        await listening.close();
      }
    })();
    server.addTool({ name: 'late', description: 'Comes late' }, () => 'x');
    await loop;
    expect(heard).toEqual(['notifications/tools/list_changed']);
  });

  it.each(revisions.slice(-2))('can no longer listen in %s once it is closed', async (revision) => {
    const client = await clientOf(createServer(), { revision });
    await client.close();
    await expect(client.listen()).rejects.toMatchObject({ code: 'closed' });
  });

  it.each(revisions.slice(-2))('no longer listens in %s when its loop is left', async (revision) => {
    const server = createServer();
    const client = await clientOf(await urlOf(server), { revision });
    const listening = await client.listen({ tools: true });
    server.addTool({ name: 'late', description: 'Comes late' }, () => 'x');
    for await (const { method } of listening) {
      expect(method).toBe('notifications/tools/list_changed');
      break;
    }
    for await (const { method } of listening) expect(method).toBe('nothing');
    await client.ping();
  });

  it.each(revisions.slice(-2))(
    'hears of changes in %s that happen while its connection is broken',
    async (revision) => {
      const server = createServer();
      const client = await clientOf(await urlOf(server), { revision });
      const listening = await client.listen({ tools: true });
      breakConnections();
      server.addTool({ name: 'late', description: 'Comes late' }, () => 'x');
      for await (const { method } of listening) {
        expect(method).toBe('notifications/tools/list_changed');
        break;
      }
      expect(await client.listTools()).toHaveLength(3);
    },
  );
});
