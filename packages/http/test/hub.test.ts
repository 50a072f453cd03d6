// Nodes and a hub in one process, over channels that can hang. test/cluster runs them in processes.
import { setImmediate as turn } from 'node:timers/promises';

import type { Change } from '@decorum/core';
import type { KeptSession, Letter } from '@decorum/http';
import { clusterHub } from '@decorum/http/cluster';
import { describe, expect, it, jest } from '@jest/globals';

import type { Channel } from '../src/hub/channel.js';
import { Hub } from '../src/hub/hub.js';
import type { NodeClient } from '../src/hub/node-client.js';
import { nodeCluster } from '../src/hub/node-cluster.js';
import { Machine } from './hub-machine.js';

const record = (id: string, more: object = {}): KeptSession =>
  ({ id, revision: '2025-06-18', subscriptions: [], usedAt: 0, version: 1, ...more }) as unknown as KeptSession;
const ended: Letter = { session: 'a', kind: 'ended' };
const TTL_MS = 60_000;

describe('the hub', () => {
  it('stores the records of one server name for all of its nodes', async () => {
    const machine = new Machine();
    const [one, two, other] = [await machine.start(), await machine.start(), await machine.start('office')];
    await one.cluster.sessions.set(record('a'), TTL_MS);
    expect(await two.cluster.sessions.get('a')).toEqual(record('a'));
    expect(await other.cluster.sessions.get('a')).toBeUndefined();
    expect(await two.cluster.sessions.set(record('a', { version: 2 }), TTL_MS, 1)).toBe(true);
    expect(await one.cluster.sessions.set(record('a', { version: 2 }), TTL_MS, 1)).toBe(false);
    await one.cluster.sessions.delete('a');
    expect(await two.cluster.sessions.get('a')).toBeUndefined();
  });

  it('stores events, all of which can be read without a limit', async () => {
    const machine = new Machine();
    const [one, two] = [await machine.start(), await machine.start()];
    await one.cluster.events.append('a/g1', { sequence: 1, frame: '{"n":1}' });
    await one.cluster.events.appendBatch?.('a/g1', { first: 2, count: 1, text: 'data: {"n":2}\n\n' });
    const both = [
      { sequence: 1, frame: '{"n":1}' },
      { sequence: 2, frame: '{"n":2}' },
    ];
    expect(await two.cluster.events.read('a/g1', 0)).toEqual(both);
    expect(await two.cluster.events.read('a/g1', 0, Number.POSITIVE_INFINITY)).toEqual(both);
    expect(await two.cluster.events.read('a/g1', 0, 1)).toEqual(both.slice(0, 1));
    expect(await two.cluster.events.read('a/g2', 0)).toBeUndefined();
  });

  it('refuses a second server at one node, and goes on serving the first', async () => {
    const { cluster } = await new Machine().start();
    const office = { name: 'office', seal: (text: string) => text, open: (text: string) => text, report() {} };
    const taken = '`cluster` serves another server already, "shop". Call clusterHub() once for each server';
    expect(() => cluster.open?.(office)).toThrow(taken);
    // as the refused server does
    await cluster.close?.();
    expect(await cluster.sessions.get('a')).toBeUndefined();
    await cluster.close?.();
    await expect(cluster.sessions.get('a')).rejects.toThrow('is closed');
  });

  it('lets one of two nodes claim an id', async () => {
    const machine = new Machine();
    const [one, two] = [await machine.start(), await machine.start()];
    const claims = await Promise.all([one, two].map(({ cluster }) => cluster.singleUse.claim('state', TTL_MS)));
    expect(claims.toSorted()).toEqual([false, true]);
  });

  it('passes on the error of a full store', async () => {
    const machine = new Machine();
    Object.assign(machine, { hub: new Hub({ singleUse: { maxIds: 1 } }) });
    const { cluster } = await machine.start();
    await cluster.singleUse.claim('first', TTL_MS);
    await expect(async () => await cluster.singleUse.claim('second', TTL_MS)).rejects.toMatchObject({
      kind: 'too-many-requests',
    });
  });

  it('tells all nodes of a change, the publisher first', async () => {
    const machine = new Machine();
    const nodes = [await machine.start(), await machine.start(), await machine.start(), await machine.start('office')];
    const heard: [number, Change][] = [];
    nodes.forEach(({ cluster }, at) => void cluster.bus.subscribe((change) => heard.push([at, change])));
    const change: Change = { kind: 'resource', uri: 'note://1' };
    await nodes[1]!.cluster.bus.publish(change);
    expect(heard).toEqual([[1, change]]);
    await nodes[1]!.cluster.ping?.();
    await nodes[0]!.cluster.ping?.();
    await nodes[2]!.cluster.ping?.();
    expect(heard.toSorted()).toEqual([0, 1, 2].map((at) => [at, change]));
  });

  it('delivers what a node sends in order, changes and letters alike', async () => {
    const machine = new Machine();
    const [one, two] = [await machine.start(), await machine.start()];
    const seen: string[] = [];
    void two.cluster.bus.subscribe((change) => seen.push(change.kind));
    void two.cluster.courier.receive(({ kind }) => seen.push(kind) > 0);
    const { bus, courier } = one.cluster;
    const sent = courier.send(ended, two.cluster.courier.node);
    void bus.publish({ kind: 'lists', lists: ['tools'] });
    await Promise.all([sent, courier.send({ session: 'a', kind: 'adopted', stream: 'g1' })]);
    expect(seen).toEqual(['ended', 'lists', 'adopted']);
  });

  it('sends all messages of a turn as one batch', async () => {
    const machine = new Machine();
    const { cluster } = await machine.start();
    machine.batches = 0;
    await Promise.all(['a', 'b', 'c'].map((id) => cluster.sessions.get(id)));
    expect(machine.batches).toBe(1);
  });
});

