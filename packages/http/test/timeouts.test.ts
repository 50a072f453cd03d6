// Bodies and requests that arrive slowly, by a clock that the test sets.
import { connect, type Socket } from 'node:net';
import * as timers from 'node:timers';

import type { ReachedLimit } from '@decorum/core';
import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { FastifyInstance } from 'fastify';

/** An interval of the endpoint. */
interface Interval {
  readonly callback: () => void;
  readonly ms: number;
}

const intervals = new Map<object, Interval>();
const setInterval = (callback: () => void, ms: number) => {
  const timer = { unref: () => timer };
  intervals.set(timer, { callback, ms });
  return timer;
};
const clearInterval = (timer: object) => void intervals.delete(timer);
jest.unstable_mockModule('node:timers', () => ({ ...timers, setInterval, clearInterval }));

const apps: FastifyInstance[] = [];
const { fastify } = await import('fastify');
jest.unstable_mockModule('fastify', () => ({
  fastify: (options: object) => {
    const app = fastify(options) as unknown as FastifyInstance;
    apps.push(app);
    return app;
  },
}));

const { afterwards, createServer, INITIALIZE, Probe } = await import('./fixture.js');
const { listen } = await import('@decorum/http');
type Limits = NonNullable<NonNullable<Parameters<typeof listen>[1]>['limits']>;

beforeEach(() => {
  intervals.clear();
  apps.splice(0);
});

/** Milliseconds at which intervals were last called. */
let now = 0;

/** Puts the clock forward, and calls what is due. */
function pass(ms: number): void {
  const until = now + ms;
  while (now < until) {
    now += 1;
    for (const { callback, ms: each } of intervals.values()) if (now % each === 0) callback();
  }
}

async function serveLimited(limits?: Limits) {
  const hits: ReachedLimit[] = [];
  const { server } = createServer(new Probe(), { onLimit: (hit) => void hits.push(hit) });
  now = 0;
  const { port } = await listen(server, { port: 0, ...(limits && { limits }) });
  afterwards(() => server.close());
  const body = JSON.stringify(INITIALIZE);
  /** Sends a request without the end of its body, and waits until the server has what was sent. */
  const begin = async () => {
    const socket = connect(port, '127.0.0.1');
    const arrived = new Promise((resolve) => apps[0]?.server.once('request', resolve));
    afterwards(() => socket.destroy());
    const headers = `host: 127.0.0.1:${port}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream`;
    socket.write(`POST /mcp HTTP/1.1\r\n${headers}\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 9)}`);
    await arrived;
    return socket;
  };
  return { hits, begin, rest: body.slice(9) };
}

/** The first piece of an answer. */
const answer = async (socket: Socket) =>
  String(await new Promise((resolve) => socket.once('data', (data: Buffer) => resolve(data))));

describe('a body', () => {
  it.each([
    ['20 seconds by default', {}, 20_000],
    ['`bodyTimeoutMs`', { bodyTimeoutMs: 400 }, 400],
    ['`requestTimeoutMs` of `listen`', { requestTimeoutMs: 4000 }, 4000],
  ])('may take %s, and gets 408 at most 25 %% later', async (_name, limits, ms) => {
    const { hits, begin, rest } = await serveLimited(limits);
    const [inTime, late] = [await begin(), await begin()];
    pass(ms);
    inTime.write(rest);
    expect(await answer(inTime)).toMatch(/^HTTP\/1\.1 200 /);
    expect(hits).toEqual([]);
    pass(ms / 4);
    expect(await answer(late)).toMatch(/^HTTP\/1\.1 408 [^]*\r\nconnection: close\r\n[^]*"code":-32600/i);
    expect(hits).toEqual([{ limit: 'bodyTimeoutMs', remoteAddress: '127.0.0.1' }]);
  });
});

describe('a request', () => {
  it.each([
    ['20 seconds by default', undefined, 20_000],
    ['`requestTimeoutMs`', { requestTimeoutMs: 4000, bodyTimeoutMs: 10 }, 4000],
  ])('may take %s, which Node.js enforces at most 25 %% later', async (_name, limits, ms) => {
    await serveLimited(limits);
    const timeouts = { headersTimeout: ms, requestTimeout: ms, connectionsCheckingInterval: ms / 4 };
    expect(apps[0]?.server).toMatchObject(timeouts);
  });
});
