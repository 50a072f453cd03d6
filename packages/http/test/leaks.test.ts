// What a session keeps of streams that have ended: nothing, beyond what an event store may hold.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { afterEach, describe, expect, it } from '@jest/globals';
import { MemoryEventStore } from '@decorum/http';

import { EventStream } from '../src/stream.js';
import { EventReader } from './events.js';
import { call, openSession, post, serve } from './fixture.js';

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

/** How many of the streams that were seen are still in memory. */
async function held(): Promise<number> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
  return [...seen].filter((stream) => stream.deref() !== undefined).length;
}

const STREAMS = 20;

describe('A session keeps nothing', () => {
  it.each([
    ['without an event store', false as const],
    ['beyond what is in its event store', new MemoryEventStore({ maxEvents: 8 })],
  ])('of streams that have ended, %s', async (_how, events) => {
    const { url } = await serve({ events });
    const session = await openSession(url);
    for (let id = 1; id <= STREAMS; id += 1) {
      const response = await post(url, call(id, 'steps', {}, { progressToken: id }), session);
      expect((await new EventReader(response).rest()).at(-1)?.message).toMatchObject({ id, result: {} });
    }
    expect(seen.size).toBe(STREAMS);
    // the last one may still be in use by its connection
    expect(await held()).toBeLessThan(3);
    expect((await post(url, call('last', 'add', { a: 1, b: 2 }), session)).status).toBe(200);
  });
});
