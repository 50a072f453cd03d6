import type { ObservedRequest, RequestOutcome } from '@decorum/core/plugin';

import { type AuditKey, keyedDigest } from './keys.js';
import type { AuditedMember } from './options.js';

/** The methods that call a member, with its kind. */
const KINDS: ReadonlyMap<string, AuditedMember['kind']> = new Map([
  ['tools/call', 'tool'],
  ['prompts/get', 'prompt'],
  ['resources/read', 'resource'],
]);

/** Characters of a digest of an id: 128 bits. */
const ID_CHARS = 22;

/** What a line has of an id that opens something to whoever knows it. */
const idDigest = (id: string, { digests }: AuditKey): string => keyedDigest(digests, id).slice(0, ID_CHARS);

/** The member that a message calls; undefined if it calls none. Notifications run nothing. */
export function memberOf({ method, id, target }: ObservedRequest): AuditedMember | undefined {
  const kind = id === undefined ? undefined : KINDS.get(method);
  return kind && { kind, name: target ?? null };
}

/**
 * Who calls: the principal, else the session, else the address, else only the transport. Whoever knows the id of a
 * session can use it, so the log has its digest.
 */
export function callerOf({ principal, session, remoteAddress, transport }: ObservedRequest, key: AuditKey): object {
  if (principal !== undefined) {
    const { issuer, subject, clientId } = principal;
    return { issuer, subject, clientId };
  }
  if (session !== undefined) return { session: idDigest(session, key) };
  return remoteAddress === undefined ? { transport } : { address: remoteAddress };
}

/** A call that has ended. */
export interface EndedCall {
  readonly request: ObservedRequest;
  readonly outcome: RequestOutcome;
  readonly member: AuditedMember;
  /** What the line has of the arguments. */
  readonly args: unknown;
  /** The id of the run, if it has ended apart from its request, as that of a task does. */
  readonly run?: string;
}

/** The fields of a line, without the MAC and the brace after it. */
function fieldsOf(
  fields: Readonly<Record<'caller' | 'member' | 'args' | 'outcome' | 'cause' | 'ref', unknown>> & { task?: string },
) {
  return JSON.stringify({ at: new Date().toISOString(), ...fields }).slice(0, -1);
}

/** The line of a call. */
export function lineOf({ request, outcome, member, args, run }: EndedCall, key: AuditKey): string {
  const { status, cause = null, reference = null } = outcome;
  const caller = callerOf(request, key);
  const task = run === undefined ? {} : { task: idDigest(run, key) };
  return fieldsOf({ caller, member, args, ...task, outcome: status, cause, ref: reference });
}

/**
 * A line about the log itself.
 * @param outcome `torn` after a line that was never finished, `lost` for calls without a line
 * @param cause what is known of it
 */
export const remarkOf = (outcome: 'torn' | 'lost', cause: string): string =>
  fieldsOf({ caller: null, member: null, args: null, outcome, cause, ref: null });
