import { randomBytes } from 'node:crypto';

import type { JsonObject } from '@decorum/schema/internal';

import { holderOf } from '../../protocol/owner.js';
import type { RecordKey } from '../../protocol/records.js';
import { type Caller, RUN } from '../caller.js';
import { digestOf } from '../policies/digest.js';

/** A plan that was shown. */
interface PlanRecord extends JsonObject {
  readonly plan: unknown;
  /** Digest of the arguments. */
  readonly args: string;
  /** When its ticket expires, in milliseconds since 1970. */
  readonly until: number;
  /** The id of the request that carries it out; undefined before. */
  readonly run?: string;
}

/** Why a ticket is refused. Unknown ones, expired ones and those of others look the same. */
export type Refusal = 'unknown' | 'used' | 'changed';

/** Without letters and digits that look like others. 32 of them, so that each stands for 5 random bits. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

const TICKET = /^[a-z2-9]{26}$/;

/** 130 random bits. */
const newTicket = (): string => Array.from(randomBytes(26), (byte) => LETTERS[byte & 31]).join('');

/** Milliseconds that a used plan is kept at least: the same request may run again, in its next round for example. */
const USED_MS = 3_600_000;

/** Callers that nothing tells apart share a place: only their tickets, which nobody can guess, tell their plans apart. */
const placeOf = (caller: Caller, ticket: string): RecordKey => [
  'plan',
  holderOf(caller) ?? '',
  caller[RUN].member ?? '',
  ticket,
];

/**
 * Records a plan.
 * @param shown.args the arguments, without a ticket
 * @returns its ticket
 */
export async function recordPlan(
  caller: Caller,
  { plan, args, ttlMs }: { readonly plan: unknown; readonly args: JsonObject; readonly ttlMs: number },
): Promise<string> {
  const ticket = newTicket();
  const value: PlanRecord = { plan, args: digestOf(args), until: Date.now() + ttlMs };
  await caller[RUN].records.change<PlanRecord>(placeOf(caller, ticket), () => ({ value, ttlMs }));
  return ticket;
}

/**
 * Uses a ticket for this request.
 * @param args the arguments, without the ticket
 * @returns the plan, or why it is refused
 */
export async function usePlan(
  caller: Caller,
  ticket: unknown,
  args: JsonObject,
): Promise<{ readonly plan: unknown } | { readonly refusal: Refusal }> {
  if (typeof ticket !== 'string' || !TICKET.test(ticket)) return { refusal: 'unknown' };
  const { records, id } = caller[RUN];
  const digest = digestOf(args);
  let refusal: Refusal | undefined;
  const kept = await records.change<PlanRecord>(placeOf(caller, ticket), (now) => {
    refusal = refusalOf(now, id, digest);
    if (now === undefined || refusal !== undefined) return undefined;
    return { value: { ...now, run: id }, ttlMs: Math.max(now.until - Date.now(), USED_MS) };
  });
  return kept === undefined || refusal !== undefined ? { refusal: refusal ?? 'unknown' } : { plan: kept.plan };
}

function refusalOf(now: PlanRecord | undefined, run: string, args: string): Refusal | undefined {
  // a store may keep values for longer
  if (now === undefined || (now.run === undefined && now.until <= Date.now())) return 'unknown';
  if (now.run !== undefined && now.run !== run) return 'used';
  return now.args === args ? undefined : 'changed';
}
