import { type Discovery, OtherIssuerError } from './discovery.js';
import { problemOf, StatusError } from './fetch-json.js';
import { type Refused, shown } from './reasons.js';
import type { IssuerSettings } from './settings.js';
import { isSlashAway, withoutSlash } from './urls.js';

/** All failures in an error and its causes. */
function failuresIn(failure: unknown): readonly unknown[] {
  const { cause, errors } = (failure ?? {}) as Partial<AggregateError>;
  const inner: readonly unknown[] = Array.isArray(errors) ? errors : cause === undefined ? [] : [cause];
  return [failure, ...inner.flatMap(failuresIn)];
}

/** What the operator can do if an issuer's metadata can't be used. */
export function remedyAfter(failure: unknown, issuer: string): string {
  const failures = failuresIn(failure);
  const other = failures.find((each) => each instanceof OtherIssuerError);
  if (typeof other?.named === 'string') {
    const slash = isSlashAway(other.named, issuer) ? 'Only the slash at the end differs' : 'It must be the same';
    return `${slash}: write \`issuer: ${JSON.stringify(other.named)}\`, if you trust it.`;
  }
  const isMissing = failures.some((each) => each instanceof StatusError && each.status === 404);
  return isMissing
    ? 'Check the path of `issuer`, such as the tenant or realm.'
    : 'Check the URL of `issuer`, and that this server can reach it.';
}

/** The refusal of a token because its issuer's keys could not be fetched. */
export const unavailable = ({ issuer, keys }: IssuerSettings): Refused => ({
  reason: 'issuer-unavailable',
  found: problemOf(keys.failure),
  remedy: remedyAfter(keys.failure, issuer),
});

/** The refusal of a token that names none of these issuers. */
export function foreign(iss: unknown, issuers: readonly string[]): Refused {
  const near = issuers.find((issuer) => isSlashAway(iss, issuer));
  return {
    reason: 'issuer',
    found: `iss is ${shown(iss)}`,
    ...(issuers.length > 0 && { expected: issuers.map((issuer) => JSON.stringify(issuer)).join(' or ') }),
    ...(near !== undefined && { remedy: 'Only the slash at the end differs. Write `issuer` as in the token.' }),
  };
}

/** The endpoints in its metadata that an issuer is used for. Without JWTs, an issuer needs no keys (RFC 8414, section 2). */
function endpointsOf({ introspection, client }: IssuerSettings, discovery: Discovery): readonly string[] {
  const hasKeys = discovery.metadata.current?.json['jwks_uri'] !== undefined;
  return [
    ...(hasKeys || !introspection ? ['jwks_uri'] : []),
    ...(introspection ? ['introspection_endpoint'] : []),
    ...(client ? ['token_endpoint'] : []),
  ];
}

/**
 * Fetches the metadata of an issuer, unless it is in this process. Returns what is wrong with it, if anything. Never
 * rejects.
 */
export async function problemWith(settings: IssuerSettings): Promise<string | undefined> {
  const { issuer, discovery } = settings;
  if (discovery === undefined) return undefined;
  if ((await discovery.metadata.get()) === undefined) {
    const { failure } = discovery.metadata;
    return `The metadata of the issuer can't be used: ${problemOf(failure)}. ${remedyAfter(failure, issuer)}`;
  }
  for (const name of endpointsOf(settings, discovery)) {
    try {
      await discovery.endpoint(name);
    } catch (error) {
      return `The metadata of the issuer can't be used: ${problemOf(error)}.`;
    }
  }
  return undefined;
}

/**
 * What is wrong if an endpoint isn't served at its public URL. A parent of the path is fine: clients accept it too.
 * @param path the path that is served; undefined if it is unknown
 */
export function pathProblem(resource: string | undefined, path: string | undefined): string | undefined {
  if (resource === undefined || path === undefined || /[:*]/.test(path)) return undefined;
  const wanted = withoutSlash(new URL(resource).pathname);
  if (`${withoutSlash(path)}/`.startsWith(`${wanted}/`)) return undefined;
  return (
    `The endpoint is served at "${path}", but clients are told "${resource}". Unless a proxy changes the path, ` +
    'correct `audience` (or `resource`), or serve the endpoint there.'
  );
}
