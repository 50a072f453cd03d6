import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';

import { type HttpOptions, mcp } from '@decorum/http';
import fastify from 'fastify';

import { leftOn } from '../src/hosts/node/socket.js';
import { afterwards, createServer, Probe } from './fixture.js';
import type { Fields } from './messages.js';

/** An application that exposes its server-side responses to the test. */
export async function start(options: HttpOptions = {}) {
  const probe = new Probe();
  const { server, errors, hits } = createServer(probe);
  // otherwise closing would wait for the idle connections that `fetch` keeps open
  const app = fastify({ forceCloseConnections: true });
  const answers: ServerResponse[] = [];
  app.addHook('onRequest', async (_request, reply) => void answers.push(reply.raw));
  await app.register(mcp, { server, ...options });
  afterwards(() => server.close());
  afterwards(() => app.close());
  afterwards(() => probe.emit('go'));
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/mcp`;
  return { url, server, app, answers, errors, probe, hits };
}

/** Sends a request on a separate connection, and reads only the headers of the response. */
export async function open(url: string, headers: Fields, message?: object): Promise<IncomingMessage> {
  const type = message ? { 'content-type': 'application/json' } : undefined;
  const accept = message ? 'application/json, text/event-stream' : 'text/event-stream';
  const method = message ? 'POST' : 'GET';
  const sent = httpRequest(url, { method, headers: { accept, ...type, ...headers }, agent: false });
  afterwards(() => sent.destroy());
  sent.end(message && JSON.stringify(message));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return response.pause();
}

/** Resolves when the reader of a response has fallen behind. */
export async function untilSlow(answer: ServerResponse): Promise<void> {
  while (!answer.writableNeedDrain) await turn();
}

/** Resolves when neither the operating system nor the client accepts more of a response. */
export async function untilStuck({ req: { socket } }: ServerResponse): Promise<void> {
  let left = -1;
  for (let turns = 0; turns < 50; turns += 1) {
    await turn();
    const now = leftOn(socket);
    if (now !== left) turns = 0;
    left = now;
  }
}

/** Reads the rest of an event stream. Returns the positions and data of its events. */
export async function eventsIn(response: IncomingMessage): Promise<{ position: number; data: string }[]> {
  const text = Buffer.concat(await response.toArray()).toString();
  const found = text.matchAll(/^id: \S+-(\d+)\ndata: (.*)$/gm);
  return Array.from(found, ([, position, data = '']) => ({ position: Number(position), data })).filter(
    ({ data }) => data !== '',
  );
}
