import { deepEqual, equal } from 'node:assert/strict';

import type { EventStore } from '@decorum/http';

import { type ContractRule, numbersTo } from './rule.js';

type Check = (store: EventStore) => Promise<void>;

const KEY = 'session/p00000000';

const frameOf = (n: number, key = KEY) => `{"n":${n},"k":"${key}"}`;

/** Appends events 1 to `count` without waiting in between, like an endpoint. */
async function fill(store: EventStore, count: number, key = KEY): Promise<void> {
  const appended = numbersTo(count).map((n) => store.append(key, { sequence: n, frame: frameOf(n, key) }));
  await Promise.all(appended);
}

type Found = readonly (readonly [sequence: number, frame: string])[];

async function read(store: EventStore, after: number, key = KEY): Promise<Found | undefined> {
  const events = (await store.read(key, after)) ?? undefined;
  return events && [...events].map(({ sequence, frame }) => [sequence, frame] as const);
}

const eventsOf = (...sequences: number[]): Found => sequences.map((n) => [n, frameOf(n)]);

const returnsLaterEvents: Check = async (store) => {
  await fill(store, 20);
  deepEqual(await read(store, 17), eventsOf(18, 19, 20));
  deepEqual(await read(store, 0), eventsOf(...numbersTo(20)));
};

const distinguishesUnknownStreams: Check = async (store) => {
  await fill(store, 2);
  deepEqual(await read(store, 2), []);
  deepEqual(await read(store, 9), []);
  equal(await read(store, 0, 'session/p11111111'), undefined);
  equal(await read(store, -1, 'session/p11111111'), undefined);
};

const keepsStreamsApart: Check = async (store) => {
  await Promise.all([fill(store, 3, 's/a'), fill(store, 2, 't/a'), fill(store, 1, 's/ab')]);
  for (const [key, count] of [
    ['s/a', 3],
    ['t/a', 2],
    ['s/ab', 1],
  ] as const) {
    deepEqual(
      await read(store, 0, key),
      numbersTo(count).map((n) => [n, frameOf(n, key)]),
    );
  }
};

const keepsFrames: Check = async (store) => {
  const frames = ['{"text":"ümlaut \\u0000 \\n 🎉 \u2028","__proto__":1}', `{"text":"${'x'.repeat(300_000)}"}`, '7'];
  for (const [at, frame] of frames.entries()) await store.append(KEY, { sequence: at + 1, frame });
  deepEqual(
    await read(store, 0),
    frames.map((frame, at) => [at + 1, frame]),
  );
};

const storesBatches: Check = async (store) => {
  if (store.appendBatch === undefined) return;
  await fill(store, 2);
  // a priming event without data, and a message with a character that ends lines in some parsers
  const text = 'id: a-2\ndata: \n\nid: a-3\ndata: {"n":"\u2028data: 3"}\n\nid: a-4\ndata: {"n":4}\n\n';
  await store.appendBatch(KEY, { first: 3, count: 2, text });
  await store.append(KEY, { sequence: 5, frame: '{"n":5}' });
  const events = [
    [3, '{"n":"\u2028data: 3"}'],
    [4, '{"n":4}'],
    [5, '{"n":5}'],
  ];
  deepEqual(await read(store, 2), events);
  deepEqual(await read(store, 3), events.slice(1));
};

const readsInPieces: Check = async (store) => {
  await fill(store, 10);
  const found: number[] = [];
  while (found.length < 10) {
    const events = await store.read(KEY, found.length, 4);
    const sequences = [...(events ?? [])].map(({ sequence }) => sequence);
    equal(sequences.length >= Math.min(4, 10 - found.length), true, `${sequences.length} after ${found.length}`);
    found.push(...sequences);
  }
  deepEqual(found, numbersTo(10));
};

const refusesTakenPositions: Check = async (store) => {
  await fill(store, 3);
  for (const sequence of [3, 2, 1, 0])
    equal(await store.append(KEY, { sequence, frame: '{"other":1}' }), false, `position ${sequence}`);
  deepEqual(await read(store, -1), eventsOf(1, 2, 3));
  equal((await store.append(KEY, { sequence: 4, frame: frameOf(4) })) ?? true, true);
  deepEqual(await read(store, 0), eventsOf(1, 2, 3, 4));
};

const refusesTakenBatches: Check = async (store) => {
  if (store.appendBatch === undefined) return;
  await fill(store, 3);
  const text = 'id: a-3\ndata: {"other":1}\n\nid: a-4\ndata: {"other":2}\n\n';
  for (const first of [3, 2, 1]) equal(await store.appendBatch(KEY, { first, count: 2, text }), false, `from ${first}`);
  deepEqual(await read(store, 0), eventsOf(1, 2, 3));
  equal((await store.appendBatch(KEY, { first: 4, count: 2, text })) ?? true, true);
  equal(await store.append(KEY, { sequence: 5, frame: '{"other":3}' }), false);
  equal((await read(store, 0))?.length, 5);
};

const letsOneAppendWin: Check = async (store) => {
  await fill(store, 1);
  const append = async (n: number) => await store.append(KEY, { sequence: 2, frame: `{"writer":${n}}` });
  const stored = await Promise.all(numbersTo(20).map(append));
  const winners = numbersTo(20).filter((n) => stored[n - 1] !== false);
  equal(winners.length, 1, `${winners.length} of 20 events were stored`);
  deepEqual(await read(store, 1), [[2, `{"writer":${winners[0]}}`]]);
};

const keepsHeaders: Check = async (store) => {
  await store.append(KEY, { sequence: 0, frame: '"id of the request"' });
  deepEqual(await read(store, 0), []);
  const header = [0, '"id of the request"'];
  deepEqual(await read(store, -1), [header]);
  equal(await store.append(KEY, { sequence: 0, frame: '2' }), false);
  await fill(store, 2);
  deepEqual(await read(store, 0), eventsOf(1, 2));
  deepEqual(await read(store, -1), [header, ...eventsOf(1, 2)]);
};

/** The rules for an `EventStore`, each with what checks it. Give each check a new store. */
export const eventStoreContract: readonly ContractRule<[store: EventStore]>[] = [
  ['returns the events after a position, in order', returnsLaterEvents],
  ['distinguishes a stream without newer events from an unknown one', distinguishesUnknownStreams],
  ['keeps the events of different streams apart', keepsStreamsApart],
  ['keeps frames unchanged, whatever their length', keepsFrames],
  ['stores a batch like single events, if it supports batches', storesBatches],
  ['returns at least as many events as asked for, if there are so many', readsInPieces],
  ['refuses an event if the stream has one at its position or later', refusesTakenPositions],
  ['refuses a batch if the stream has an event at its first position or later', refusesTakenBatches],
  ['lets exactly one of 20 events win that have the same position', letsOneAppendWin],
  ['knows a stream by its event at 0, which it returns only to those who ask for it', keepsHeaders],
];
