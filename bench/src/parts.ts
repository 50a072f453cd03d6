import { createServer } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { setImmediate as nextTick } from 'node:timers/promises';

import { connectMemory, type McpServer, serveStdio } from '@decorum/core';
import { listen, mcp } from '@decorum/http';
import { fastify } from 'fastify';

import { createBenchServer } from './bench-server.js';
import { CALLS, FOLLOWED, type Message, type Style } from './calls.js';
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

/** Something to measure. */
export interface Part {
  /** Where it listens, if it does. */
  readonly url?: string;
  /** Tells every open stream that something has changed. */
  tell?(): void;
  /** Makes calls in its own process. Gives the microseconds of CPU that they took. */
  run?(style: Style, calls: number): Promise<number>;
  close(): Promise<unknown>;
}

/** What parts are made of. */
export interface PartOptions {
  /** How many tools the server has besides its own. */
  readonly moreTools: number;
  readonly list: ToolList;
  /** The other end of a client, for parts that read lines. */
  pipe(): { readonly input: Readable; readonly output: Writable };
}

/** The names of the parts. */
export type PartName = keyof typeof PARTS;

const LOCAL = { port: 0, host: '127.0.0.1', signals: false } as const;
const ORIGIN = 'http://127.0.0.1/mcp';

type FetchHandler = ((request: Request) => Promise<Response>) & { close(): Promise<void> };
type NodeHandler = Parameters<typeof createServer>[1] & { ready: Promise<void>; close(): Promise<void> };

// as variables, because the compiler would look for them
const NODE_ENTRY: string = '@decorum/http/node';
const FETCH_ENTRY: string = '@decorum/http/fetch';

async function listenWith(server: McpServer): Promise<Part> {
  const { url, close } = await listen(server, LOCAL);
  return { url, tell: () => server.notify.resourceUpdated(FOLLOWED), close };
}

/** Everything that can be measured: the limits, and Decorum in each of its bindings. */
export const PARTS = {
  limit: ({ list }: PartOptions): Promise<Part> => serveFastify(list),
  'limit again': ({ list }: PartOptions): Promise<Part> => serveFastify(list),
  'bare node': ({ list }: PartOptions): Promise<Part> => serveNode(list),
  listen: ({ moreTools }: PartOptions): Promise<Part> => listenWith(createBenchServer(moreTools)),
  'few tools': (): Promise<Part> => listenWith(createBenchServer()),

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

/** Calls `add` with requests that were made before; they are not what is measured, but the reading of the answer is. */
function runner(handler: (request: Request) => Promise<Response>, hasSessions: boolean): NonNullable<Part['run']> {
  let session: Session | undefined;
  return async (style, calls) => {
    if (hasSessions && style === 'session') session ??= await openSession(ORIGIN, handler);
    const parts = { call: CALLS.add, style, client: 3, ...(session && { session }) };
    const init = { method: 'POST', headers: headersOf(parts), body: bodyOf(parts) };
    const requests = Array.from({ length: calls }, () => new Request(ORIGIN, init));
    let first: string | undefined;
    // what was left to do for the requests themselves is not to be counted
    await nextTick();
    const before = cpuMicros();
    for (const request of requests) {
      const response = await handler(request);
      const answer = await response.text();
      if (first === undefined) CALLS.add.verify([JSON.parse(answer) as Message], 3);
      else if (answer !== first) throw new Error(`an answer differs from the first: ${answer}`);
      first ??= answer;
    }
    return cpuMicros() - before;
  };
}

/** Asks a server which tools it has. */
export async function toolListOf(server: McpServer): Promise<ToolList> {
  const answers: Message[] = [];
  const connection = await connectMemory(server, { receive: (message) => void answers.push(message as Message) });
  await connection.send(LIST_REQUEST);
  await connection.close();
  const [answer] = answers;
  if (answer?.result?.tools === undefined) throw new Error(`no list of tools: ${JSON.stringify(answers)}`);
  return answer.result as ToolList;
}
