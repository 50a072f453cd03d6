import { type FailureKind, McpError } from './errors.js';
import type { Wire } from './wire.js';

/** What a member needs of its callers, besides passing its `access` function. */
export interface Need {
  /** All of them are needed, in addition to those that the transport demands of every request. */
  readonly scopes: readonly string[];
  /** Whether callers need nothing at all. */
  readonly isPublic: boolean;
}

/** The need of whatever declares none: only what the transport demands of every request. */
export const BASE: Need = { scopes: [], isPublic: false };

/** The need of what is open to everybody. */
export const OPEN: Need = { scopes: [], isPublic: true };

/** Whether a value is a scope (RFC 6749, section 3.3). */
export const isScope = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(value);

const DENIALS: ReadonlySet<FailureKind | undefined> = new Set(['unauthorized', 'insufficient-scope'] as const);

/** Whether a failure is a denial: the caller has to authenticate, or needs more scopes. */
export const isDenial = (failure: McpError | undefined): boolean => DENIALS.has(failure?.kind);

/**
 * The denial of a caller who lacks scopes for one of several needs.
 * @returns undefined if the caller has them all; otherwise an error whose `data.scopes` lists everything that is needed
 */
export function denialOf({ principal, authorization }: Wire, needs: readonly Need[]): McpError | undefined {
  const closed = needs.filter(({ isPublic }) => !isPublic);
  if (closed.length === 0) return undefined;
  const base = authorization ?? BASE;
  // fails closed: `includes` would find a scope within a string
  const granted: readonly string[] = Array.isArray(principal?.scopes) ? principal.scopes : [];
  const isLacking = ({ scopes }: Pick<Need, 'scopes'>) => scopes.some((scope) => !granted.includes(scope));
  const isKnown = principal !== undefined || authorization === undefined;
  if (isKnown && !isLacking(base) && !closed.some(isLacking)) return undefined;
  const scopes = [...new Set([base, ...closed].flatMap((need) => need.scopes))];
  return principal === undefined
    ? new McpError('unauthorized', 'Authorization is required.', { scopes })
    : new McpError('insufficient-scope', 'The caller lacks scopes that this request needs.', { scopes });
}
