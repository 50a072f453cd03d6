import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { type Jsonified, jsonRoundTrip } from '@decorum/schema/internal';

import { PRIVATE_EFFECT } from '../protocol/effects.js';
import type { Exchange } from '../protocol/exchange.js';
import { sha256 } from './key-ring.js';

/** The longest delay of a timer, in milliseconds. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The key of an effect for other services: the same in all runs of the request. */
const effectKey = ({ ownEffects }: Exchange, key: string): string =>
  sha256(`${ownEffects.id(randomUUID)} ${key}`).toString('base64url');

/** Runs an effect once per request. Its result makes a round trip through JSON, in the first round as well. */
export async function onceAsJson<T>(
  exchange: Exchange,
  key: string,
  effect: (idempotencyKey: string) => T | Promise<T>,
): Promise<Jsonified<T>> {
  return await exchange.once(key, async () => {
    const result = await effect(effectKey(exchange, key));
    return jsonRoundTrip(result, `The result of ctx.once('${key}', …)`) as Jsonified<T>;
  });
}

/** Waits, in a handler that runs again only for what is left. */
export async function sleep(
  exchange: Exchange,
  { key, ms, signal }: { readonly key: string; readonly ms: number; readonly signal: AbortSignal },
): Promise<void> {
  if (!(ms >= 0)) throw new TypeError("`ctx.sleep` takes a key and milliseconds, as in `ctx.sleep('retry', 5000)`.");
  const end = await exchange.once(`${PRIVATE_EFFECT}sleep ${key}`, () => Date.now() + ms);
  if (end <= Date.now()) return;
  await (exchange.peer.sleep?.(end, signal) ?? sleepUntil(end, signal));
}

async function sleepUntil(end: number, signal: AbortSignal): Promise<void> {
  for (let left = end - Date.now(); left > 0; left = end - Date.now()) {
    await delay(Math.min(left, MAX_DELAY_MS), undefined, { signal });
  }
}
