// API Gateway, a function URL or a load balancer in front of a function: a local HTTP server turns requests into events.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';

import type { LambdaHandler, LambdaResult, StreamingLambdaHandler } from '@decorum/http/lambda';

import { endingIn, invokeStreaming } from './runtime.js';
import { eventOf, type Source } from './events.js';

/** Bytes of a response that Lambda sends. */
const LIMIT = 6_291_556;

/** A function behind a gateway. */
export interface Gateway {
  /** URL of the endpoint. */
  readonly url: string;
  close(): Promise<void>;
}

type Answering = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Serves a function whose responses are complete. */
export const openGateway = async (source: Source, handler: LambdaHandler): Promise<Gateway> =>
  await open(async (incoming, outgoing) => {
    const event = await received(source, incoming);
    const result = await handler(event, endingIn(10_000));
    const sent = JSON.stringify(result);
    if (Buffer.byteLength(sent) > LIMIT) return void outgoing.writeHead(502).end();
    const { statusCode, headers, multiValueHeaders, cookies = [], body } = JSON.parse(sent) as LambdaResult;
    outgoing.writeHead(statusCode, {
      ...headers,
      ...(multiValueHeaders as Record<string, string[]>),
      ...(cookies.length > 0 && { 'set-cookie': [...cookies] }),
    });
    outgoing.end(body);
  });

/** Serves a function whose responses are streamed, as a function URL does. */
export const openStreamingGateway = async (handler: StreamingLambdaHandler): Promise<Gateway> =>
  await open(async (incoming, outgoing) => {
    const event = await received('function URL', incoming);
    const { statusCode, headers, body, done } = await invokeStreaming(handler, event, endingIn(10_000));
    outgoing.writeHead(statusCode, headers).flushHeaders();
    await pipeline(Readable.from(body), outgoing);
    await done;
  });

async function received(source: Source, incoming: IncomingMessage) {
  const { method = '', url = '', rawHeaders } = incoming;
  const pairs = Array.from({ length: rawHeaders.length / 2 }, (_, index) => rawHeaders.slice(2 * index, 2 * index + 2));
  const headers = pairs as [string, string][];
  const event = eventOf(source, { method, url, headers, body: await text(incoming), sourceIp: '203.0.113.7' });
  return JSON.parse(JSON.stringify(event)) as typeof event;
}

async function open(answer: Answering): Promise<Gateway> {
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch(() => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(502).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
