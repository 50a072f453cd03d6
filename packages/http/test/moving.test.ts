// Streams of a session that several processes serve: they go on in the process to which the client comes.
import { once } from 'node:events';
import { setImmediate } from 'node:timers';

import { describe, expect, it } from '@jest/globals';
import { clusterCounts } from '@decorum/core/plugin';
import type { Cluster, EventStore, ListenOptions } from '@decorum/http';

import { MemoryCluster } from '../../../test/support/memory-cluster.js';
import { EventReader, getStream, type ServerEvent } from './events.js';
import { serve, type Served } from './fixture.js';
import { call, type Fields, INITIALIZE, json, request, TOKEN } from './messages.js';
import { openSession, post, statusOf, statusOfGet } from './sending.js';

const GUIDE = { uri: 'docs://guide' };
const [TOOLS, PROMPTS, RESOURCES] = ['tools', 'prompts', 'resources'].map(
  (list) => `notifications/${list}/list_changed`,
);
const UPDATED = 'notifications/resources/updated';

interface Node extends Served {
  readonly parts: Cluster;
  readonly id: string;
}

/** A cluster with a node for each server. */
async function start(count: number, options: ListenOptions = {}) {
  const cluster = new MemoryCluster();
  const nodes: Node[] = [];
  for (let n = 0; n < count; n += 1) {
    const parts = cluster.node();
    const served = await serve(options, { secret: 'the same for all processes, 32 bytes', cluster: parts });
    nodes.push({ ...served, parts, id: parts.courier.node });
  }
  return { cluster, nodes: nodes as [Node, Node, ...Node[]] };
}

const resume = async ({ url }: Node, session: Fields, id: string | undefined) =>
  await getStream(url, { ...session, 'last-event-id': id as string });

/** The methods of the next messages. */
async function methods(reader: EventReader, count: number): Promise<unknown[]> {
  const found = [];
  for (let n = 0; n < count; n += 1) found.push((await reader.message()).message?.method);
  return found;
}

const positionOf = ({ id }: ServerEvent) => Number((id as string).replace(/^.*-/, ''));

describe('the ids of events', () => {
  it('name the process that sends them', async () => {
    const { nodes } = await start(2);
    const [one, other] = nodes;
    const session = await openSession(one.url);
    const stream = await getStream(one.url, session);
    const primed = (await stream.next()) as ServerEvent;
    expect(primed.id).toMatch(new RegExp(`^g[\\w-]{8}\\.${one.id}-0$`));
    const again = await resume(other, session, primed.id);
    expect((await again.next())?.id).toBe(primed.id?.replace(one.id, other.id));
    const [first] = await new EventReader(await post(other.url, call(1, 'steps', {}, TOKEN), session)).rest();
    expect(first?.id).toMatch(new RegExp(`^p[\\w-]{8}\\.${other.id}-0$`));
  });

  it('name no process if nobody can be asked', async () => {
    const { url } = await serve();
    const stream = await getStream(url, await openSession(url));
    expect((await stream.next())?.id).toMatch(/^g[\w-]{8}-0$/);
  });
});

