// Streams of sessions over `listen`: their event ids, what resumes them, and what a GET gets.
import { once } from 'node:events';

import { describe, expect } from '@jest/globals';
import { type ListenOptions, MemoryEventStore, MemorySessionStore } from '@decorum/http';

import { stopClock } from '../../packages/http/test/clock.js';
import { EventReader, type ServerEvent } from '../../packages/http/test/events.js';
import { serve } from '../../packages/http/test/fixture.js';
import { eachSessionRevision, type SessionRevision } from '../support/requirements.js';
import { carried, HttpClient, initialize, TOKEN } from '../support/http-client.js';

const UPDATED = 'notifications/resources/updated';
const CHANGED = 'notifications/tools/list_changed';
const LET_GO = { result: { content: [{ text: 'let go' }] } };

/** Connects a client that is subscribed to a resource. */
async function connect(revision: SessionRevision, options: ListenOptions = {}) {
  const served = await serve(options);
  const client = await HttpClient.open(served.url, revision, options.principal ? { 'x-user': 'ann' } : {});
  await (await client.post(client.buildMessage(0, 'resources/subscribe', { uri: 'docs://guide' }))).text();
  return { ...served, client, update: () => served.server.notify.resourceUpdated('docs://guide') };
}

const idsOf = (events: readonly ServerEvent[]) => events.map(({ id }) => id as string);

/** Reads the events of a stream up to the next message. */
async function untilMessage(reader: EventReader): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for (let event = await reader.next(); event !== undefined; event = await reader.next()) {
    events.push(event);
    if (event.message) return events;
  }
  throw new Error('The stream ended before the next message.');
}

