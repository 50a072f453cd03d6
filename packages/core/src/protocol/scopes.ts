import { type FailureKind, McpError } from './errors.js';
import type { Principal, Wire } from './wire.js';

/** What a member needs of its callers, besides passing its `access` function. */
export interface Need {
  /** All of them are needed, in addition to those that the transport demands of every request. */
  readonly scopes: readonly string[];
  /** Whether callers need nothing at all, and so no scopes either. */
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
export const isDenial = ({ kind }: McpError): boolean => DENIALS.has(kind);

/** Whether a principal has all of these scopes. Fails closed: `includes` would find a scope within a string. */
export function hasAll(principal: Principal | undefined, scopes: readonly string[]): boolean {
  const granted = principal?.scopes;
  if (!Array.isArray(granted)) return scopes.length === 0;
  for (const scope of scopes) if (!granted.includes(scope)) return false;
  return true;
}

/**
 * The denial of a caller who lacks scopes for one of several needs.
 * @returns undefined if the caller has them all; otherwise an error whose `data.scopes` lists everything that is needed
 */
export function denialOf({ principal, authorization }: Wire, needs: readonly Need[]): McpError | undefined {
  // not `filter`: this runs for each request
  let isClosed = false;
  let isLacking = false;
  for (const { scopes, isPublic } of needs) {
    if (isPublic) continue;
    isClosed = true;
    isLacking ||= !hasAll(principal, scopes);
  }
  if (!isClosed) return undefined;
  const base = authorization?.scopes ?? BASE.scopes;
  const isKnown = principal !== undefined || authorization === undefined;
  if (isKnown && !isLacking && hasAll(principal, base)) return undefined;
  const needed = needs.flatMap((need) => need.scopes);
  const scopes = [...new Set([...base, ...needed])];
  return principal === undefined
    ? new McpError('unauthorized', 'Authorization is required.', { scopes })
    : new McpError('insufficient-scope', 'The caller lacks scopes that this request needs.', { scopes });
}
