import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { afterAll } from '@jest/globals';

import type { Network } from '../../src/clients/public-fetch.js';
import type { Clock } from '../../src/platform.js';
import { selfSigned } from './certificate.js';

/** The name in the certificate of each origin. */
export const HOST = 'client.example';
const { cert, key } = selfSigned(HOST, 'localhost');

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const closing: (() => void)[] = [];
afterAll(() => closing.forEach((close) => close()));

/** An https server on this machine that counts its connections. */
export async function openOrigin() {
  const requests: string[] = [];
  let connections = 0;
  let answer: Answer = (_request, response) => response.writeHead(404).end();
  const server = createServer({ cert, key }, (request, response) => {
    requests.push(request.url ?? '');
    answer(request, response);
  });
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    requests,
    connections: () => connections,
    port,
    url: (path: string, host = HOST) => `https://${host}:${port}${path}`,
    answers: (next: Answer) => void (answer = next),
    /** Answers with JSON. */
    sends: (json: unknown, headers: Record<string, string> = {}, status = 200) => {
      answer = (_request, response) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        response.end(typeof json === 'string' ? json : JSON.stringify(json));
      };
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A clock that stands until it is moved. */
export function standingClock() {
  let now = Date.parse('2030-01-01T00:00:00Z');
  let waiting: { at: number; done: () => void }[] = [];
  const wait = (ms: number) => new Promise<void>((done) => waiting.push({ at: now + ms, done }));
  return {
    now: () => now,
    wait,
    /** A signal that aborts after some time of this clock. */
    timeout(ms: number): AbortSignal {
      const controller = new AbortController();
      waiting.push({ at: now + ms, done: () => controller.abort() });
      return controller.signal;
    },
    pass(ms: number) {
      now += ms;
      const due = waiting.filter(({ at }) => at <= now);
      waiting = waiting.filter(({ at }) => at > now);
      for (const { done } of due) done();
    },
  } satisfies Clock & Record<string, unknown>;
}

/** A network in which names lead to given addresses, and which counts the questions. */
export function networkOfNames(names: Readonly<Record<string, readonly string[]>>) {
  const asked: string[] = [];
  const network: Network = {
    ca: cert,
    resolve: (host) => {
      asked.push(host);
      const found = names[host];
      return found === undefined ? Promise.reject(new Error('ENOTFOUND')) : Promise.resolve(found);
    },
  };
  return { ...network, asked };
}
