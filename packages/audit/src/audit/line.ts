import type { ObservedRequest, RequestOutcome } from '@decorum/core/plugin';

import { canonicalJson } from './canonical.js';
import { type AuditKey, keyedDigest } from './keys.js';
import type { AuditedMember } from './options.js';

/** The methods that call a member, with its kind. */
const KINDS: ReadonlyMap<string, AuditedMember['kind']> = new Map([
  ['tools/call', 'tool'],
  ['prompts/get', 'prompt'],
  ['resources/read', 'resource'],
]);

/** The kind of member that a message calls; undefined if it calls none. Notifications run nothing. */
export const kindOf = ({ method, id }: ObservedRequest): AuditedMember['kind'] | undefined =>
  id === undefined ? undefined : KINDS.get(method);

/** What a call was made with, to be read before it runs. */
export const argumentsOf = (request: ObservedRequest, kind: AuditedMember['kind']) =>
  kind === 'resource' ? { uri: request.uri ?? null } : (request.arguments ?? {});

/** The digest of arguments. Equal arguments have equal digests. */
export const digestOf = (args: unknown, { digests }: AuditKey): string => keyedDigest(digests, canonicalJson(args));

/**
 * Who calls: the principal, else the session, else the address, else only the transport. Whoever knows the id of a
 * session can use it, so the log has its digest.
 */
function callerOf({ principal, session, remoteAddress, transport }: ObservedRequest, { digests }: AuditKey): object {
  if (principal !== undefined) {
    const { issuer, subject, clientId } = principal;
    return { issuer, subject, clientId };
  }
  if (session !== undefined) return { session: keyedDigest(digests, session) };
  return remoteAddress === undefined ? { transport } : { address: remoteAddress };
}

/** A call that has ended, with what was kept of its arguments. */
export interface EndedCall {
  readonly request: ObservedRequest;
  readonly outcome: RequestOutcome;
  readonly member: AuditedMember;
  /** What the line has of the arguments. */
  readonly args: unknown;
}

/** The line of a call, without the MAC and the brace after it. */
export function lineOf({ request, outcome, member, args }: EndedCall, key: AuditKey): string {
  const { status, cause = null, reference = null } = outcome;
  const at = new Date().toISOString();
  const caller = callerOf(request, key);
  return JSON.stringify({ at, caller, member, args, outcome: status, cause, ref: reference }).slice(0, -1);
}
