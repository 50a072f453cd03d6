import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type { ClosableHost } from '@decorum/core/transport';
import { HOST, type Kernel, type Session } from '@decorum/core/transport';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';

import { malformedMessages } from '../../../../test/support/malformed.js';
import { malformedTarget, SESSION_MESSAGES, STATELESS_MESSAGES } from '../../../../test/support/malformed-target.js';
import { ENVELOPE, openPipe, type PipeClient } from './pipe-client.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Internal state of a kernel and its sessions, to test that nothing leaks. */
interface Insides {
  readonly inFlight: { readonly exchanges: { readonly size: number } };
  readonly parts: { readonly events: { readonly listeners: { readonly size: number } } };
}
interface SessionInsides {
  readonly waiting: { readonly size: number } | undefined;
}

/** A server with access to its internal state. */
async function openTarget() {
  const errors: unknown[] = [];
  const log = { warn: () => {}, error: (details: object) => errors.push(details) };
  const server = malformedTarget({ logger: log });
  const seen: { kernel?: Kernel; session?: Session } = {};
  const host: ClosableHost = {
    [HOST]: {
      ...server[HOST],
      open: (create) =>
        server[HOST].open((kernel) => {
          const openSession = kernel.openSession.bind(kernel);
          kernel.openSession = (origin, link) => (seen.session = openSession(origin, link));
          return create((seen.kernel = kernel));
        }),
    },
    close: (options) => server.close(options),
  };
  const pipe = await openPipe(host);
  await pipe.client.initialize({ sampling: {}, roots: {} });
  const held = () => ({
    running: (seen.kernel as unknown as Insides).inFlight.exchanges.size,
    sessions: (seen.kernel as unknown as Insides).parts.events.listeners.size,
    busy: seen.session && [...(seen.kernel?.inFlight.requestsOf(seen.session) ?? [])].length > 0,
    waiting: (seen.session as unknown as SessionInsides).waiting?.size ?? 0,
  });
  return { ...pipe, errors, held, server };
}

/** Answers the server's questions, and checks that it still answers a valid request of each era. */
async function probe(client: PipeClient, round: number): Promise<void> {
  for (const { id, method } of client.received) {
    if (method === 'sampling/createMessage') {
      client.send({ id, result: { role: 'assistant', content: { type: 'text', text: 'Hi' }, model: 'm' } });
    }
  }
  const [stateful, stateless] = [`good ${round}`, `better ${round}`];
  const params = { name: 'add', arguments: { a: round, b: 1 } };
  client.send({ id: stateful, method: 'tools/call', params });
  client.send({ id: stateless, method: 'tools/call', params: { ...params, _meta: ENVELOPE } });
  const content = [{ type: 'text', text: String(round + 1) }];
  expect((await client.response(stateful)).result).toMatchObject({ content });
  expect((await client.response(stateless)).result).toMatchObject({ content });
}

const BATCH = 100;
const ROUNDS = 40;

it('Malformed messages over stdio 4,000 of them neither stop the server nor leak state', async () => {
  const { client, errors, held, connection, server } = await openTarget();
  const before = held();
  const codes = new Set<unknown>();
  const heap: number[] = [];
  let round = 0;
  const batches = fc.array(malformedMessages([...SESSION_MESSAGES, ...STATELESS_MESSAGES]), {
    minLength: BATCH,
    maxLength: BATCH,
  });
  const property = fc.asyncProperty(batches, async (messages) => {
    round += 1;
    client.received.length = 0;
    for (const message of messages) client.write(Buffer.concat([message, Buffer.from('\n')]));
    await probe(client, round);
    for (const { error } of client.received) codes.add(error?.code);
    // the server asks questions while it reads the batch, so the second probe finds them all
    await probe(client, -round);
    expect(held()).toEqual(before);
    client.received.length = 0;
    if (round % 5 === 0) {
      collectGarbage();
      heap.push(process.memoryUsage().heapUsed);
    }
  });
  await fc.assert(property, { numRuns: ROUNDS, endOnFailure: true });

  expect(errors).toEqual([]);
  expect([...codes]).toEqual(expect.arrayContaining([-32700, -32600, -32601, -32602, -32022, undefined]));
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  const [first = 0] = heap.slice(2);
  expect((heap.at(-1) ?? 0) - first).toBeLessThan(8 * 1024 * 1024);
  await connection.close();
  await server.close();
});
