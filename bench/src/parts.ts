import { createServer } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { setImmediate as nextTick } from 'node:timers/promises';

import { oauth } from '@decorum/auth';
import { connectMemory, type McpServer, serveStdio } from '@decorum/core';
import { definePlugin } from '@decorum/core/plugin';
import { listen, mcp } from '@decorum/http';
import { telemetry } from '@decorum/opentelemetry';
import { metrics } from '@decorum/prometheus';
import { fastify } from 'fastify';

import { createBenchServer } from './bench-server.js';
import { CALLS, FOLLOWED, type Message, type Style } from './calls.js';
import { embeddedAuth, embeddedTokens } from './embedded.js';
import { AUDIENCE, openIssuer } from './issuer.js';
import {
  closed,
  createFetch,
  LIST_REQUEST,
  listening,
  serveFastify,
  serveLines,
  serveNode,
  type ToolList,
} from './limit.js';
import { bodyOf, headersOf, openSession, type Session } from './requests.js';
import { cpuMicros } from './usage.js';

/** A server or bare route to measure. */
export interface Part {
  /** URL, if it listens. */
  readonly url?: string;
  /** Access tokens for its clients. */
  readonly tokens?: readonly string[];
  /** Sends a change to every open stream. */
  tell?(): void;
  /** Makes calls in the same process. Returns the microseconds of CPU time that they took. */
  run?(style: Style, calls: number): Promise<number>;
  close(): Promise<unknown>;
}

/** Options of parts. */
export interface PartOptions {
  /** Number of additional tools. */
  readonly moreTools: number;
  readonly list: ToolList;
  /** Creates the server's end of a pipe, for parts that read lines. */
  pipe(): { readonly input: Readable; readonly output: Writable };
}

/** Name of a part. */
export type PartName = keyof typeof PARTS;

// all clients of the benchmark have the same address
const LOCAL = { port: 0, host: '127.0.0.1', signals: false, limits: { maxSessionsPerAddress: 10_000 } } as const;
const ORIGIN = 'http://127.0.0.1/mcp';

type FetchHandler = ((request: Request) => Promise<Response>) & { close(): Promise<void> };
type NodeHandler = Parameters<typeof createServer>[1] & { ready: Promise<void>; close(): Promise<void> };

// typed as `string`, so that the compiler doesn't resolve them
const NODE_ENTRY: string = '@decorum/http/node';
const FETCH_ENTRY: string = '@decorum/http/fetch';

async function listenWith(server: McpServer): Promise<Part> {
  const { url, close } = await listen(server, LOCAL);
  return { url, tell: () => server.notify.resourceUpdated(FOLLOWED), close };
}

/** @param cacheMs milliseconds for which a verified token is cached; defaults to the default of `oauth` */
async function protectedBy(alg: 'RS256' | 'ES256', cacheMs?: number): Promise<Part> {
  const { url: issuer, tokens, close: closeIssuer } = await openIssuer(alg);
  const caching = cacheMs === undefined ? {} : { cacheMs };
  const auth = oauth({ issuer, audience: AUDIENCE, scopes: ['mcp'], allowLoopbackHttp: true, ...caching });
  const { url, close } = await listen(createBenchServer(), { ...LOCAL, auth });
  return { url, tokens, close: () => Promise.all([close(), closeIssuer()]) };
}

async function withOwnIssuer(): Promise<Part> {
  const { url, close } = await listen(createBenchServer(), { ...LOCAL, auth: await embeddedAuth() });
  return { url, tokens: await embeddedTokens(new URL(url).origin), close };
}

/** A plugin that does the minimum for each request. */
const observer = definePlugin(() => ({ name: 'observer', observe: (_request, run) => run() }));

