import type { McpServer } from '@decorum/core';
import { ATTACH, type MemberSource } from '@decorum/core/plugin';

import { type ConnectTarget, requireTarget } from '../target.js';
import { AttachedProxy } from './attached-proxy.js';
import { type ProxyOptions, requireProxyOptions, takenBy } from './proxy-options.js';
import { proxyName } from './target-name.js';

/**
 * Serves the members of another server, whatever revision it speaks. The caller's token is never passed on: `headers`
 * decides with what the upstream is called.
 * @param target the URL of an endpoint, or `{ command, args, env, cwd }` to start a program
 * @returns an entry of `providers`
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { proxy } from '@decorum/client';
 *
 * const server = new McpServer({
 *   name: 'shop',
 *   version: '1.0.0',
 *   providers: [proxy('https://mcp.example.com/mcp', { prefix: 'geo', filter: { tools: ['locate'] } })],
 * });
 * ```
 */
export function proxy(target: ConnectTarget, options: ProxyOptions = {}): MemberSource {
  const where = proxyName(target);
  requireTarget(where, target);
  requireProxyOptions(where, target, options);
  const taken = takenBy(where, options);
  let attached: AttachedProxy | undefined;
  return {
    [ATTACH](server: McpServer) {
      attached = new AttachedProxy({ server, where, target, options, taken });
    },
    onStart: async () => await attached?.start(),
    onClose: async () => await attached?.close(),
  };
}