describe('the id of an event', () => {
  eachSessionRevision('RESUME-01', 'is sent with each event, unless there is no event store', async (revision) => {
    const { client, update } = await connect(revision);
    const listening = await client.listen();
    update();
    const events = [...(await (await client.stream(1, 'steps')).rest()), ...(await untilMessage(listening))];
    const replayed = await (await client.listen(events[0]?.id)).rest();
    expect(carried(replayed)).toContain(1);
    for (const { id } of [...events, ...replayed]) expect(id).toMatch(/^[\x21-\x7e]+$/);
    const { client: other } = await connect(revision, { events: false });
    for (const event of await (await other.stream(1, 'steps')).rest()) expect(event).not.toHaveProperty('id');
  });

  eachSessionRevision('RESUME-02', 'is unique across streams and reconnects', async (revision) => {
    const { client, url, update } = await connect(revision);
    const other = await HttpClient.open(url, revision);
    const listening = await client.listen();
    const first: ServerEvent[] = [];
    for (let count = 0; count < 3; count += 1) {
      update();
      first.push(...(await untilMessage(listening)));
    }
    await listening.cancel();
    // gets the updates once the server has noticed that the other stream is lost
    const second = await client.listen();
    const heard: ServerEvent[] = [];
    const hearing = untilMessage(second).then((events) => heard.push(...events));
    for (; heard.length === 0; await new Promise(setImmediate)) update();
    await hearing;
    const posted = await Promise.all(
      [client, client, client, other].map(async (each, id) => await (await each.stream(id, 'steps')).rest()),
    );
    const ids = [first, heard, ...posted].flatMap(idsOf);
    expect(ids.length).toBeGreaterThanOrEqual(18);
    expect(new Set(ids).size).toBe(ids.length);
    // replayed events keep their ids; later events have new ones
    const [lost] = posted as [ServerEvent[]];
    const replayed = idsOf((await (await client.listen(lost[0]?.id)).rest()).filter(({ message }) => message));
    expect(replayed).toEqual(idsOf(lost.slice(1)));
    const back = await client.listen(first.at(-1)?.id);
    update();
    const later = (await untilMessage(back)).at(-1)?.id as string;
    expect(ids).not.toContain(later);
  });

  eachSessionRevision('RESUME-02', 'is unique in a session with many streams', async (revision) => {
    const { client } = await connect(revision);
    const streams = Array.from({ length: 60 }, async (_, id) => await (await client.stream(id, 'steps')).rest());
    const all = (await Promise.all(streams)).map(idsOf);
    expect(all.flat().length).toBeGreaterThanOrEqual(240);
    expect(new Set(all.flat()).size).toBe(all.flat().length);
  });

  eachSessionRevision('RESUME-02', 'is unique in a session that several processes serve', async (revision) => {
    const [sessionStore, events] = [new MemorySessionStore(), new MemoryEventStore()];
    const [one, other] = [await serve({ sessionStore, events }), await serve({ sessionStore, events })];
    const client = await HttpClient.open(one.url, revision);
    const ids: string[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (const each of [client, client.at(other.url)]) {
        ids.push(...idsOf(await (await each.stream(round, 'steps')).rest()));
        const listening = await each.listen();
        for (const { server } of [one, other]) server.notify.toolsChanged();
        ids.push(...idsOf(await untilMessage(listening)));
        await listening.cancel();
      }
    }
    expect(ids.length).toBeGreaterThanOrEqual(30);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('a stream', () => {
  eachSessionRevision('RESUME-04', 'continues at any position, however long it is', async (revision) => {
    const { client, probe } = await connect(revision);
    const began = once(probe, 'began');
    const lost = await client.stream('long', 'stream');
    const { id = '' } = await lost.message();
    await began;
    await lost.cancel();
    const last = 1100;
    for (let step = 2; step <= last; step += 1) probe.contexts[0]?.progress(step);
    probe.emit('go');
    for (const at of [9, 10, 99, 100, 999, 1000]) {
      const rest = carried(await (await client.listen(id.replace(/\d+$/, String(at)))).rest());
      expect([rest[0], rest.length, rest.at(-1)]).toEqual([at + 1, last - at + 1, 'long']);
    }
  });

  eachSessionRevision(['RESUME-03', 'RESUME-05'], 'is resumed without messages of other streams', async (revision) => {
    const { client, url, update, server, probe } = await connect(revision);
    const other = await HttpClient.open(url, revision);
    const listening = await client.listen();
    update();
    const [heard] = (await untilMessage(listening)).slice(-1);
    const began = once(probe, 'began');
    const running = await client.stream('runs', 'stream', { meta: { progressToken: 'runs' } });
    const first = await running.message();
    await began;
    await running.cancel();
    await listening.cancel();
    const [a, b] = [await (await client.stream('a', 'steps')).rest(), await (await client.stream('b', 'steps')).rest()];
    await (await other.stream('other', 'steps')).rest();
    probe.contexts[0]?.progress(2);
    update();
    expect(carried(await (await client.listen(a[0]?.id)).rest())).toEqual(carried(a.slice(1)));
    expect(carried(await (await client.listen(b[0]?.id)).rest())).toEqual(carried(b.slice(1)));
    const resumed = await client.listen(first.id);
    expect(carried([await resumed.message()])).toEqual([2]);
    probe.emit('go');
    expect(carried(await resumed.rest())).toEqual(['runs']);
    const back = await client.listen(heard?.id);
    expect((await back.message()).message?.method).toBe(UPDATED);
    server.notify.toolsChanged();
    expect((await back.message()).message?.method).toBe(CHANGED);
    expect(await client.end()).toBe(204);
    expect(carried(await back.rest())).toEqual([]);
    // neither a stream of another session, nor one that never was, even if there is only one that it could be
    await (await other.listen()).cancel();
    const never = String(heard?.id).replace(/.-\d+$/, (last) => (last.startsWith('x') ? 'y-0' : 'x-0'));
    const known = String(a[0]?.id);
    const odd = ['', '1', 'x-1', `${known}x`, known.replace(/^p/, 'q'), `${known.slice(0, -2)}-99999999999`];
    for (const id of [known, String(heard?.id), never, ...odd, '__proto__-0', 'gaaaaaaaa-1']) {
      expect([id, (await other.get({ 'last-event-id': id })).status]).toEqual([id, 400]);
    }
  });

  eachSessionRevision('RESUME-07', 'starts with such an event, whatever has opened it', async (revision) => {
    const { client, url, probe } = await connect(revision, { keepAliveMs: 10 });
    const streamed = { accept: 'text/event-stream' };
    const posts = [
      // a stream that answers at once, with a result or an error
      client.post(client.buildMessage(1, 'tools/list'), streamed),
      client.post(client.buildMessage(2, 'no/method'), streamed),
      client.post(initialize(revision), { ...streamed, 'mcp-session-id': undefined }),
      // one that begins with a question, with progress, or with nothing but silence
      client.call(3, 'ask'),
      client.call(4, 'stream', { meta: TOKEN }),
      client.call(5, 'wait'),
      client.call(6, 'poll'),
    ];
    const readers = [];
    for (const posted of posts) readers.push(new EventReader(await posted));
    const other = await HttpClient.open(url, revision);
    readers.push(await client.listen(), await client.listen(), await other.listen());
    for (const [index, reader] of readers.entries()) {
      expect([index, await reader.next()]).toEqual([index, { id: expect.any(String), data: '' }]);
    }
    probe.emit('go');
  });

  eachSessionRevision('RESUME-09', 'sends a retry time each time it is closed', async (revision) => {
    const { client, server, probe } = await connect(revision);
    server.addTool({ name: 'poll-often', input: { type: 'object' } }, async (_input: object, context) => {
      for (const retryMs of [25, 30, 0]) {
        const go = once(probe, 'go');
        context.closeStream({ retryMs });
        await go;
      }
      return 'let go';
    });
    let events = await (await client.stream(9, 'poll-often')).rest();
    const last = () => events.findLast(({ id }) => id !== undefined)?.id as string;
    for (const retry of ['25', '30', '0']) {
      expect(events.at(-1)).toEqual({ retry });
      if (retry === '0') break;
      const back = await client.listen(last());
      probe.emit('go');
      events = await back.rest();
    }
    const again = await client.listen(last());
    probe.emit('go');
    expect((await again.message()).message).toMatchObject({ id: 9, ...LET_GO });
  });

  eachSessionRevision('RESUME-10', 'has no event without data', async (revision) => {
    const { client, update } = await connect(revision);
    const listening = await client.listen();
    update();
    const began = await untilMessage(listening);
    const events = await (await client.stream(1, 'steps')).rest();
    const again = await (await client.listen(events[0]?.id)).rest();
    for (const { data } of [...began, ...events, ...again]) expect(data).toMatch(/^\{/);
  });

  eachSessionRevision(
    'RESUME-11',
    'is stored only for its own session and user, and for a limited time',
    async (revision) => {
      const principal: ListenOptions['principal'] = ({ headers }) => ({ subject: String(headers['x-user']) });
      const { client, url } = await connect(revision, { principal, events: new MemoryEventStore({ maxEvents: 6 }) });
      const first = await (await client.stream(1, 'steps')).rest();
      const from = { 'last-event-id': first[0]?.id as string };
      const strangers = [{ 'x-user': 'bob' }, { 'x-user': 'ann', 'mcp-session-id': 'bogus' }];
      for (const stranger of strangers) expect((await client.get({ ...from, ...stranger })).status).toBe(404);
      const other = await HttpClient.open(url, revision, { 'x-user': 'ann' });
      expect((await other.get(from)).status).toBe(400);
      expect(carried(await (await client.listen(first[0]?.id)).rest())).toEqual(carried(first.slice(1)));
      await (await client.stream(2, 'steps')).rest();
      expect((await client.get(from)).status).toBe(400);
      const pass = stopClock();
      const brief = await connect(revision, { events: new MemoryEventStore({ maxAgeMs: 1000 }) });
      const [event] = await (await brief.client.stream(1, 'steps')).rest();
      const statusOf = async () => (await brief.client.get({ 'last-event-id': String(event?.id) })).status;
      pass(1000);
      expect(await statusOf()).toBe(200);
      pass(1);
      expect(await statusOf()).toBe(400);
    },
  );
});

describe('the GET stream', () => {
  eachSessionRevision('HTTP-30', 'has no messages that belong to a request', async (revision) => {
    const { client, server, probe } = await connect(revision);
    const listening = await client.listen();
    const began = once(probe, 'began');
    const lost = new AbortController();
    const running = await client.stream('lost', 'stream', { signal: lost.signal });
    await began;
    expect(carried([await running.message()])).toEqual([1]);
    // not even without a reader for the stream of the request
    lost.abort();
    probe.contexts[0]?.progress(2);
    probe.contexts[0]?.log.error('unheard');
    void probe.contexts[0]?.ping().catch(() => {});
    expect(carried(await (await client.stream(5, 'steps')).rest())).toEqual([1, 2, 3, 5]);
    // nor once the server has noticed it
    for (let turn = 0; turn < 3; turn += 1) {
      expect(await client.status()).toBe(200);
      probe.contexts[0]?.progress(3 + turn);
      probe.contexts[0]?.log.error('unheard');
    }
    server.addTool({ name: 'reach', input: { type: 'object' } }, async (_input, context) => await context.ping());
    expect((await listening.message()).message?.method).toBe(CHANGED);
    const asking = await client.stream(6, 'reach');
    const { message: question } = await asking.message();
    expect(question).toMatchObject({ method: 'ping', id: expect.anything() });
    probe.emit('go');
    server.notify.toolsChanged();
    expect((await listening.message()).message?.method).toBe(CHANGED);
    expect(await client.end()).toBe(204);
    expect(carried(await listening.rest())).toEqual([]);
  });

  eachSessionRevision('HTTP-31', 'has no response to a request whose client has left', async (revision) => {
    const { client, server, probe } = await connect(revision);
    const listening = await client.listen();
    const began = once(probe, 'began');
    const leaving = new AbortController();
    client.call('left', 'wait', { signal: leaving.signal }).catch(() => {});
    await began;
    leaving.abort();
    // until the server has noticed it
    for (let turn = 0; turn < 3; turn += 1) expect(await client.status()).toBe(200);
    probe.emit('go');
    expect(await client.status()).toBe(200);
    server.notify.toolsChanged();
    expect((await listening.message()).message?.method).toBe(CHANGED);
    expect(await client.end()).toBe(204);
    expect(carried(await listening.rest())).toEqual([]);
  });
});

describe('a GET stream that was lost', () => {
  eachSessionRevision('HTTP-33', 'has none of the messages that another one has', async (revision) => {
    const { client, server, update } = await connect(revision);
    const lost = await client.listen();
    update();
    const { id } = await lost.message();
    await lost.cancel();
    const other = await client.listen();
    let sent = 0;
    const heard: ServerEvent[] = [];
    const hearing = other.message().then((event) => heard.push(event));
    // until the server has noticed that the first stream is lost
    for (; heard.length === 0; await new Promise(setImmediate)) {
      update();
      sent += 1;
    }
    await hearing;
    const back = await client.listen(id);
    server.notify.toolsChanged();
    let replayed = 0;
    while ((await back.message()).message?.method === UPDATED) replayed += 1;
    expect(await client.end()).toBe(204);
    const rest = [...carried(await other.rest()), ...carried(await back.rest())];
    // the other stream repeats what its reader has
    expect(replayed + heard.length + rest.length).toBe(sent);
  });
});