/** All parts: the limits, and Decorum in each of its hosts. */
export const PARTS = {
  limit: ({ list }: PartOptions): Promise<Part> => serveFastify(list),
  'limit again': ({ list }: PartOptions): Promise<Part> => serveFastify(list),
  'bare node': ({ list }: PartOptions): Promise<Part> => serveNode(list),
  listen: ({ moreTools }: PartOptions): Promise<Part> => listenWith(createBenchServer(moreTools)),
  'few tools': (): Promise<Part> => listenWith(createBenchServer()),

  observe: (): Promise<Part> => listenWith(createBenchServer(0, { plugins: [observer()] })),
  telemetry: (): Promise<Part> => listenWith(createBenchServer(0, { plugins: [telemetry()] })),
  metrics: (): Promise<Part> => listenWith(createBenchServer(0, { plugins: [metrics()] })),
  maxResultChars: (): Promise<Part> => listenWith(createBenchServer(0, { maxResultChars: 20_000 })),

  auth: (): Promise<Part> => protectedBy('RS256'),
  'auth, RS256': (): Promise<Part> => protectedBy('RS256', 0),
  'auth, ES256': (): Promise<Part> => protectedBy('ES256', 0),
  'auth, embedded': withOwnIssuer,

  fastify: async ({ moreTools }: PartOptions): Promise<Part> => {
    const app = fastify({ forceCloseConnections: true });
    await app.register(mcp, { server: createBenchServer(moreTools) });
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    return { url: `${origin}/mcp`, close: () => app.close() };
  },

  node: async ({ moreTools }: PartOptions): Promise<Part> => {
    const { nodeHandler } = (await import(NODE_ENTRY)) as { nodeHandler(server: McpServer): NodeHandler };
    const handler = nodeHandler(createBenchServer(moreTools));
    await handler.ready;
    const server = createServer(handler);
    const url = await listening(server);
    return { url, close: async () => void (await Promise.all([handler.close(), closed(server)])) };
  },

  'bare fetch': async ({ list }: PartOptions): Promise<Part> => {
    const handler = createFetch(list);
    return { run: runner(handler, false), close: async () => {} };
  },

  fetch: async ({ moreTools }: PartOptions): Promise<Part> => {
    const { fetchHandler } = (await import(FETCH_ENTRY)) as { fetchHandler(server: McpServer): FetchHandler };
    const handler = fetchHandler(createBenchServer(moreTools));
    return { run: runner(handler, true), close: () => handler.close() };
  },

  'bare lines': async ({ list, pipe }: PartOptions): Promise<Part> => {
    const { input, output } = pipe();
    serveLines(input, output, list);
    return { close: async () => void input.destroy() };
  },

  stdio: async ({ moreTools, pipe }: PartOptions): Promise<Part> => {
    const { input, output } = pipe();
    const connection = await serveStdio(createBenchServer(moreTools), { input, output });
    return { close: () => connection.close() };
  },
};

/** Calls `add` with prepared requests. Only handling them and reading the responses is measured. */
function runner(handler: (request: Request) => Promise<Response>, hasSessions: boolean): NonNullable<Part['run']> {
  let session: Session | undefined;
  return async (style, calls) => {
    if (hasSessions && style === 'session') session ??= await openSession(ORIGIN, handler);
    const parts = { call: CALLS.add, style, client: 3, ...(session && { session }) };
    const init = { method: 'POST', headers: headersOf(parts), body: bodyOf(parts) };
    const requests = Array.from({ length: calls }, () => new Request(ORIGIN, init));
    let first: string | undefined;
    // don't count work left over from creating the requests
    await nextTick();
    const before = cpuMicros();
    for (const request of requests) {
      const response = await handler(request);
      const answer = await response.text();
      if (first === undefined) CALLS.add.verify([JSON.parse(answer) as Message], 3);
      else if (answer !== first) throw new Error(`A response differs from the first: ${answer}`);
      first ??= answer;
    }
    return cpuMicros() - before;
  };
}

/** Gets the tool list of a server. */
export async function toolListOf(server: McpServer): Promise<ToolList> {
  const answers: Message[] = [];
  const connection = await connectMemory(server, { receive: (message) => void answers.push(message as Message) });
  await connection.send(LIST_REQUEST);
  await connection.close();
  const [answer] = answers;
  if (answer?.result?.tools === undefined) throw new Error(`The server sent no tool list: ${JSON.stringify(answers)}`);
  return answer.result as ToolList;
}