describe('a GET stream that moves to another process', () => {
  it('ends in the old one, and goes on in the same log', async () => {
    const { nodes } = await start(2);
    const [one, other] = nodes;
    const session = await openSession(one.url);
    await statusOf(one.url, session, request(1, 'resources/subscribe', GUIDE));
    const stream = await getStream(one.url, session);
    one.server.notify.resourceUpdated('docs://guide');
    const first = await stream.message();
    const again = await resume(other, session, first.id);
    expect((await stream.rest()).map(({ retry, message }) => [retry, message])).toEqual([['1000', undefined]]);
    one.server.notify.resourceUpdated('docs://guide');
    const second = await again.message();
    expect([second.message?.method, positionOf(second)]).toEqual([UPDATED, 2]);
    // and back
    const third = await resume(one, session, first.id);
    other.server.notify.toolsChanged();
    const events = [await third.message(), await third.message()];
    expect(events.map(({ message }) => message?.method)).toEqual([UPDATED, TOOLS]);
    expect(events.map(positionOf)).toEqual([2, 3]);
    expect([one, other].map(({ server }) => clusterCounts(server).adopted)).toEqual([1, 1]);
  });

  it('tells its client that everything may have changed if the old process is dead', async () => {
    const { cluster, nodes } = await start(2);
    const [one, other] = nodes;
    const session = await openSession(one.url);
    await statusOf(one.url, session, request(1, 'resources/subscribe', GUIDE));
    const stream = await getStream(one.url, session);
    const primed = await stream.next();
    cluster.kill(one.parts);
    const again = await resume(other, session, primed?.id);
    expect(await methods(again, 4)).toEqual([TOOLS, PROMPTS, RESOURCES, UPDATED]);
  });

  it('waits for a process that is alive but does not answer: the client gets a 503', async () => {
    const { nodes } = await start(2);
    const [one, other] = nodes;
    const session = await openSession(one.url);
    const { id } = (await (await getStream(one.url, session)).next()) as { id: string };
    const { send } = other.parts.courier;
    Object.assign(other.parts.courier, { send: () => Promise.reject(new Error('no answer')) });
    expect(await statusOfGet(other.url, { ...session, 'last-event-id': id })).toBe(503);
    Object.assign(other.parts.courier, { send });
    const again = await resume(other, session, id);
    one.server.notify.toolsChanged();
    expect(await methods(again, 1)).toEqual([TOOLS]);
  });

  it('gets the changes that happen while it moves', async () => {
    const { nodes } = await start(2);
    const [one, other] = nodes;
    const session = await openSession(one.url);
    const { id } = (await (await getStream(one.url, session)).next()) as { id: string };
    const { events } = other.parts;
    const read = events.read.bind(events);
    let reads = 0;
    Object.assign(events, {
      read: async (...asked: Parameters<typeof read>) => {
        reads += 1;
        one.server.notify.promptsChanged();
        // changes are announced a moment later
        await new Promise((resolve) => setTimeout(resolve, 20));
        return await read(...asked);
      },
    });
    const again = await resume(other, session, id);
    expect(await methods(again, 1)).toEqual([PROMPTS]);
    expect(reads).toBeGreaterThan(0);
  });

  it('of which the client invents the id is one of its own session', async () => {
    const { cluster, nodes } = await start(2);
    const [one, other] = nodes;
    const [session, theirs] = [await openSession(one.url), await openSession(one.url)];
    const stream = await getStream(one.url, theirs);
    const { id } = (await stream.next()) as { id: string };
    const again = await resume(other, session, id);
    expect(cluster.letters.map(({ letter }) => letter.kind)).toContain('adopted');
    one.server.notify.toolsChanged();
    expect(await methods(stream, 1)).toEqual([TOOLS]);
    expect((await again.message()).message?.method).toBe(TOOLS);
    for (const bad of ['x', `${id.slice(0, 9)}.${'n'.repeat(17)}-0`, `${id.slice(0, 9)}.-0`]) {
      expect(await statusOfGet(other.url, { ...session, 'last-event-id': bad })).toBe(400);
    }
  });
});

describe('two processes that have the same GET stream', () => {
  it('lose no change, and the one without a reader gives it up', async () => {
    const { cluster, nodes } = await start(2);
    const [one, other] = nodes;
    const session = await openSession(one.url);
    const stream = await getStream(one.url, session);
    const { id } = (await stream.next()) as { id: string };
    // nobody can tell the first one, but it isn't dead
    const { send } = other.parts.courier;
    Object.assign(other.parts.courier, { send: async () => false });
    const again = await resume(other, session, id);
    await methods(again, 3);
    Object.assign(other.parts.courier, { send });
    // each has sent events that the other one doesn't know
    one.server.notify.toolsChanged();
    const [here, there] = [await stream.message(), await again.message()];
    expect([here, there].map(({ message }) => message?.method)).toEqual([TOOLS, TOOLS]);
    await stream.cancel();
    while (clusterCounts(one.server).conflicts === 0) {
      one.server.notify.promptsChanged();
      await again.message();
    }
    expect(cluster.letters).not.toHaveLength(0);
  });

  it('send the events of the other one, too, to a reader', async () => {
    const { cluster, nodes } = await start(1);
    const [one] = nodes;
    const session = await openSession(one.url);
    const stream = await getStream(one.url, session);
    const { id } = (await stream.next()) as { id: string };
    const key = `${session['mcp-session-id']}/${id.slice(0, 9)}`;
    const frame = (n: number) => JSON.stringify({ jsonrpc: '2.0', method: 'elsewhere', params: { n } });
    for (const n of [1, 2]) cluster.events.append(key, { sequence: n, frame: frame(n) });
    one.server.notify.toolsChanged();
    const events = [];
    for (let n = 0; n < 4; n += 1) events.push(await stream.message());
    expect(events.map((event) => [positionOf(event), event.message?.method])).toEqual([
      [1, TOOLS],
      [1, 'elsewhere'],
      [2, 'elsewhere'],
      [3, TOOLS],
    ]);
    one.server.notify.promptsChanged();
    expect(positionOf(await stream.message())).toBe(4);
    expect(clusterCounts(one.server).conflicts).toBe(1);
  });
});

