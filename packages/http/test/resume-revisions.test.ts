import { once } from 'node:events';

import { describe, expect, it } from '@jest/globals';
import { MemoryEventStore } from '@decorum/http';

import { stopClock } from './clock.js';
import { EventReader, getStream, type ServerEvent } from './events.js';
import { call, type Fields, openSession, post, request, serve } from './fixture.js';

const TOKEN = { progressToken: 1 };
const REVISIONS = [
  ['2025-03-26', false],
  ['2025-06-18', false],
  ['2025-11-25', true],
] as const;

const resume = (url: string, session: Fields, id: string | undefined) =>
  getStream(url, { ...session, 'last-event-id': id ?? 'none' });

async function refused(url: string, session: Fields, id: string | undefined): Promise<number> {
  const headers = { ...session, accept: 'text/event-stream', 'last-event-id': id ?? 'none' };
  const response = await fetch(url, { headers });
  await response.body?.cancel();
  return response.status;
}

/** The data of the events that have any. */
const carried = (events: readonly ServerEvent[]) =>
  events.flatMap(({ message }) => (message ? [message.params?.['progress'] ?? message.id] : []));

const steps = async (url: string, session: Fields, id: number) =>
  await new EventReader(await post(url, call(id, 'steps', {}, TOKEN), session)).rest();

describe.each(REVISIONS)('streams of %s', (version, primes) => {
  it('have ids in all events, and start with a priming event if the revision supports it [RESUME-07]', async () => {
    const { url } = await serve();
    const session = await openSession(url, {}, version);
    const events = await steps(url, session, 4);
    expect(events.filter(({ data }) => data === '')).toHaveLength(primes ? 1 : 0);
    expect(new Set(events.map(({ id }) => id)).size).toBe(primes ? 5 : 4);
    for (const { id, retry } of events) expect([typeof id, retry]).toEqual(['string', undefined]);
    expect(carried(events)).toEqual([1, 2, 3, 4]);
  });

  it('are replayed from any event, even repeatedly and after they have ended', async () => {
    const { url } = await serve();
    const session = await openSession(url, {}, version);
    const events = await steps(url, session, 4);
    for (let n = 0; n < 2; n++) {
      for (const [index, { id }] of events.entries()) {
        const again = await (await resume(url, session, id)).rest();
        expect(carried(again)).toEqual(carried(events.slice(index + 1)));
      }
    }
  });

  it('are replayed one at a time and only to their own session [RESUME-05]', async () => {
    const { url, server } = await serve();
    const [own, other] = [await openSession(url, {}, version), await openSession(url, {}, version)];
    await (await post(url, request(9, 'resources/subscribe', { uri: 'docs://guide' }), own)).text();
    const listening = await getStream(url, own);
    const [first, second] = [await steps(url, own, 4), await steps(url, own, 5)];
    server.notify.resourceUpdated('docs://guide');
    const { id } = await listening.message();
    expect(carried(await (await resume(url, own, first[0]?.id)).rest())).toEqual(carried(first.slice(1)));
    expect(carried(await (await resume(url, own, second[0]?.id)).rest())).toEqual(carried(second.slice(1)));
    expect(await refused(url, other, first[0]?.id)).toBe(400);
    await listening.cancel();
    server.notify.resourceUpdated('docs://guide');
    const back = await resume(url, own, id);
    expect((await back.message()).message?.method).toBe('notifications/resources/updated');
  });

  it('are paused with a retry time only if clients can resume from a priming event [RESUME-09]', async () => {
    const { url, probe } = await serve();
    const session = await openSession(url, {}, version);
    const began = once(probe, 'began');
    const pending = post(url, call(9, 'poll'), session);
    await began;
    if (primes) {
      const events = await new EventReader(await pending).rest();
      expect(events).toEqual([{ id: expect.any(String), data: '' }, { retry: '25' }]);
      const back = await resume(url, session, events[0]?.id);
      probe.emit('go');
      expect(carried(await back.rest())).toEqual([9]);
      return;
    }
    probe.emit('go');
    const response = await pending;
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await response.json()).toMatchObject({ id: 9, result: { content: [{ text: 'let go' }] } });
  });

  it('are kept up to a number of events, and the newest are replayed', async () => {
    const { url } = await serve({ events: new MemoryEventStore({ maxEvents: 3 }) });
    const session = await openSession(url, {}, version);
    const events = await steps(url, session, 4);
    const oldest = events.find(({ message }) => message)?.id;
    expect(carried(await (await resume(url, session, oldest?.replace(/1$/, '0'))).rest())).toEqual([2, 3, 4]);
    await steps(url, session, 5);
    expect(await refused(url, session, oldest)).toBe(400);
  });

  it('are kept up to a size', async () => {
    const { url } = await serve({ events: new MemoryEventStore({ maxSize: 15_000 }) });
    const session = await openSession(url, {}, version);
    const small = await steps(url, session, 4);
    expect(carried(await (await resume(url, session, small[0]?.id)).rest())).toEqual(carried(small.slice(1)));
    const large = post(url, call(5, 'flood', { count: 3 }, TOKEN), session);
    const events = await new EventReader(await large).rest();
    expect(await refused(url, session, small[0]?.id)).toBe(400);
    const last = events.filter(({ message }) => message).slice(-2);
    expect(carried(await (await resume(url, session, events[0]?.id)).rest())).toEqual(carried(last));
  });

  it('are kept for a time', async () => {
    const pass = stopClock();
    const { url } = await serve({ events: new MemoryEventStore({ maxAgeMs: 50 }) });
    const session = await openSession(url, {}, version);
    const events = await steps(url, session, 4);
    pass(50);
    expect(carried(await (await resume(url, session, events[0]?.id)).rest())).toEqual(carried(events.slice(1)));
    pass(1);
    expect(await refused(url, session, events[0]?.id)).toBe(400);
  });
});
