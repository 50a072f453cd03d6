import { isScope } from '@decorum/core/internal';

/** The scopes that claims grant: space-separated strings (RFC 8693, section 4.2) or arrays. Drops invalid scopes. */
export function scopesIn(claims: Readonly<Record<string, unknown>>, names: readonly string[]): readonly string[] {
  const granted = names.flatMap((name) => {
    const value = claims[name];
    if (typeof value === 'string') return value.split(' ');
    return Array.isArray(value) ? (value as readonly unknown[]) : [];
  });
  return [...new Set(granted.filter(isScope))];
}

/** The scopes of OpenID Connect (section 5.4 and 11), which belong to the issuer and not to a resource. */
const OPENID_SCOPES = new Set(['openid', 'profile', 'email', 'address', 'phone', 'offline_access']);

/** A scope that is a URI. Others have colons too, such as `files:write`. */
const URI = /^urn:|:\/\//;

/** The name under which clients request a scope from an issuer with this prefix. */
export function requestedScope(scope: string, prefix: string): string {
  return OPENID_SCOPES.has(scope) || URI.test(scope) ? scope : prefix + scope;
}

/** The scopes that each scope implies. */
export type Hierarchy = Readonly<Record<string, readonly string[]>>;

/**
 * Finds a scope that implies itself.
 * @returns the scopes of the cycle, or undefined
 */
export function cycleIn(hierarchy: Hierarchy): readonly string[] | undefined {
  const done = new Set<string>();
  const walk = (scope: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(scope)) return [...path.slice(path.indexOf(scope)), scope];
    if (done.has(scope)) return undefined;
    for (const implied of impliedBy(hierarchy, scope)) {
      const cycle = walk(implied, [...path, scope]);
      if (cycle !== undefined) return cycle;
    }
    done.add(scope);
    return undefined;
  };
  for (const scope of Object.keys(hierarchy)) {
    const cycle = walk(scope, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}

/** Creates a function that adds the scopes that the given scopes imply, directly or through others. */
export function expansion(hierarchy: Hierarchy): (scopes: readonly string[]) => readonly string[] {
  return (scopes) => {
    const all = new Set(scopes);
    // iterating a set also visits items added during the loop
    for (const scope of all) for (const implied of impliedBy(hierarchy, scope)) all.add(implied);
    return [...all];
  };
}

const impliedBy = (hierarchy: Hierarchy, scope: string): readonly string[] =>
  Object.hasOwn(hierarchy, scope) ? (hierarchy[scope] ?? []) : [];
