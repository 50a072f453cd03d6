const RESERVED = new Set(['modelcontextprotocol', 'mcp']);

/**
 * Whether the prefix of a `_meta` key is reserved for the protocol in some revision. Newer revisions reserve these
 * labels in second position, older revisions in any position but the last.
 */
export function isReservedKey(key: string): boolean {
  const labels = key.includes('/') ? (key.split('/')[0] as string).split('.') : [];
  return labels.some((label, at) => RESERVED.has(label) && (at === 1 || at < labels.length - 1));
}
