import { type FailureKind, McpError } from './errors.js';
import type { Principal, Wire } from './wire.js';

/** The requirements of a member for its callers, in addition to its `access` function. */
export interface Need {
  /** All of them are required, in addition to the scopes that the transport requires of every request. */
  readonly scopes: readonly string[];
  /** Whether the member is public: callers need no credentials, and so no scopes either. */
  readonly isPublic: boolean;
}

/** The default need: only the scopes that the transport requires of every request. */
export const BASE: Need = { scopes: [], isPublic: false };

/** The need of anything public. */
export const OPEN: Need = { scopes: [], isPublic: true };

/** Whether a value is a scope (RFC 6749, section 3.3). */
export const isScope = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(value);

const DENIALS: ReadonlySet<FailureKind | undefined> = new Set(['unauthorized', 'insufficient-scope'] as const);

/** Whether a failure is a denial: the caller has to authenticate, or needs more scopes. */
export const isDenial = ({ kind }: McpError): boolean => DENIALS.has(kind);

/** Whether a principal has all of these scopes. Fails closed: in a string, `includes` would find part of a scope. */
export function hasAll(principal: Principal | undefined, scopes: readonly string[]): boolean {
  const granted = principal?.scopes;
  if (!Array.isArray(granted)) return scopes.length === 0;
  for (const scope of scopes) if (!granted.includes(scope)) return false;
  return true;
}

/**
 * The denial of a caller that doesn't meet one of several needs.
 * @returns undefined if the caller meets all needs; otherwise an error whose `data.scopes` lists all required scopes
 */
export function denialOf(
  { principal, authorization }: Pick<Wire, 'principal' | 'authorization'>,
  needs: readonly Need[],
): McpError | undefined {
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
