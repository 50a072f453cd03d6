import type { JsonObject } from '@decorum/schema/internal';

import { payerOf } from '../../protocol/owner.js';
import type { RecordKey } from '../../protocol/records.js';
import { type Caller, RUN } from '../caller.js';

/** The plans that are kept for a caller, the newest last. */
interface RoomRecord extends JsonObject {
  readonly plans: readonly (readonly [place: RecordKey, bytes: number, keptUntil: number])[];
}

/** How many plans are kept for one caller. */
const MAX_PLANS = 100;

/** How many bytes they have together. One plan may have a quarter of them. */
const MAX_BYTES = 1_048_576;

/** A plan that has been stored. */
interface NewPlan {
  readonly place: RecordKey;
  readonly bytes: number;
  readonly keptMs: number;
}

/** Makes room for a plan: if there are too many, the oldest ones of the caller are forgotten, so that nobody can fill the store with plans. */
export async function makeRoom(caller: Caller, holder: string, { place, bytes, keptMs }: NewPlan): Promise<void> {
  const { records } = caller[RUN];
  let forgotten: RoomRecord['plans'] = [];
  await records.change<RoomRecord>(['plan', holder], (now) => {
    const time = Date.now();
    const kept = (now?.plans ?? []).filter(([, , keptUntil]) => keptUntil > time);
    const plans = [...kept, [place, bytes, time + keptMs] as const];
    const first = firstWithRoom(plans);
    forgotten = plans.slice(0, first);
    const left = plans.slice(first);
    return { value: { plans: left }, ttlMs: Math.max(...left.map(([, , keptUntil]) => keptUntil)) - time };
  });
  await Promise.all(forgotten.map(([old]) => records.change(old, () => 'remove', payerOf(caller))));
}

/** The oldest plan that can stay. */
function firstWithRoom(plans: RoomRecord['plans']): number {
  let first = Math.max(0, plans.length - MAX_PLANS);
  let total = plans.slice(first).reduce((sum, [, bytes]) => sum + bytes, 0);
  for (; total > MAX_BYTES; first += 1) total -= plans[first]?.[1] ?? 0;
  return first;
}
