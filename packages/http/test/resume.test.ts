import { EventEmitter, once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from '@jest/globals';
import { type EventStore, MemoryEventStore, type StoredEvent } from '@decorum/http';

import { EventReader, getStream, type ServerEvent } from './events.js';
import { call, type Fields, json, openSession, post, request, serve, serveSession } from './fixture.js';

const TOKEN = { progressToken: 1 };
const LET_GO = { id: 9, result: { content: [{ text: 'let go' }] } };

const resume = (url: string, session: Fields, id: string | undefined) =>
  getStream(url, { ...session, 'last-event-id': id ?? 'none' });

async function refused(url: string, session: Fields, id: string): Promise<number> {
  const response = await fetch(url, { headers: { ...session, accept: 'text/event-stream', 'last-event-id': id } });
  await response.body?.cancel();
  return response.status;
}

const messages = (events: ServerEvent[]) => events.flatMap(({ message }) => message ?? []);

describe('a client that reconnects', () => {
  it('gets the newest events if not all are kept, and none after a position that never existed', async () => {
    const { url, probe, session } = await serveSession({ events: new MemoryEventStore({ maxEvents: 3 }) });
    const began = once(probe, 'began');
    const lost = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
    const id = ((await lost.message()).id as string).replace(/-\d+$/, '');
    await began;
    await lost.cancel();
    for (const step of [2, 3, 4, 5]) probe.contexts[0]?.progress(step);
    expect(await refused(url, session, `${id}-6`)).toBe(400);
    const back = await resume(url, session, `${id}-1`);
    probe.emit('go');
    const progress = [3, 4, 5].map((step) => ({ params: { progress: step } }));
    expect(messages(await back.rest())).toMatchObject([...progress, LET_GO]);
  });

  it('gets new messages even if its GET stream was given up for others (#22)', async () => {
    const { url, server, session } = await serveSession({ limits: { maxStreams: 1 } });
    const lost = await getStream(url, session);
    server.notify.toolsChanged();
    const { id } = await lost.message();
    await lost.cancel();
    let other = await fetch(url, { headers: { ...session, accept: 'text/event-stream' } });
    while (other.status !== 200) other = await fetch(url, { headers: { ...session, accept: 'text/event-stream' } });
    await other.body?.cancel();
    let back = await fetch(url, { headers: { ...session, 'last-event-id': id as string } });
    while (back.status !== 200) back = await fetch(url, { headers: { ...session, 'last-event-id': id as string } });
    server.notify.promptsChanged();
    const { message } = await new EventReader(back).message();
    expect(message?.method).toBe('notifications/prompts/list_changed');
  });

  it('gets nothing with an event id of another session or an unknown one [RESUME-05]', async () => {
    const { url } = await serve();
    const [alice, bob] = [await openSession(url), await openSession(url)];
    const hers = await new EventReader(await post(url, call(1, 'steps', {}, TOKEN), alice)).rest();
    const id = hers[0]?.id as string;
    expect(await refused(url, bob, id)).toBe(400);
    for (const made of [
      '',
      '1',
      'x-1',
      `${id}x`,
      id.replace(/^p/, 'q'),
      `${id.slice(0, -2)}-99999999999`,
      '__proto__-0',
    ]) {
      expect([made, await refused(url, bob, made)]).toEqual([made, 400]);
    }
    const listening = await getStream(url, alice);
    const { id: listeningId } = (await listening.next()) as ServerEvent;
    expect(await refused(url, bob, listeningId as string)).toBe(400);
    expect(await refused(url, bob, 'gaaaaaaaa-1')).toBe(400);
  });
});

describe('an EventStore', () => {
  /** Responds with the delay of a remote store. */
  class SlowStore implements EventStore {
    private readonly memory = new MemoryEventStore();
    reading: (() => void) | undefined;

    /** @param late whether a read includes events appended in the meantime */
    constructor(private readonly late: boolean) {}

    async append(key: string, event: StoredEvent): Promise<void> {
      await turn();
      this.memory.append(key, event);
    }

    async read(key: string, after: number): Promise<readonly StoredEvent[] | undefined> {
      const events = this.memory.read(key, after);
      this.reading?.();
      for (let n = 0; n < 4; n++) await turn();
      return this.late ? this.memory.read(key, after) : events;
    }
  }

  it.each([true, false])(
    'may be slow: what is sent while it is read comes once and in order (late: %s)',
    async (late) => {
      const events = new SlowStore(late);
      const { url, probe, session } = await serveSession({ events });
      const lost = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
      const { id } = (await lost.next()) as ServerEvent;
      await lost.cancel();
      const context = probe.contexts[0];
      for (const step of [2, 3]) context?.progress(step);
      events.reading = () => {
        for (const step of [4, 5]) context?.progress(step);
        void turn().then(() => context?.progress(6));
        events.reading = undefined;
      };
      const back = await resume(url, session, id);
      probe.emit('go');
      const got = messages(await back.rest());
      expect(got.slice(0, -1).map(({ params }) => params?.['progress'])).toEqual([1, 2, 3, 4, 5, 6]);
      expect(got.at(-1)).toMatchObject(LET_GO);
    },
  );

  it.each([
    ['first', [0, 1]],
    ['last', [1, 0]],
  ])('may be slow: two concurrent readers get no gaps (the first is answered %s)', async (_order, order) => {
    const memory = new MemoryEventStore();
    const reads = new EventEmitter();
    const answers: (() => void)[] = [];
    const read = async (key: string, after: number) => {
      const events = memory.read(key, after);
      // the reader that goes on may read again
      if (answers.length === order.length) return events;
      const answered = new Promise<void>((resolve) => answers.push(resolve));
      reads.emit('read');
      await answered;
      return events;
    };
    const { url, probe, session } = await serveSession({
      events: { append: (key, event) => memory.append(key, event), read },
    });
    const lost = new EventReader(await post(url, call(9, 'stream', {}, TOKEN), session));
    const { id } = (await lost.next()) as ServerEvent;
    await lost.cancel();
    const readers: Promise<EventReader>[] = [];
    for (const step of [2, 3]) {
      const began = once(reads, 'read');
      readers.push(resume(url, session, id));
      await began;
      probe.contexts[0]?.progress(step);
    }
    for (const which of order) {
      answers[which]?.();
      await readers[which];
    }
    probe.emit('go');
    const [first = [], second = []] = await Promise.all(
      readers.map(async (back) => messages(await (await back).rest())),
    );
    expect(first).toEqual([]);
    expect(second.slice(0, -1).map(({ params }) => params?.['progress'])).toEqual([1, 2, 3]);
    expect(second.at(-1)).toMatchObject(LET_GO);
  });

  it('may fail: the live stream goes on, and a reconnect is answered with 503', async () => {
    const broken: EventStore = {
      append: async () => {
        throw new Error('no store');
      },
      read: () => {
        throw new Error('no store');
      },
    };
    const { url, errors, session } = await serveSession({ events: broken });
    const events = await new EventReader(await post(url, call(1, 'steps', {}, TOKEN), session)).rest();
    expect(messages(events)).toHaveLength(4);
    const response = await fetch(url, {
      headers: { ...session, accept: 'text/event-stream', 'last-event-id': events[0]?.id as string },
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
    expect((await json(response)).error?.message).toBe('The server cannot reach its data. Try again later.');
    expect(errors).toHaveLength(5);
  });
});

describe('an EventStore that answers too late', () => {
  it.each(['p', 'g'])('costs the client a 503, and nothing more when it does answer (%s) (#22)', async (kind) => {
    const reads = new EventEmitter();
    const read = async () => {
      const go = once(reads, 'go');
      reads.emit('read');
      await go;
      return [];
    };
    const { url, errors, session } = await serveSession({ events: { append() {}, read }, keepAliveMs: 10 });
    const headers = { ...session, accept: 'text/event-stream', 'last-event-id': `${kind}${'0'.repeat(8)}-0` };
    const response = await fetch(url, { headers });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
    await response.text();
    reads.emit('go');
    expect((await post(url, request(1, 'ping'), session)).status).toBe(200);
    expect(errors).toEqual([new Error('events.read does not answer.')]);
  });
});
