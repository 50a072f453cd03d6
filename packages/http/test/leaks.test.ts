// What nobody needs any more: streams that have ended, and messages whose calls wait.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { afterEach, describe, expect, it } from '@jest/globals';
import { MemoryEventStore } from '@decorum/http';

import { EventStream } from '../src/streams/stream.js';
import { EventReader } from './events.js';
import { afterwards, call, post, serveSession } from './fixture.js';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

const attach = EventStream.prototype.attach;
const seen = new Set<WeakRef<EventStream>>();
// every stream with a reader is seen once, without being held
EventStream.prototype.attach = function attachAndNote(this: EventStream, sink) {
  seen.add(new WeakRef(this));
  attach.call(this, sink);
};
afterEach(() => seen.clear());

/** How many objects are still in memory. */
async function held(objects: Iterable<WeakRef<object>>): Promise<number> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  return [...objects].filter((object) => object.deref() !== undefined).length;
}

const STREAMS = 20;
const CALLS = 8;

describe('A session keeps nothing', () => {
  it.each([
    ['without an event store', false as const],
    ['beyond what is in its event store', new MemoryEventStore({ maxEvents: 8 })],
  ])('of streams that have ended, %s', async (_how, events) => {
    const { url, session } = await serveSession({ events });
    for (let id = 1; id <= STREAMS; id += 1) {
      const response = await post(url, call(id, 'steps', {}, { progressToken: id }), session);
      expect((await new EventReader(response).rest()).at(-1)?.message).toMatchObject({ id, result: {} });
    }
    expect(seen.size).toBe(STREAMS);
    // the last one may still be in use by its connection
    expect(await held(seen)).toBeLessThan(3);
    expect((await post(url, call('last', 'add', { a: 1, b: 2 }), session)).status).toBe(200);
  });
});

describe('A call that waits for the client', () => {
  it('keeps nothing of a large message but what its answer needs', async () => {
    const { url, session } = await serveSession();
    // held here, because a response that nobody holds is cancelled
    const asked: Response[] = [];
    const messages: WeakRef<object>[] = [];
    const params: WeakRef<object>[] = [];
    const { parse } = JSON;
    afterwards(() => (JSON.parse = parse));
    // the calls would delay the end of the server
    afterwards(() => fetch(url, { method: 'DELETE', headers: session }));
    JSON.parse = (text: string) => {
      const message = parse(text) as { params: object };
      messages.push(new WeakRef(message));
      params.push(new WeakRef(message.params));
      return message;
    };
    for (let id = 1; id <= CALLS; id += 1) {
      const message = call(id, 'ask');
      const large = { ...message, params: { ...message.params, unknown: 'x'.repeat(10_000) } };
      asked.push(await post(url, large, session));
    }
    expect(asked.map(({ headers }) => headers.get('content-type'))).toEqual(Array(CALLS).fill('text/event-stream'));
    expect(messages).toHaveLength(CALLS);
    // the last one may still be in use by its connection
    expect(await held(messages)).toBeLessThan(3);
    expect(await held(params)).toBeLessThan(3);
  });
});
