// The measured process. It serves HTTP, and lines on a local socket. It reports its state over IPC.
import { createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { writeHeapSnapshot } from 'node:v8';

import { serveStdio } from '@decorum/core';
import { hostOf, type Kernel, type Session } from '@decorum/core/transport';
import { listen, MemoryEventStore } from '@decorum/http';

import type { Figures, Question } from './measured.js';
import { createSoakServer } from './soak-server.js';

/** Milliseconds that the server may take to become idle once the last client has gone. */
const IDLE_MS = 60_000;
/** Longer than a client may stall between two requests of a session on a busy machine. */
const SESSION_MS = 8000;
const EVENTS_MS = 5000;

const { SOAK_PIPE = '' } = process.env;
const { server, running } = createSoakServer();
// large enough for all streams on a busy machine, so that no resumed stream has lost events
const events = new MemoryEventStore({ maxAgeMs: EVENTS_MS, maxEvents: 100_000, maxSize: 134_217_728 });

/** The open sessions of all transports. */
const sessions = new Set<Session>();

/** Tracks the open sessions, because no public API reports them. */
function watch(kernel: Kernel): void {
  const { openSession, closeSession } = kernel;
  kernel.openSession = (origin, link) => {
    const session = openSession.call(kernel, origin, link);
    sessions.add(session);
    return session;
  };
  kernel.closeSession = (session) => {
    sessions.delete(session);
    closeSession.call(kernel, session);
  };
}

await hostOf(server).open((kernel) => {
  watch(kernel);
  return { stop: () => {}, close: () => {} };
});

const { url } = await listen(server, {
  port: 0,
  legacySse: true,
  events,
  limits: { sessionIdleMs: SESSION_MS },
  keepAliveMs: 1000,
  signals: false,
});

async function serve(socket: Socket): Promise<void> {
  const { closed } = await serveStdio(server, { input: socket, output: socket });
  await closed;
  socket.end();
}

const pipes = new Set<Socket>();
const lines = createServer({ allowHalfOpen: true }, (socket) => {
  pipes.add(socket);
  socket.once('close', () => pipes.delete(socket));
  void serve(socket);
});
await new Promise<void>((resolve) => lines.listen(SOAK_PIPE, resolve));

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** Resources that keep the process alive: sockets, timers, listening ports. */
const resources = () => tally(process.getActiveResourcesInfo());

const isIdle = () => sessions.size + pipes.size + running() === 0 && resources()['TCPSocketWrap'] === undefined;

const SAMPLES = 30;
const ROUNDS = 10;

/**
 * Memory after garbage collection. Pages are returned to the system in the background, which takes longer on a busy
 * machine. So it measures until the memory stops shrinking.
 */
async function smallest(): Promise<{ heap: number; rss: number }> {
  const least = { heap: Infinity, rss: Infinity };
  for (let round = 0, helped = true; helped && round < ROUNDS; round += 1) {
    const before = least.rss;
    for (let count = 0; count < SAMPLES; count += 1) {
      global.gc?.();
      await wait(100);
      const { heapUsed, rss } = process.memoryUsage();
      least.heap = Math.min(least.heap, heapUsed);
      least.rss = Math.min(least.rss, rss);
    }
    helped = least.rss < 0.99 * before;
  }
  return least;
}

/** Waits until the clients' sessions have expired, then measures the server. */
async function figures(): Promise<Figures> {
  const deadline = performance.now() + IDLE_MS;
  while (!isIdle() && performance.now() < deadline) await wait(100);
  // reading makes the store drop expired events
  await wait(EVENTS_MS);
  events.read('nothing', 0);
  const { heap, rss } = await smallest();
  const listeners = process.eventNames().map((name) => [String(name), process.listenerCount(name)] as const);
  return {
    heap,
    rss,
    sessions: sessions.size,
    running: running(),
    resources: resources(),
    listeners: Object.fromEntries(listeners),
  };
}

process.on('message', (question: Question) => {
  void (async () => {
    if (question.kind === 'figures') process.send?.(await figures());
    else process.send?.({ file: writeHeapSnapshot(question.file) });
  })();
});
process.on('disconnect', () => process.exit());
process.send?.({ url });
