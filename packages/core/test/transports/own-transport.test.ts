import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';

import { McpServer, NoInput, Tool } from '@decorum/core';
import { expect, it } from '@jest/globals';

import { PipeClient } from './pipe-client.js';
import { serveTcp } from './tcp-transport.js';

class Clock {
  @Tool({ description: 'Tells the time' })
  now(_input: NoInput) {
    return 'noon';
  }
}

it('serves a session over a transport that uses only the public entries', async () => {
  const source = readFileSync(new URL('tcp-transport.ts', import.meta.url), 'utf8');
  const imported = [...source.matchAll(/from '(@decorum[^']*)'/g)].map(([, specifier]) => specifier);
  expect(imported).toEqual(['@decorum/core', '@decorum/core/transport']);

  const server = new McpServer({ name: 'clock', version: '1.0.0', providers: [Clock] });
  const listener = await serveTcp(server);
  const socket = connect((listener.address() as AddressInfo).port, '127.0.0.1');
  const client = new PipeClient(socket, socket);
  await client.initialize();
  expect(await client.call(1, 'now')).toMatchObject({ result: { content: [{ text: 'noon' }] } });
  client.write('{"jsonrpc": \n');
  client.send({ id: 2, method: 'tools/call', params: { name: 'later' } });
  expect(await client.response(2)).toMatchObject({ error: { code: -32602 } });
  expect(client.received.map(({ error }) => error?.code)).toContain(-32700);

  server.addTool({ name: 'later', input: NoInput }, () => 'soon');
  expect(await client.call(3, 'later')).toMatchObject({ result: { content: [{ text: 'soon' }] } });
  await client.find(({ method }) => method === 'notifications/tools/list_changed');

  const closed = once(socket, 'close');
  listener.close();
  await server.close();
  await closed;
});
