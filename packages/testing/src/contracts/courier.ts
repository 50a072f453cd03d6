import { deepEqual, equal, match, notEqual } from 'node:assert/strict';

import type { Courier, Letter } from '@decorum/http';

import { Arrivals, type ContractRule, numbersTo, plain } from './rule.js';

/** Nodes that send each other letters. */
export interface CourierNodes {
  /** The courier of one more node. */
  node(): Courier | Promise<Courier>;
  /** Ends a node as if its process had been killed. */
  kill(courier: Courier): void | Promise<void>;
}

type Check = (nodes: CourierNodes) => Promise<void>;

const letter = (session: string): Letter => ({ kind: 'ended', session });

/** A node that collects its letters, and takes them or doesn't. */
async function receiver(nodes: CourierNodes, take: () => boolean | Promise<boolean> = () => true) {
  const courier = await nodes.node();
  const letters = new Arrivals<Letter>();
  const end = await courier.receive((each) => {
    letters.add(plain(each));
    return take();
  });
  return { courier, letters, end, node: courier.node };
}

/** What `send` returned, or `rejected`. */
async function outcome(sent: () => boolean | Promise<boolean>): Promise<boolean | 'rejected'> {
  try {
    return await sent();
  } catch {
    return 'rejected';
  }
}

const namesNodes: Check = async (nodes) => {
  const names = [await nodes.node(), await nodes.node(), await nodes.node()].map(({ node }) => node);
  equal(new Set(names).size, 3);
  for (const name of names) match(name, /^[A-Za-z0-9]{1,16}$/);
};

const bringsToOne: Check = async (nodes) => {
  const [sender, one, other] = [await receiver(nodes), await receiver(nodes), await receiver(nodes)];
  const letters: Letter[] = [
    { session: 'a', kind: 'message', message: { jsonrpc: '2.0', id: 's1', result: { text: 'ümlaut 日本 🎉 \u2028' } } },
    { session: 'a', kind: 'changed', record: { id: 'a', version: 2, createdAt: 1, usedAt: 1 } },
    { session: 'a', kind: 'ended' },
    { session: 'a', kind: 'adopted', stream: 'g00000000' },
    { session: 'a', kind: 'push', frame: `{"text":"${'x'.repeat(300_000)}"}` },
  ] as Letter[];
  for (const each of letters) equal(await sender.courier.send(each, one.node), true, each.kind);
  deepEqual(one.letters.all, letters);
  deepEqual([sender.letters.all, other.letters.all], [[], []]);
};

const bringsToAll: Check = async (nodes) => {
  const sender = await receiver(nodes);
  const others = [await receiver(nodes, () => false), await receiver(nodes), await receiver(nodes, () => false)];
  equal(await sender.courier.send(letter('a')), true);
  for (const { letters } of others) deepEqual(await letters.first(1), [letter('a')]);
  deepEqual(sender.letters.all, []);
};

const saysIfNobodyTakes: Check = async (nodes) => {
  const sender = await receiver(nodes);
  const others = [await receiver(nodes, () => false), await receiver(nodes, async () => false)];
  for (const { node } of others) equal(await sender.courier.send(letter('a'), node), false);
  equal(await sender.courier.send(letter('a')), false);
  for (const { letters } of others) deepEqual(letters.all, [letter('a'), letter('a')]);
  deepEqual(sender.letters.all, []);
};

const waitsForTakers: Check = async (nodes) => {
  const sender = await receiver(nodes);
  const one = await receiver(nodes, async () => await new Promise((resolve) => setImmediate(() => resolve(true))));
  equal(await sender.courier.send(letter('a'), one.node), true);
  equal(await sender.courier.send(letter('a')), true);
};

const knowsDeadNodes: Check = async (nodes) => {
  const [sender, dead, alive] = [await receiver(nodes), await receiver(nodes), await receiver(nodes)];
  equal(await sender.courier.send(letter('a'), dead.node), true);
  await nodes.kill(dead.courier);
  equal(await sender.courier.send(letter('b'), dead.node), false);
  equal(await sender.courier.send(letter('b'), 'neverwas'), false);
  equal(await sender.courier.send(letter('c'), alive.node), true);
  equal(await sender.courier.send(letter('d')), true);
  deepEqual(dead.letters.all, [letter('a')]);
  deepEqual(alive.letters.all, [letter('c'), letter('d')]);
};

const keepsOrder: Check = async (nodes) => {
  const [sender, one] = [await receiver(nodes), await receiver(nodes)];
  const letters = numbersTo(100).map((n) => letter(`${n}`));
  const sent = letters.map(async (each, at) => await sender.courier.send(each, at % 2 ? one.node : undefined));
  equal((await Promise.all(sent)).every(Boolean), true);
  deepEqual(one.letters.all, letters);
};

const survivesErrors: Check = async (nodes) => {
  const sender = await receiver(nodes);
  let fails = true;
  const fail = () => {
    if (fails) throw new Error('This receiver fails on purpose.');
    return true;
  };
  const others = [await receiver(nodes, fail), await receiver(nodes, async () => fail())];
  for (const { node } of others) notEqual(await outcome(() => sender.courier.send(letter('a'), node)), true);
  fails = false;
  for (const { node } of others) equal(await sender.courier.send(letter('b'), node), true);
};

const asksEveryReceiver: Check = async (nodes) => {
  const [sender, one] = [await receiver(nodes), await receiver(nodes, () => false)];
  const second = new Arrivals<Letter>();
  const end = await one.courier.receive((each) => {
    second.add(plain(each));
    return true;
  });
  equal(await sender.courier.send(letter('a'), one.node), true);
  deepEqual([one.letters.all, second.all], [[letter('a')], [letter('a')]]);
  end();
  equal(await sender.courier.send(letter('b'), one.node), false);
  deepEqual([one.letters.all.length, second.all.length], [2, 1]);
};

const stopsReceiving: Check = async (nodes) => {
  const [sender, one, other] = [await receiver(nodes), await receiver(nodes), await receiver(nodes)];
  one.end();
  notEqual(await outcome(() => sender.courier.send(letter('a'), one.node)), true);
  equal(await sender.courier.send(letter('b')), true);
  deepEqual(await other.letters.first(1), [letter('b')]);
  deepEqual(one.letters.all, []);
};

/** The rules for a `Courier`, each with what checks it. Give each check new nodes. */
export const courierContract: readonly ContractRule<[nodes: CourierNodes]>[] = [
  ['names each node with up to 16 letters and digits, unlike all others', namesNodes],
  ['brings a letter to the node that it is for, and to no other', bringsToOne],
  ['brings a letter without a node to all nodes but the sender', bringsToAll],
  ['says so if nobody takes a letter', saysIfNobodyTakes],
  ['waits until a receiver has decided', waitsForTakers],
  ['says so if a node is dead or never was', knowsDeadNodes],
  ['delivers the letters of one node in order', keepsOrder],
  ['says of no letter that it was taken if the receiver throws, and goes on', survivesErrors],
  ['asks every receiver of a node', asksEveryReceiver],
  ['brings no more letters to a receiver that has stopped', stopsReceiving],
];
