import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, it } from '@jest/globals';
import { mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import express from 'express';
import fastify from 'fastify';

import { afterwards, createServer, type Fields, INITIALIZE, post, Probe, request } from './fixture.js';

/** Posts a message from an address. */
type Send = (address: string, message: unknown, headers?: Fields) => Promise<Response>;

const OPTIONS = { limits: { maxSessionsPerAddress: 1 } };

/** Posts through a proxy that names the client. */
const through =
  (url: string): Send =>
  async (address, message, headers) =>
    await post(url, message, { ...headers, 'x-forwarded-for': address });

const BINDINGS: readonly [string, () => Promise<Send>][] = [
  [
    'a Fastify application that trusts its proxy',
    async () => {
      const app = fastify({ trustProxy: true });
      await app.register(mcp, { ...OPTIONS, server: createServer(new Probe()).server });
      afterwards(() => app.close());
      return through(`${await app.listen({ port: 0, host: '127.0.0.1' })}/mcp`);
    },
  ],
  [
    'an Express application that trusts its proxy',
    async () => {
      const app = express().set('trust proxy', true);
      const handler = nodeHandler(createServer(new Probe()).server, OPTIONS);
      const http = createHttpServer(app.use('/mcp', handler)).listen(0, '127.0.0.1');
      await once(http, 'listening');
      afterwards(async () => {
        await handler.close();
        http.closeAllConnections();
        http.close();
      });
      return through(`http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`);
    },
  ],
  [
    'the fetch handler with the address from its host',
    async () => {
      const handler = fetchHandler(createServer(new Probe()).server, OPTIONS);
      afterwards(() => handler.close());
      const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      return async (remoteAddress, message, fields) => {
        const init = { method: 'POST', headers: { ...usual, ...fields }, body: JSON.stringify(message) };
        return await handler(new Request('http://localhost/mcp', init), { remoteAddress });
      };
    },
  ],
];

describe.each(BINDINGS)('the quota of an address in %s', (_name, start) => {
  it('is separate for each client, and shared in an IPv6 network', async () => {
    const send = await start();
    const sessions = new Map<string, Fields>();
    const open = async (address: string) => {
      const id = (await send(address, INITIALIZE)).headers.get('mcp-session-id');
      sessions.set(address, { 'mcp-session-id': String(id) });
    };
    const alive = async () => {
      const found = [];
      for (const [address, session] of sessions) {
        const { status } = await send(address, request(1, 'ping'), session);
        if (status === 200) found.push(address);
      }
      return found;
    };
    const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8:0:1::1'];
    for (const address of addresses) await open(address);
    expect(await alive()).toEqual(addresses);
    await open('2001:db8:0:1::2');
    expect(await alive()).toEqual([...addresses.slice(0, 3), '2001:db8:0:1::2']);
  });
});
