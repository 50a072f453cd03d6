import { type Account, holderOf } from '../../protocol/owner.js';
import type { RecordKey, Records } from '../../protocol/records.js';

/** Where everything is kept that is remembered for a holder. */
export const memoryPlace = (holder: string): RecordKey => ['memory', holder];

/** Sessions for which this process has remembered something. Most sessions end without, and cost no access to the store. */
const remembering = new WeakSet<object>();

/** Notes that something is remembered for a session. */
export const noteRemembering = (session: object): void => void remembering.add(session);

/** Whether this process has remembered something for a session. */
export const isRemembering = (session: object): boolean => remembering.has(session);

/** Deletes what is remembered for a user, or for a session. */
export async function forget(records: Records, whose: Account | { readonly sessionId: string }): Promise<void> {
  const [principal, sessionId] = 'sessionId' in whose ? [undefined, whose.sessionId] : [whose, undefined];
  const holder = holderOf({ principal, sessionId, transport: { kind: '' } });
  if (holder !== undefined) await records.change(memoryPlace(holder), () => 'remove');
}
