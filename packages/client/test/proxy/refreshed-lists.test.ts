// Many servers without sessions have no stream, and can't announce that their lists have changed.
import { connectClient } from '@decorum/client';
import { McpServer } from '@decorum/core';
import { afterEach, expect, it } from '@jest/globals';

import type { Client } from '../../src/client.js';
import { takenBy } from '../../src/proxy/proxy-options.js';
import { Relay } from '../../src/proxy/relay.js';
import { SharedLists } from '../../src/proxy/shared-lists.js';
import { Uris } from '../../src/proxy/uris.js';
import { closeAll, eventually, STATEFUL } from './front.js';

afterEach(closeAll);

it('The lists of an upstream that announces no changes are read again after a while', async () => {
  let names = ['a', 'b'];
  const upstream = {
    capabilities: { tools: {} },
    revision: STATEFUL,
    async request() {
      return { tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) };
    },
  };
  const server = new McpServer({ name: 'front', version: '1.0.0' });
  const relay = new Relay(
    { request: async () => ({}) },
    new Uris({ uriPrefix: '', uriSegment: undefined }, () => false),
    'upstream',
  );
  const lists = new SharedLists({
    server,
    relay,
    taken: takenBy('proxy', {}),
    adding: { source: 'proxy' },
    pin: undefined,
    refreshMs: 20,
    warn() {},
  });
  await lists.opened(upstream as unknown as Client);
  const client = await connectClient(server);
  const listed = async () => (await client.listTools()).map(({ name }) => name);
  expect(await listed()).toEqual(['a', 'b']);
  names = ['a', 'c'];
  await eventually(async () => expect(await listed()).toEqual(['a', 'c']));
  lists.closed({ isEmptied: false });
  await client.close();
  await server.close();
});
