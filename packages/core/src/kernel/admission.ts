import { andThen, isPromise } from '@decorum/schema/internal';

import { type AccessCaller, TAGS, type TaggedCaller } from '../protocol/access-caller.js';
import type { Exchange } from '../protocol/exchange.js';
import { denialOf } from '../protocol/scopes.js';
import type { Access, Wire } from '../protocol/wire.js';
import { partsOf } from '../registry/every-access.js';
import type { Admits, Condition } from '../registry/listing.js';
import type { Listed } from '../registry/page.js';
import type { ErrorReporter } from './error-reporter.js';

/** Answers of access functions, by request. Each function runs once per request, even if many members share it. */
const answered = new WeakMap<Exchange, Map<Access, boolean | Promise<boolean>>>();

/** Whether the caller passes an access function. Fails closed: an error is reported and denies access. */
export function isAdmitted(access: Access, exchange: Exchange, reporter: ErrorReporter): boolean | Promise<boolean> {
  const parts = partsOf(access);
  if (parts.length > 1) {
    const isMet = (part: Access) => isAdmitted(part, exchange, reporter);
    return parts.reduce<boolean | Promise<boolean>>((met, part) => andThen(met, (is) => is && isMet(part)), true);
  }
  const answers = answered.get(exchange) ?? new Map<Access, boolean | Promise<boolean>>();
  const answer =
    answers.get(access) ?? answerOf(access, readerOf(exchange), (error) => reporter.report(error, exchange));
  answered.set(exchange, answers.set(access, answer));
  return answer;
}

/** The caller of a request, or the client that reads a stream of notifications. */
export interface Reader extends Pick<Wire, 'principal' | 'transport' | 'authorization'> {
  readonly caller: AccessCaller;
}

/** The caller of a request, as its access functions see it. */
export function readerOf({ wire, peer, revision, meta }: Exchange): Reader {
  const { principal, transport, authorization } = wire;
  const { client, sessionId, visibility } = peer;
  const caller: TaggedCaller = { client, revision: revision.id, sessionId, meta, [TAGS]: visibility };
  return { principal, transport, authorization, caller };
}

/**
 * Whether a client may be notified of something that only some callers see. Asks anew, because access may have changed.
 * Synchronous if possible, so that notifications keep their order.
 */
export function meetsAll(
  conditions: readonly Condition[],
  reader: Reader,
  report: (error: unknown) => void,
): boolean | Promise<boolean> {
  const [first, ...rest] = conditions;
  if (first === undefined) return true;
  const isMet = typeof first === 'function' ? answerOf(first, reader, report) : denialOf(reader, [first]) === undefined;
  return andThen(isMet, (met) => met && meetsAll(rest, reader, report));
}

/**
 * The answer of an access function. Never throws or rejects.
 * @param report told of an error, which denies access
 */
export function answerOf(
  access: Access,
  { principal, transport, caller }: Pick<Reader, 'principal' | 'transport' | 'caller'>,
  report: (error: unknown) => void,
): boolean | Promise<boolean> {
  const deny = (error: unknown) => {
    report(error);
    return false;
  };
  const decide = (answer: unknown): boolean => {
    // a truthy value, such as a user or a reason, may not mean that access is granted
    if (answer && answer !== true) throw new TypeError('`access` must return true or false, or a promise of one.');
    return answer === true;
  };
  try {
    const answer = access(principal, transport, caller);
    return isPromise(answer) ? Promise.resolve(answer).then(decide).catch(deny) : decide(answer);
  } catch (error) {
    return deny(error);
  }
}

/** Whether the caller may know about a member: its access function admits the caller, and lists show the member. */
export async function isVisible(
  { access, shown }: Pick<Listed<unknown>, 'access' | 'shown'>,
  exchange: Exchange,
  reporter: ErrorReporter,
): Promise<boolean> {
  if (access !== undefined && !(await isAdmitted(access, exchange, reporter))) return false;
  return shown === undefined || (await isAdmitted(shown, exchange, reporter));
}

/** Creates the function that checks whether the caller of a request meets a condition for seeing an entry. */
export const admission =
  (exchange: Exchange, reporter: ErrorReporter): Admits =>
  (condition) =>
    typeof condition === 'function'
      ? isAdmitted(condition, exchange, reporter)
      : denialOf(exchange.wire, [condition]) === undefined;
