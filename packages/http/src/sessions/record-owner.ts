import { ownerOf } from '@decorum/core/internal';
import type { Session } from '@decorum/core/transport';

import { MAX_REFUSALS, refused, type WriterParts } from './record-writer.js';
import { isUsable, type KeptSession, recordIn } from './session-store.js';

/**
 * Stores the principal that has adopted a session, for other processes.
 * @returns whether it is the first principal, or the same one as the first
 * @throws {HttpError} 503 if the store fails
 */
export async function storeOwner({ state }: { readonly state: Session }, parts: WriterParts): Promise<boolean> {
  const { store, stores, letters, counts, ttlMs } = parts;
  const record = state.record as KeptSession;
  const { id, principal } = record;
  let expected = record.version;
  for (let refusals = 0; refusals < MAX_REFUSALS; refusals += 1) {
    const next = { ...record, version: (expected ?? 0) + 1 };
    if ((await stores.run('sessionStore.set', () => store.set(next, ttlMs, expected))) !== false) {
      record.version = next.version;
      await letters?.tell({ kind: 'changed', session: id, record: next });
      return true;
    }
    counts.conflicts += 1;
    const stored = await stores.run('sessionStore.get', () => recordIn(store, id));
    if (!isUsable(stored, id)) return false;
    // another request of the same principal may have stored it already
    if (stored.principal !== undefined) return ownerOf(stored.principal) === ownerOf(principal);
    expected = stored.version;
  }
  return await stores.run('sessionStore.set', refused);
}
