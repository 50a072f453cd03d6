import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

import { serveStdio } from '@decorum/core';
import { listen } from '@decorum/http';
import { fastify } from 'fastify';

import { cpuMicros } from '../usage.js';
import { createTarget } from './target.js';

/** A question for a host. */
export interface Question {
  readonly kind: 'open' | 'cpu' | 'memory' | 'resident';
}

/** The answer: URLs, microseconds of CPU time, or bytes of memory. */
export interface Answer {
  /** The endpoint under attack, and the bare route. */
  readonly urls?: { readonly target: string; readonly bare: string };
  readonly micros?: number;
  /** Bytes of heap and buffers in use after a garbage collection. */
  readonly used?: number;
  /** Resident bytes of the process. */
  readonly resident?: number;
}

/** The server's end of a pipe. */
export interface Pipe {
  readonly input: Readable;
  readonly output: Writable;
}

/** Number of pipes that the target serves: one for a session, one for stateless requests. */
export const PIPES = 2;

const BARE_ANSWER = JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} });

/** Serves the target over HTTP and stdio, and a bare Fastify route that only parses the body. */
export class Host {
  private readonly ends: (() => Promise<unknown>)[] = [];

  /** @param collect runs the garbage collector, if it is available */
  constructor(
    private readonly pipe: () => Pipe,
    private readonly collect: (() => void) | undefined,
  ) {}

  async answer({ kind }: Question): Promise<Answer> {
    if (kind === 'open') return { urls: await this.open() };
    if (kind === 'cpu') return { micros: cpuMicros() };
    if (kind === 'resident') return { resident: process.memoryUsage.rss() };
    this.collect?.();
    this.collect?.();
    const { heapUsed, external } = process.memoryUsage();
    return { used: heapUsed + external };
  }

  async close(): Promise<void> {
    for (const end of this.ends) await end();
  }

  private async open(): Promise<NonNullable<Answer['urls']>> {
    const app = fastify({ logger: false, bodyLimit: 4 * 1024 * 1024, forceCloseConnections: true });
    app.all('/bare', (_request, reply) => reply.type('application/json').send(BARE_ANSWER));
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    const server = createTarget();
    const { url } = await listen(server, { port: 0, signals: false });
    for (let index = 0; index < PIPES; index += 1) await serveStdio(server, this.pipe());
    this.ends.push(
      () => server.close({ deadlineMs: 0 }),
      () => app.close(),
    );
    return { target: url, bare: `${origin}/bare` };
  }
}

/** Calls `receive` with each line of a stream. */
export function readLines(input: Readable, receive: (line: string) => void): void {
  createInterface({ input, crlfDelay: Infinity }).on('line', receive);
}
