/** Where the URIs of a provider's resources go. */
export interface UriPlace {
  /** Put before the URI. */
  readonly uriPrefix: string;
  /** Inserted after the scheme. */
  readonly uriSegment?: string | undefined;
}

/** The scheme of a URI or template, with the slashes of an authority. */
const SCHEME = /^[a-z][a-z0-9+.-]*:(?:\/\/)?/i;

/**
 * A URI or template as clients see it. `notes://7` becomes `notes://billing/7` in the segment `billing`.
 * @example placedUri('notes://7', { uriPrefix: '', uriSegment: 'billing' }); // 'notes://billing/7'
 */
export function placedUri(uri: string, { uriPrefix, uriSegment }: UriPlace): string {
  const placed = uriSegment === undefined ? uri : uri.replace(SCHEME, (scheme) => `${scheme}${uriSegment}/`);
  return uriPrefix + placed;
}

/**
 * The URI that `placedUri` was given; undefined for a URI that it can't return.
 * @example originalUri('notes://billing/7', { uriPrefix: '', uriSegment: 'billing' }); // 'notes://7'
 */
export function originalUri(placed: string, { uriPrefix, uriSegment }: UriPlace): string | undefined {
  if (!placed.startsWith(uriPrefix)) return undefined;
  const uri = placed.slice(uriPrefix.length);
  if (uriSegment === undefined) return uri;
  const [scheme] = SCHEME.exec(uri) ?? [];
  const rest = scheme === undefined ? undefined : uri.slice(scheme.length);
  // after "//" it is a host, whose case doesn't matter (RFC 3986, section 3.2.2)
  const isWithin = rest?.slice(0, uriSegment.length + 1).toLowerCase() === `${uriSegment.toLowerCase()}/`;
  return isWithin ? `${scheme}${rest.slice(uriSegment.length + 1)}` : undefined;
}