describe('letters over the hub', () => {
  it('are taken if one of the other nodes takes them', async () => {
    const machine = new Machine();
    const [one, two, three] = [await machine.start(), await machine.start(), await machine.start()];
    const refuse = jest.fn(() => false);
    void one.cluster.courier.receive(refuse);
    void two.cluster.courier.receive(async () => false);
    const stop = await three.cluster.courier.receive(async () => true);
    expect(await one.cluster.courier.send(ended)).toBe(true);
    expect(await one.cluster.courier.send(ended, three.cluster.courier.node)).toBe(true);
    expect(await one.cluster.courier.send(ended, two.cluster.courier.node)).toBe(false);
    stop();
    expect(await one.cluster.courier.send(ended)).toBe(false);
    expect(refuse).not.toHaveBeenCalled();
  });

  it('to a node that has ended are not taken, whether it ended before or while they waited', async () => {
    const machine = new Machine();
    const [one, two] = [await machine.start(), await machine.start()];
    void two.cluster.courier.receive(() => new Promise(() => {}));
    const { courier } = one.cluster;
    const waiting = [courier.send(ended, two.cluster.courier.node), courier.send(ended)];
    await one.cluster.ping?.();
    machine.kill(two);
    expect(await Promise.all(waiting)).toEqual([false, false]);
    expect(await courier.send(ended, two.cluster.courier.node)).toBe(false);
    expect(await courier.send(ended)).toBe(false);
  });

  it('to a closed server are not taken', async () => {
    const machine = new Machine();
    const [one, two] = [await machine.start(), await machine.start()];
    void two.cluster.courier.receive(() => true);
    await two.cluster.close?.();
    await turn();
    await turn();
    expect(await one.cluster.courier.send(ended, two.cluster.courier.node)).toBe(false);
    await expect(async () => await two.cluster.sessions.get('a')).rejects.toThrow('is closed');
  });

  it('that nobody needs to take arrive before what is sent later, even if a node hangs', async () => {
    const machine = new Machine();
    const [one, two, three] = [await machine.start(), await machine.start(), await machine.start()];
    const seen: string[] = [];
    void two.cluster.courier.receive(({ kind }) => seen.push(kind) > 0);
    void two.cluster.bus.subscribe(({ kind }) => seen.push(kind));
    three.hang();
    await one.cluster.courier.tell?.(ended);
    void one.cluster.bus.publish({ kind: 'lists', lists: ['tools'] });
    while (seen.length < 2) await turn();
    expect(seen).toEqual(['ended', 'lists']);
  });

  it('fail if the receiver fails', async () => {
    const machine = new Machine();
    const [one, two] = [await machine.start(), await machine.start()];
    void two.cluster.courier.receive(() => {
      throw new Error('Out of order.');
    });
    await expect(async () => await one.cluster.courier.send(ended)).rejects.toThrow('Out of order.');
  });
});

describe('a node that hangs', () => {
  it('costs bounded memory, and learns later that it has missed changes', async () => {
    const machine = new Machine();
    const [one, two] = [await machine.start(), await machine.start()];
    const heard: Change[] = [];
    void two.cluster.bus.subscribe((change) => heard.push(change));
    two.hang();
    // more than the hub keeps for a node, in batches that the hub itself keeps up with
    for (let batch = 0; batch < 12; batch += 1) {
      for (let count = 0; count < 1000; count += 1) void one.cluster.bus.publish({ kind: 'lists', lists: ['tools'] });
      await one.cluster.ping?.();
    }
    await expect(async () => await one.cluster.courier.send(ended)).rejects.toThrow('does not keep up');
    two.wake();
    while (!heard.some(({ kind }) => kind === 'missed')) await turn();
    expect(heard.length).toBeGreaterThan(10_000);
    expect(heard.length).toBeLessThan(12_000);
    expect(heard.at(-1)).toEqual({ kind: 'missed' });
    expect(await two.cluster.sessions.get('a')).toBeUndefined();
  });
});

describe('a connection to the hub that ends', () => {
  it('fails the calls that wait, and all later ones', async () => {
    const nodes = new Map<string, NodeClient>();
    const silent: Channel = { send: (_envelope, done) => done() };
    const { open, sessions, courier } = nodeCluster(silent, nodes);
    const opened = Promise.resolve(open?.({ name: 'shop', seal: String, open: String, report() {} }));
    const calls = [opened, sessions.get('a'), courier.send(ended)];
    nodes.get(courier.node)?.lost();
    for (const call of calls) await expect(call).rejects.toThrow('The connection to the primary process is closed.');
    await expect(async () => await sessions.get('a')).rejects.toThrow('is closed');
  });

  it('is noticed when nothing can be sent', async () => {
    const broken: Channel = { send: (_envelope, done) => done(new Error('EPIPE')) };
    const { open } = nodeCluster(broken, new Map());
    const opened = async () => await open?.({ name: 'shop', seal: String, open: String, report() {} });
    await expect(opened).rejects.toThrow('The connection to the primary process is closed.');
  });
});

it('clusterHub shares the memory of one process among its own servers', async () => {
  const [one, two] = [clusterHub(), clusterHub()];
  for (const each of [one, two]) await each.open?.({ name: 'solo', seal: String, open: String, report() {} });
  await one.sessions.set(record('a'), TTL_MS);
  expect(await two.sessions.get('a')).toEqual(record('a'));
  expect(one.courier.node).not.toBe(two.courier.node);
});