describe('a session of HTTP+SSE', () => {
  it('is served only by the process that has its stream, and the others say so with 421', async () => {
    const { cluster, nodes } = await start(2, { legacySse: true });
    const [one, other] = nodes;
    const stream = await getStream(new URL('/sse', one.url).href, {});
    const { data } = (await stream.next()) as { data: string };
    const [here, there] = [one, other].map(({ url }) => new URL(data, new URL('/sse', url)).href) as [string, string];
    expect(await statusOf(here, {}, INITIALIZE)).toBe(202);
    const answer = await post(there, request(2, 'ping'));
    expect([answer.status, (await json(answer)).error?.message]).toEqual([
      421,
      expect.stringContaining('another server'),
    ]);
    cluster.kill(one.parts);
    expect(await statusOf(there)).toBe(421);
    const unknown = (url: string) => url.replace(/sessionId=./, '$&x');
    expect([await statusOf(unknown(here)), await statusOf(unknown(there))]).toEqual([404, 421]);
    expect(await statusOf(here.replace(/[^.]*$/, ''))).toBe(404);
  });
});

describe('the stream of a request that another process runs', () => {
  /** A client that polls for the response of a call. */
  async function poll() {
    const started = await start(2);
    const [one] = started.nodes;
    const session = await openSession(one.url);
    const began = once(one.probe, 'began');
    const [primed] = await new EventReader(await post(one.url, call(9, 'poll'), session)).rest();
    await began;
    const ask = async (node: Node) =>
      (await (await resume(node, session, primed?.id)).rest()).flatMap((e) => e.message ?? []);
    return { ...started, session, primed: primed as ServerEvent, ask };
  }

  it('is answered without events while it runs, and then with the response', async () => {
    const { nodes, ask } = await poll();
    const [one, other] = nodes;
    expect(await ask(other)).toEqual([]);
    one.probe.emit('go');
    let answers = await ask(other);
    while (answers.length === 0) answers = await ask(other);
    expect(answers).toMatchObject([{ id: 9, result: { content: [{ text: 'let go' }] } }]);
    expect(await ask(other)).toEqual(answers);
  });

  it('ends with an error if that process is dead', async () => {
    const { cluster, nodes, ask } = await poll();
    const [one, other] = nodes;
    cluster.kill(one.parts);
    const answers = await ask(other);
    expect(answers).toMatchObject([{ id: 9, error: { code: -32603 } }]);
    expect(JSON.stringify(answers)).toContain('the server process that ran it has ended');
  });

  it('has the events that were sent before that process died', async () => {
    const { cluster, nodes } = await start(2);
    const [one, other] = nodes;
    const session = await openSession(one.url);
    const stream = new EventReader(await post(one.url, call('nine', 'stream', {}, TOKEN), session));
    const { id } = await stream.message();
    cluster.kill(one.parts);
    for (const from of [id, id?.replace(/\d+$/, '0')]) {
      const events = await (await resume(other, session, from)).rest();
      const got = events.flatMap(({ message }) => message ?? []);
      expect(got.at(-1)).toMatchObject({ id: 'nine', error: {} });
      expect(got).toHaveLength(from === id ? 1 : 2);
    }
  });

  it('is answered without events if that process does not answer', async () => {
    const { nodes, ask } = await poll();
    const [, other] = nodes;
    Object.assign(other.parts.courier, { send: () => Promise.reject(new Error('no answer')) });
    expect(await ask(other)).toEqual([]);
  });

  it('is answered if it is stored just after another process has looked for it', async () => {
    const { nodes, ask } = await poll();
    const [one, other] = nodes;
    const { events } = other.parts;
    const { read } = events;
    const readTooEarly: EventStore['read'] = async (key) => {
      Object.assign(events, { read });
      one.probe.emit('go');
      while ((await read(key, 0))?.at(-1)?.frame.includes('let go') !== true) await new Promise(setImmediate);
      return undefined;
    };
    Object.assign(events, { read: readTooEarly });
    expect(await ask(other)).toMatchObject([{ id: 9, result: { content: [{ text: 'let go' }] } }]);
  });

  it('gets 400 if nobody knows it', async () => {
    const { nodes, session, primed } = await poll();
    const [one, other] = nodes;
    const unknown = (node: string) => `paaaaaaaa.${node}-0`;
    for (const id of [unknown(one.id), unknown(other.id), unknown('nobody'), 'paaaaaaaa-0']) {
      const answer = await fetch(other.url, {
        headers: { ...session, accept: 'text/event-stream', 'last-event-id': id },
      });
      expect([answer.status, (await json(answer)).error?.message]).toEqual([400, expect.stringContaining('no event')]);
    }
    expect(primed.id).toContain(one.id);
  });
});
