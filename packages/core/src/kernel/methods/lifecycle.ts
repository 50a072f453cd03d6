import { andThen } from '@decorum/schema/internal';

import { requireOneOf } from '../../protocol/checks.js';
import { LOG_LEVELS, type ServerCapabilities } from '../../protocol/model.js';
import { REVISION_IDS } from '../../protocol/revisions/index.js';
import type { Registry } from '../../registry/registry.js';
import { memoryOf } from './memory-of.js';
import type { Method, MethodParts } from './method.js';

/** `initialize`, `ping`, `logging/setLevel` and `server/discover`. */
export function lifecycleMethods({ registry, server, results, ...parts }: MethodParts): Record<string, Method> {
  const { instructions, extensions, experimental, cache } = parts;
  const extended = Object.fromEntries(extensions.map(({ id, settings = {} }) => [id, settings]));
  const declared = { ...(extensions.length > 0 && { extensions: extended }), ...(experimental && { experimental }) };
  return {
    initialize({ params, peer, revision: opened }) {
      const revision = peer.initialize?.(params) ?? opened;
      const offered = capabilitiesOf(registry, peer.memory !== undefined);
      return JSON.stringify({
        protocolVersion: revision.id,
        capabilities: revision.capabilities({ ...offered, ...declared }),
        serverInfo: revision.implementation(server),
        instructions,
      });
    },

    ping: () => '{}',

    'logging/setLevel': (exchange) =>
      andThen(memoryOf(exchange)?.setLogLevel(requireOneOf(exchange.params['level'], 'level', LOG_LEVELS)), () => '{}'),

    'server/discover'({ revision }) {
      const capabilities = revision.capabilities({ ...capabilitiesOf(registry, true), ...declared });
      return results.write(revision, { supportedVersions: REVISION_IDS, capabilities, instructions }, cache);
    },
  };
}

/**
 * Derives the capabilities from the registered members.
 * @param remembers whether the peer has memory beyond the request. Without memory, there are no change notifications,
 *   subscriptions or log level
 */
function capabilitiesOf({ offered }: Registry, remembers: boolean): ServerCapabilities {
  const list = remembers ? { listChanged: true } : {};
  return {
    ...(offered.has('tools') && { tools: list }),
    ...(offered.has('prompts') && { prompts: list }),
    ...(offered.has('resources') && { resources: remembers ? { ...list, subscribe: true } : list }),
    ...(offered.has('completions') && { completions: {} }),
    ...(remembers && { logging: {} }),
  };
}
