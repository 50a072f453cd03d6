import { deepEqual } from 'node:assert/strict';

import type { Change, ChangeBus } from '@decorum/core';

import { Arrivals, type ContractRule, numbersTo, plain } from './rule.js';

/** A bus as two processes see it. They may be the same object if the bus stays within one process. */
export interface SharedBus {
  readonly near: ChangeBus;
  readonly far: ChangeBus;
}

type Check = (bus: SharedBus) => Promise<void>;

const CHANGES: readonly Change[] = [
  { kind: 'lists', lists: ['tools', 'resources'] },
  { kind: 'resource', uri: 'docs://a/b?c=d', within: 'docs://a' },
  { kind: 'elicitation', id: '5f0c9f5e' },
  { kind: 'resource', uri: 'docs://ümlaut 日本 🎉' },
  { kind: 'extension', id: 'com.example/feature', data: { text: 'ü', list: [1, null, { a: true }] } },
];
const LAST: Change = { kind: 'elicitation', id: 'last' };

async function listen(bus: ChangeBus) {
  const heard = new Arrivals<Change>();
  const end = await bus.subscribe((change) => heard.add(plain(change)));
  return { heard, end };
}

const tellsEveryProcess: Check = async ({ near, far }) => {
  const listeners = [await listen(near), await listen(far), await listen(far)];
  for (const change of CHANGES) await near.publish(change);
  for (const { heard } of listeners) deepEqual(await heard.first(CHANGES.length), CHANGES);
  await far.publish(LAST);
  for (const { heard } of listeners) deepEqual(await heard.first(CHANGES.length + 1), [...CHANGES, LAST]);
};

const keepsOrder: Check = async ({ near, far }) => {
  const { heard } = await listen(far);
  const changes = numbersTo(100).map((n): Change => ({ kind: 'elicitation', id: `${n}` }));
  await Promise.all(changes.map(async (change) => await near.publish(change)));
  deepEqual(await heard.first(100), changes);
};

const endsSubscriptions: Check = async ({ near, far }) => {
  const [gone, here, there] = [await listen(far), await listen(near), await listen(far)];
  gone.end();
  await near.publish(LAST);
  for (const { heard } of [here, there]) deepEqual(await heard.first(1), [LAST]);
  deepEqual(gone.heard.all, []);
};

const replaysNothing: Check = async ({ near, far }) => {
  const early = await listen(far);
  await near.publish(CHANGES[0] as Change);
  await early.heard.first(1);
  const late = [await listen(far), await listen(near)];
  await near.publish(LAST);
  for (const { heard } of late) deepEqual(await heard.first(1), [LAST]);
};

/** The rules for a `ChangeBus`, each with what checks it. Give each check a new bus. */
export const changeBusContract: readonly ContractRule<[bus: SharedBus]>[] = [
  ['tells every subscriber of every process, that of the publisher too', tellsEveryProcess],
  ['delivers the changes of one process in order', keepsOrder],
  ['stops telling a subscriber that has unsubscribed, and no other', endsSubscriptions],
  ['tells a new subscriber no earlier changes', replaysNothing],
];
