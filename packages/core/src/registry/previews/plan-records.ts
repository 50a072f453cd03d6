import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import type { JsonObject } from '@decorum/schema/internal';

import type { RequestId } from '../../protocol/model.js';
import { holderOf, payerOf } from '../../protocol/owner.js';
import type { RecordKey } from '../../protocol/records.js';
import { type Caller, RUN } from '../caller.js';
import { digestOf } from '../policies/digest.js';
import { makeRoom } from './plan-room.js';

/** A plan that was shown. */
interface PlanRecord extends JsonObject {
  readonly plan: unknown;
  /** Digest of the arguments. */
  readonly args: string;
  /** When its ticket expires, in milliseconds since 1970. */
  readonly until: number;
  /** The id of the request that carries it out; undefined before. */
  readonly run?: string;
  /** What runs that request apart, such as a task: nobody else may, and it may do so again in another process. */
  readonly host?: RequestId;
  /** The round that the request has ended with a question: it comes again with the answer, and knows this text. */
  readonly asked?: string | undefined;
}

/** Why a ticket is refused. Unknown ones, expired ones and those of others look the same. */
export type Refusal = 'unknown' | 'used' | 'changed';

/** The key of the round that was ended last. What a client has kept of an earlier round has another one. */
const ROUND = 'round of plan';

/** Without letters and digits that look like others. 32 of them, so that each stands for 5 random bits. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

const TICKET = /^[a-z2-9]{26}$/;

/** 130 random bits. */
const newTicket = (): string => Array.from(randomBytes(26), (byte) => LETTERS[byte & 31]).join('');

/** Milliseconds that a used plan is kept at least: the same request may run again, in its next round for example. */
const USED_MS = 3_600_000;

/** Milliseconds that is kept which confirmed plans were carried out: no state of a request lives longer. */
const CONFIRMED_MS = 86_400_000;

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
  const place = placeOf(caller, ticket);
  const holder = holderOf(caller);
  const bytes = Buffer.byteLength(JSON.stringify(plan));
  await caller[RUN].records.change<PlanRecord>(place, () => ({ value, ttlMs }), payerOf(caller));
  if (holder !== undefined) await makeRoom(caller, holder, { place, bytes, keptMs: ttlMs + USED_MS });
  return ticket;
}

/** Requests that use a plan in this process, by their effects. A further attempt of theirs is no further use. */
const using = new WeakSet<object>();

/**
 * Uses a ticket for this request.
 * @param args the arguments, without the ticket
 * @returns the plan, or why it is refused
 */
export async function usePlan(caller: Caller, ticket: unknown, args: JsonObject): Promise<Used> {
  if (typeof ticket !== 'string' || !TICKET.test(ticket)) return { refusal: 'unknown' };
  const { effects } = caller[RUN];
  // a recorded call that is made again has its plan with it
  if (effects.plan?.ticket === ticket) return { plan: effects.plan.plan };
  const digest = digestOf(args);
  const used = await use(caller, ticket, (now) => {
    // a store may keep values for longer
    if (now === undefined || (now.run === undefined && now.until <= Date.now())) return 'unknown';
    if (!mayUse(now, caller)) return 'used';
    return now.args === digest ? now : 'changed';
  });
  if ('plan' in used) effects.plan = { ticket, plan: used.plan };
  return used;
}

/** Notes that this request carries out a plan that its user has confirmed: a client may send the answer again. */
export async function useConfirmed(caller: Caller): Promise<Used> {
  const first: PlanRecord = { plan: null, args: '', until: Date.now() + CONFIRMED_MS };
  return await use(caller, confirmedBy(caller), (now = first) => (mayUse(now, caller) ? now : 'used'));
}

/** Lets the next round of this request use its plan again. To be called before the client is asked. */
export async function awaitAnswer(caller: Caller, ticket?: unknown): Promise<void> {
  const { records, id, effects } = caller[RUN];
  const place = placeOf(caller, typeof ticket === 'string' ? ticket : confirmedBy(caller));
  const asked = newTicket();
  await records.change<PlanRecord>(place, (now) =>
    now?.run === id ? { value: { ...now, asked }, ttlMs: lifeOf(now) } : undefined,
  );
  effects.note(ROUND, asked);
}

/** A plan, or why it is refused. */
type Used = { readonly plan: unknown } | { readonly refusal: Refusal };

const confirmedBy = (caller: Caller): string => `run ${caller[RUN].id}`;

const lifeOf = ({ until }: PlanRecord): number => Math.max(until - Date.now(), USED_MS);

/**
 * Whether a request may use a plan: nobody has, or it is the same request again, in its next attempt or round, or one
 * that goes on under its idempotency key. A round that the client sends twice may not.
 */
function mayUse({ run, host, asked }: PlanRecord, caller: Caller): boolean {
  const { id, effects, host: own } = caller[RUN];
  if (run === undefined) return true;
  if (run !== id) return false;
  const isNext = asked !== undefined && asked === effects.noted(ROUND);
  return isNext || using.has(effects) || effects.isContinuing || (own !== undefined && own === host);
}

type Judge = (now: PlanRecord | undefined) => PlanRecord | Refusal;

/** Pauses before a request asks for its own plan again: its round before may have asked the client a moment ago. */
const PAUSES_MS = [10, 50, 250];

async function use(caller: Caller, ticket: string, judge: Judge): Promise<Used> {
  for (const ms of PAUSES_MS) {
    const { isOwn, ...used } = await tryUse(caller, ticket, judge);
    if (!('refusal' in used && used.refusal === 'used' && isOwn)) return used;
    await delay(ms, undefined, { signal: caller.signal });
  }
  const { isOwn: _own, ...used } = await tryUse(caller, ticket, judge);
  return used;
}

async function tryUse(caller: Caller, ticket: string, judge: Judge): Promise<Used & { readonly isOwn: boolean }> {
  const { records, id, effects, host } = caller[RUN];
  let refusal: Refusal | undefined;
  let isOwn = false;
  const useNow = (now: PlanRecord | undefined) => {
    const judged = judge(now);
    isOwn = now?.run === id;
    refusal = typeof judged === 'string' ? judged : undefined;
    if (typeof judged === 'string') return undefined;
    const value = { ...judged, run: id, asked: undefined, ...(host !== undefined && { host }) };
    return { value, ttlMs: lifeOf(judged) };
  };
  const kept = await records.change<PlanRecord>(placeOf(caller, ticket), useNow, payerOf(caller));
  if (kept === undefined || refusal !== undefined) return { refusal: refusal ?? 'unknown', isOwn };
  using.add(effects);
  return { plan: kept.plan, isOwn };
}
