import { deepEqual, equal } from 'node:assert/strict';

import type { SingleUse } from '@decorum/core';

import { type ContractClock, type ContractRule, numbersTo } from './rule.js';

type Check = (singleUse: SingleUse, clock: ContractClock) => Promise<void>;

const claimsOnce: Check = async (singleUse) => {
  const made = [];
  for (const id of ['a', 'b', 'a', 'A', 'a ', 'b', '__proto__', '__proto__'])
    made.push(await singleUse.claim(id, 60_000));
  deepEqual(made, [true, true, false, true, true, false, true, false]);
};

const letsOneClaimWin: Check = async (singleUse) => {
  const made = await Promise.all(numbersTo(20).map(async () => await singleUse.claim('a', 60_000)));
  equal(made.filter(Boolean).length, 1);
};

const remembers: Check = async (singleUse, clock) => {
  await singleUse.claim('a', 2500);
  await clock.pass(600);
  equal(await singleUse.claim('a', 1000), false);
};

/** The rules for a `SingleUse`, each with what checks it. Give each check a new one. */
export const singleUseContract: readonly ContractRule<[singleUse: SingleUse, clock: ContractClock]>[] = [
  ['says of each id whether this is its first use', claimsOnce],
  ['lets exactly one of 20 uses be the first', letsOneClaimWin],
  ['remembers an id for as long as it must', remembers],
];
