import type { AuthDocument, DocumentAnswer, RequestHead } from '@decorum/http';

import type { Discovery } from './discovery.js';
import { requestedScope } from './scopes.js';
import type { Settings } from './settings.js';

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';
const SERVER_METADATA = '/.well-known/oauth-authorization-server';

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'access-control-allow-origin': '*',
  'cache-control': 'public, max-age=300',
};

/** Paths for old clients that don't read metadata. Each redirects to an endpoint of the issuer. */
const LEGACY_ENDPOINTS = {
  '/authorize': 'authorization_endpoint',
  '/token': 'token_endpoint',
  '/register': 'registration_endpoint',
} as const;

/** The path of a resource, empty for the root. */
const pathOf = (resource: string): string => new URL(resource).pathname.replace(/\/$/, '');

/** The URL of a resource's metadata (RFC 9728, section 3.1). */
export const metadataUrl = (resource: string): string =>
  `${new URL(resource).origin}${RESOURCE_METADATA}${pathOf(resource)}`;

/** The documents that tell clients which issuers this resource has. URLs in them are never taken from a request. */
export function resourceDocuments({ resource, issuers, scopes, offer }: Settings<never>): readonly AuthDocument[] {
  const [first] = issuers.values();
  if (resource === undefined || first === undefined) return [];
  // clients ask the first issuer, unless their user chooses another one
  const sent = [...scopes, ...offer].map((scope) => requestedScope(scope, first.scopePrefix));
  const body = JSON.stringify({
    resource,
    authorization_servers: [...issuers.keys()],
    ...(sent.length > 0 && { scopes_supported: sent }),
    bearer_methods_supported: ['header'],
  });
  const answer = () => ({ status: 200, headers: HEADERS, body });
  const paths = new Set([RESOURCE_METADATA, `${RESOURCE_METADATA}${pathOf(resource)}`]);
  return [...paths].map((path) => ({ path, answer }));
}

/** The documents and redirects with which this server stands in for its first issuer, for clients of 2025-03-26. */
export function issuerDocuments({ issuers }: Settings<never>, redirects: boolean): readonly AuthDocument[] {
  const [first] = issuers.values();
  if (first?.discovery === undefined) return [];
  const { discovery } = first;
  const metadata = { path: SERVER_METADATA, answer: () => serverMetadata(discovery) };
  return [metadata, ...(redirects ? redirectsTo(discovery) : [])];
}

/** The issuer's own metadata, which clients of 2025-03-26 look for here. */
async function serverMetadata(discovery: Discovery): Promise<DocumentAnswer> {
  const metadata = await discovery.metadata.get();
  return metadata === undefined ? unavailable() : { status: 200, headers: HEADERS, body: metadata.text };
}

function redirectsTo(discovery: Discovery): AuthDocument[] {
  return Object.entries(LEGACY_ENDPOINTS).map(([path, name]) => ({
    path,
    answersPost: path !== '/authorize',
    async answer({ url }: RequestHead) {
      try {
        const target = new URL(await discovery.endpoint(name));
        const query = url.indexOf('?');
        if (query !== -1) target.search += `${target.search === '' ? '' : '&'}${url.slice(query + 1)}`;
        return { status: 307, headers: { location: target.href, 'access-control-allow-origin': '*' } };
      } catch {
        return unavailable();
      }
    },
  }));
}

const unavailable = (): DocumentAnswer => ({
  status: 502,
  headers: { ...HEADERS, 'cache-control': 'no-store' },
  body: JSON.stringify({ error: 'temporarily_unavailable' }),
});
