import type { Exchange } from '../../protocol/exchange.js';
import { type Account, holderOf, payerOf } from '../../protocol/owner.js';
import type { RecordKey, Records } from '../../protocol/records.js';

/** Where everything is kept that is remembered for a holder. */
export const memoryPlace = (holder: string): RecordKey => ['memory', holder];

/**
 * Sessions for which this process has remembered something, with those whose share of the store it takes. Most sessions
 * end without, and cost no access to the store.
 */
const remembering = new WeakMap<object, string | undefined>();

/** Notes that something is remembered for a session. */
export const noteRemembering = (session: object, payer: string | undefined): void =>
  void remembering.set(session, payer ?? remembering.get(session));

/** Whether this process has remembered something for a session. */
export const isRemembering = (session: object): boolean => remembering.has(session);

/**
 * Whose share of the store it takes what is remembered for a request: that of a stranger, who gets a session for each new
 * connection. Undefined for users, each of whom has a limit.
 */
export function sessionPayerOf({ peer, wire: { principal, transport } }: Exchange): string | undefined {
  return principal === undefined ? payerOf({ principal, sessionId: peer.sessionId, transport }) : undefined;
}

/** Deletes what is remembered for a user. */
export async function forgetUser(records: Records, user: Account): Promise<void> {
  await remove(records, holderOf({ principal: user, sessionId: undefined, transport: { kind: '' } }));
}

/** Deletes what is remembered for a session. */
export async function forgetSession(
  records: Records,
  session: { readonly sessionId: string | undefined },
): Promise<void> {
  const { sessionId } = session;
  await remove(
    records,
    holderOf({ principal: undefined, sessionId, transport: { kind: '' } }),
    remembering.get(session),
  );
}

async function remove(records: Records, holder: string | undefined, payer?: string): Promise<void> {
  if (holder !== undefined) await records.change(memoryPlace(holder), () => 'remove', payer);
}
