import { once } from 'node:events';
import { Agent, createServer as createHttpServer, type IncomingMessage, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import type { McpServer } from '@decorum/core';
import { listen } from '@decorum/http';
import { nodeHandler } from '@decorum/http/node';

import { afterwards, createServer, modernCall, modernHeaders, Probe } from './fixture.js';

/** Duration of the longest call in milliseconds. */
const CALL_MS = 150;
const CLIENTS = 8;

async function serveByListen(server: McpServer) {
  const { port, close } = await listen(server, { port: 0 });
  return { port, close, closesPort: true };
}

async function serveByHandler(server: McpServer) {
  const handler = nodeHandler(server);
  const http = createHttpServer(handler);
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  afterwards(() => {
    http.close();
    http.closeAllConnections();
  });
  return { port: (http.address() as AddressInfo).port, close: () => handler.close(), closesPort: false };
}

/** A client that calls without pause, and keeps its connection alive as long as possible. */
class Caller {
  readonly statuses: number[] = [];
  readonly lost: unknown[] = [];
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly ended: Promise<void>;

  constructor(
    private readonly port: number,
    private readonly name: string,
    /** Whether to continue after a 503, until the port is closed. */
    private readonly insists: boolean,
  ) {
    afterwards(() => this.agent.destroy());
    this.ended = this.run();
  }

  private async run(): Promise<void> {
    while (this.insists || this.statuses.at(-1) !== 503) {
      try {
        this.statuses.push(await this.call());
      } catch (error) {
        // a closed port has not received the request, so nothing is lost
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') this.lost.push(error);
        return;
      }
    }
  }

  private async call(): Promise<number> {
    const sent = httpRequest({
      port: this.port,
      host: '127.0.0.1',
      path: '/mcp',
      method: 'POST',
      agent: this.agent,
      headers: { 'content-type': 'application/json', ...modernHeaders('tools/call', this.name) },
    });
    sent.end(JSON.stringify(modernCall(1, this.name, this.name === 'add' ? { a: 1, b: 2 } : {})));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of response) text += String(chunk);
    if (!text.endsWith('}') || text.includes('isError')) throw new Error(`not an answer: ${text}`);
    return response.statusCode ?? 0;
  }
}

describe.each([
  ['listen', serveByListen],
  ['nodeHandler', serveByHandler],
])('close under load, with %s', (_name, serve) => {
  it.each(['server', 'transport'])('of the %s waits for the longest call and loses no request', async (which) => {
    const { server, errors } = createServer(new Probe());
    const begun: number[] = [];
    server.addTool({ name: 'slow', description: 'Takes a while' }, async () => {
      begun.push(Date.now());
      await wait(CALL_MS);
      return 'slow';
    });
    const { port, close, closesPort } = await serve(server);
    afterwards(() => server.close());
    const fast = Array.from({ length: CLIENTS }, () => new Caller(port, 'add', closesPort));
    const slow = Array.from({ length: CLIENTS }, () => new Caller(port, 'slow', closesPort));
    const isSteady = () => begun.length >= CLIENTS && fast.every(({ statuses }) => statuses.length >= 10);
    while (!isSteady()) await wait(1);
    const began = performance.now();
    await (which === 'server' ? server.close() : close());
    const took = performance.now() - began;
    const callers = [...fast, ...slow];
    await Promise.all(callers.map(({ ended }) => ended));
    expect(callers.flatMap(({ lost }) => lost)).toEqual([]);
    for (const { statuses } of callers) {
      // after the first 503, no call succeeds
      const refused = statuses.indexOf(503);
      const served = refused === -1 ? statuses : statuses.slice(0, refused);
      expect([new Set(served), new Set(statuses.slice(served.length))]).toEqual([
        new Set([200]),
        new Set(refused === -1 ? [] : [503]),
      ]);
    }
    expect(errors).toEqual([]);
    // far less than the deadline of 5 seconds, which it would wait for if it missed the end of a call
    expect(took).toBeLessThan(2500);
  });
});
