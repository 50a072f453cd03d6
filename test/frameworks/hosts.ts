// The weather server inside typical web applications.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { McpServer } from '@decorum/core';
import { Weather } from '@decorum/example-weather/weather';
import { WeatherApi } from '@decorum/example-weather/weather-api';
import { mcp } from '@decorum/http';
import { fetchHandler } from '@decorum/http/fetch';
import { nodeHandler } from '@decorum/http/node';
import { type HttpBindings, serve } from '@hono/node-server';
import cors from 'cors';
import express, { type RequestHandler } from 'express';
// @ts-expect-error -- its types are those of Express 5
import express4 from 'express-4';
import fastify from 'fastify';
import helmet from 'helmet';
import { Hono } from 'hono';

import { BODY_LIMIT, compress, permitTransforms, Steps } from './inside.js';

const OPTIONS = { limits: { bodyLimit: BODY_LIMIT } };

export interface Hosted {
  /** URL of the MCP endpoint. */
  readonly url: string;
  close(): Promise<void>;
}

export function weatherServer(): McpServer {
  const providers = [new Weather(new WeatherApi()), Steps];
  return new McpServer({ name: 'weather', version: '1.0.0', providers });
}

async function listening(server: Server, close: () => Promise<unknown>): Promise<Hosted> {
  if (!server.listening) await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      await close();
      server.close();
      server.closeAllConnections();
    },
  };
}

const onNode = (listener: RequestListener, close: () => Promise<unknown>): Promise<Hosted> =>
  listening(createServer(listener).listen(0, '127.0.0.1'), close);

/** Express with the usual middleware. */
async function inExpress(create: typeof express, ...more: RequestHandler[]): Promise<Hosted> {
  const handler = nodeHandler(weatherServer(), OPTIONS);
  const app = create();
  app.use(helmet(), cors(), compress);
  app.use('/mcp', ...more, handler);
  app.use(create.json());
  return await onNode(app, () => handler.close());
}

async function inFastify(): Promise<Hosted> {
  const app = fastify({ forceCloseConnections: true });
  await app.register(mcp, { server: weatherServer(), ...OPTIONS });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return await listening(app.server, () => app.close());
}

async function inHono(): Promise<Hosted> {
  const handler = fetchHandler(weatherServer(), OPTIONS);
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.all('/mcp', (c) => handler(c.req.raw, { remoteAddress: c.env.incoming.socket.remoteAddress }));
  return await listening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server, () => handler.close());
}

const binary = (path: string) => fileURLToPath(new URL(`../../examples/${path}`, import.meta.url));

/** The programs of Bun and Deno, without the scripts of their npm packages. */
export const BUN = binary('bun/node_modules/bun/bin/bun.exe');
export const DENO = binary('deno/node_modules/deno/deno');
const BUN_SERVER = fileURLToPath(new URL('elysia-server.js', import.meta.url));

const DENO_SERVER = fileURLToPath(new URL('deno-server.js', import.meta.url));

/** One of the servers of a program that another runtime runs. */
const run =
  (command: string, args: readonly string[], index = 0) =>
  async (): Promise<Hosted> => {
    const env = { ...process.env, NODE_OPTIONS: '' };
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    return {
      url: line.split(' ')[index] as string,
      async close() {
        const ended = once(child, 'exit');
        child.kill();
        await ended;
      },
    };
  };

/** The applications that are tested with each client in each revision. */
export const HOSTS: Readonly<Record<string, () => Promise<Hosted>>> = {
  Fastify: inFastify,
  'Express 5': () => inExpress(express),
  'node:http': async () => {
    const handler = nodeHandler(weatherServer(), { ...OPTIONS, path: '/mcp' });
    return await onNode(handler, () => handler.close());
  },
  Hono: inHono,
};

/** More applications. */
export const MORE_HOSTS: typeof HOSTS = {
  'Express 4': () => inExpress(express4 as unknown as typeof express),
  'Express that compresses event streams': () => inExpress(express, permitTransforms),
  Elysia: run(BUN, [BUN_SERVER]),
  'Bun.serve': run(BUN, [BUN_SERVER], 1),
  'Deno.serve': run(DENO, ['run', '--allow-net', '--allow-env', DENO_SERVER]),
};
