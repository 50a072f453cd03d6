import { connectClient } from '../connect-client.js';
import type { ConnectTarget } from '../target.js';
import { readCatalog } from './catalog.js';
import { digestOfCatalog } from './pin.js';
import { type ProxyOptions, requireProxyOptions, takenBy } from './proxy-options.js';
import { proxyName } from './target-name.js';

/**
 * Connects to a server, and returns the digest of everything that it lists: for the option `pin` of `proxy`.
 * @param options the options of the proxy: `filter`, `limits`, `revision` and `headers` matter
 * @returns `sha256-…`
 * @throws {ConnectionError} if the server can't be reached
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { contractDigest } from '@decorum/client';
 *
 * const pin = await contractDigest('https://mcp.example.com/mcp', { filter: { tools: ['locate'] } });
 * ```
 */
export async function contractDigest(target: ConnectTarget, options: ProxyOptions = {}): Promise<string> {
  const where = proxyName(target);
  requireProxyOptions(where, target, options);
  const { headers, revision } = options;
  const client = await connectClient(target, { revision, headers: headers && (async () => await headers(undefined)) });
  try {
    const capabilities = client.capabilities as Readonly<Record<string, unknown>>;
    const request = async (method: string, params: object) => await client.request(method, params as never);
    const source = { ...takenBy(where, options), request, warn: () => {} };
    return digestOfCatalog(await readCatalog(source, (name) => capabilities[name] !== undefined));
  } finally {
    await client.close();
  }
}
