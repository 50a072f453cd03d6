/** The domains that a card may use, as its resource declares them. */
export interface CardDomains {
  readonly connectDomains?: unknown;
  readonly resourceDomains?: unknown;
  readonly frameDomains?: unknown;
  readonly baseUriDomains?: unknown;
}

/** An origin, also with a wildcard as its first label, and a path. Anything else could end the directive. */
const SOURCE = /^(?:(?:https?|wss?):\/\/)?(?:\*\.)?[a-z\d-]+(?:\.[a-z\d-]+)*(?::(?:\d+|\*))?(?:\/[\w.~%+@/-]*)?$/i;
/** Cap on the domains of one kind. */
const MAX_DOMAINS = 100;

/** The declared domains that can be part of a policy. */
function sourcesOf(domains: unknown): string[] {
  if (!Array.isArray(domains)) return [];
  return domains.slice(0, MAX_DOMAINS).filter((each): each is string => typeof each === 'string' && SOURCE.test(each));
}

const directive = (name: string, sources: readonly string[]): string =>
  `${name} ${sources.length > 0 ? sources.join(' ') : "'none'"}`;

/**
 * The content security policy of the frame around a card. The card's document inherits it. MCP Apps (2026-01-26,
 * "Host Behavior") says what a card without domains may load: nothing from elsewhere.
 * @param page the origin of the page that may show the frame
 * @param report the path for reports of what was blocked
 */
export function policyOf(domains: CardDomains, page: string, report: string): string {
  const [connect, resource, frame, base] = [
    domains.connectDomains,
    domains.resourceDomains,
    domains.frameDomains,
    domains.baseUriDomains,
  ].map(sourcesOf) as [string[], string[], string[], string[]];
  return [
    "default-src 'none'",
    directive('script-src', ["'self'", "'unsafe-inline'", ...resource]),
    directive('style-src', ["'unsafe-inline'", ...resource]),
    directive('img-src', ['data:', ...resource]),
    directive('font-src', resource),
    directive('media-src', ['data:', ...resource]),
    directive('connect-src', connect),
    // also keeps the card from going elsewhere in its own frame
    directive('frame-src', frame),
    directive('base-uri', base),
    "object-src 'none'",
    "form-action 'none'",
    `frame-ancestors ${page}`,
    `report-uri ${report}`,
  ].join('; ');
}

/** The policy of the page itself: only its own files, and frames from the other name of this machine. */
export const pagePolicy = (sandbox: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    // its empty icon
    'img-src data:',
    `frame-src ${sandbox}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
