import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, describe, expect, it } from '@jest/globals';

import { McpServer, Resource, serveStdio, Tool } from '@decorum/core';

import { notificationFrame } from '../../src/protocol/frame.js';
import { PendingChanges } from '../../src/transports/slow-reader.js';
import { ENVELOPE, PipeClient } from './pipe-client.js';

class Docs {
  @Resource('docs://guide', { name: 'guide' })
  guide() {
    return 'long';
  }

  @Tool({ description: 'Does nothing' })
  idle() {
    return '';
  }
}

const servers: McpServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close({ deadlineMs: 1 })));
});

const PARTS = ['docs://guide/a', 'docs://guide/b', 'docs://guide/c'];
const CHANGED = 'notifications/tools/list_changed';
const LISTEN = {
  id: 'sub',
  method: 'subscriptions/listen',
  params: { _meta: ENVELOPE, notifications: { toolsListChanged: true, resourceSubscriptions: ['docs://guide'] } },
};

describe('A stalled stdio reader', () => {
  it.each(['subscriptions/listen', 'the subscriptions of a session'])(
    'costs no memory, and gets every change of %s once it reads',
    async (which) => {
      const server = new McpServer({ name: 'slow', version: '1.0.0', providers: [Docs] });
      servers.push(server);
      const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 1024 })];
      const { closed } = await serveStdio(server, { input, output, limits: { maxPendingChars: 100_000 } });
      const client = new PipeClient(input, output);
      if (which === LISTEN.method) {
        client.send(LISTEN);
        await client.find(({ method }) => method === 'notifications/subscriptions/acknowledged');
      } else {
        await client.initialize();
        client.send({ id: 1, method: 'resources/subscribe', params: { uri: 'docs://guide' } });
        await client.response(1);
      }
      output.pause();
      const before = client.received.length;
      for (let n = 0; n < 100_000; n += 1) {
        server.notify.resourceUpdated(PARTS[n % PARTS.length] as string, 'docs://guide');
        if (n % 1000 === 0) server.notify.toolsChanged();
        if (n % 10_000 === 0) await turn();
      }
      output.resume();
      for (const part of PARTS) await client.find(({ params }) => params?.['uri'] === part);
      await client.find(({ method }) => method === CHANGED);
      input.end();
      await closed;
      const last = client.received.at(-1);
      if (which === LISTEN.method) expect(last).toMatchObject({ id: 'sub', result: { resultType: 'complete' } });
      // the messages until the stream was full, and then each change once
      expect(JSON.stringify(client.received.slice(before)).length).toBeLessThan(200_000);
    },
  );

  it('gets changes in the order of their first occurrence', async () => {
    const server = new McpServer({ name: 'slow', version: '1.0.0', providers: [Docs] });
    servers.push(server);
    const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 16 })];
    await serveStdio(server, { input, output });
    const client = new PipeClient(input, output);
    client.send(LISTEN);
    await client.find(({ method }) => method === 'notifications/subscriptions/acknowledged');
    output.pause();
    // fills the stream, so that later messages have to wait
    for (let n = 0; n < 5; n += 1) {
      server.notify.resourceUpdated(`docs://guide/${n}`, 'docs://guide');
      await turn();
    }
    for (const part of ['b', 'a', 'b', 'a', 'c']) server.notify.resourceUpdated(`docs://guide/${part}`, 'docs://guide');
    output.resume();
    await client.find(({ params }) => params?.['uri'] === 'docs://guide/c');
    const uris = client.received.flatMap(({ params }) => params?.['uri'] ?? []);
    expect(uris.slice(-3)).toEqual(['docs://guide/b', 'docs://guide/a', 'docs://guide/c']);
  });
});

describe('A notification that a slow reader can do without', () => {
  it('follows from the method of a notification', () => {
    const kindOf = (method: string) => notificationFrame(`notifications/${method}`, {}).kind;
    const kinds = (...methods: string[]) => methods.map(kindOf);
    expect(kinds('progress', 'message')).toEqual(['progress', 'log']);
    expect(kinds('tools/list_changed', 'prompts/list_changed', 'resources/list_changed', 'resources/updated')).toEqual(
      Array(4).fill('change'),
    );
    expect(kinds('cancelled', 'subscriptions/acknowledged', 'progressive')).toEqual(Array(3).fill('notice'));
  });

  it('is a change that is already buffered or exceeds the buffer', () => {
    const changes = new PendingChanges(10);
    const admitted = ['aaaa', 'aaaa', 'bbbb', 'cccc'].map((text) => changes.admit({ kind: 'change', text }));
    expect(admitted).toEqual([true, false, true, false]);
  });
});
