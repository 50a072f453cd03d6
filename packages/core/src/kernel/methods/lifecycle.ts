import { andThen, type JsonObject } from '@decorum/schema/internal';

import { requireOneOf } from '../../protocol/checks.js';
import type { Exchange } from '../../protocol/exchange.js';
import { LOG_LEVELS, type ServerCapabilities } from '../../protocol/model.js';
import { REVISION_IDS } from '../../protocol/revisions/index.js';
import type { CacheHint } from '../../protocol/revisions/revision.js';
import type { Registry } from '../../registry/registry.js';
import type { Extension } from '../extensions/extension.js';
import { memoryOf } from './memory-of.js';
import type { Method, MethodParts } from './method.js';

/** `initialize`, `ping`, `logging/setLevel` and `server/discover`. */
export function lifecycleMethods({ registry, server, results, ...parts }: MethodParts): Record<string, Method> {
  const { extensions, experimental, cache, events } = parts;
  const instructions = () => events.sources.instructions(parts.instructions);
  const declared = experimental && { experimental };
  // what an extension declares may depend on the caller
  const isPersonal = extensions.some((extension) => extension.capabilities !== undefined);
  const hint: CacheHint = isPersonal ? { ...cache, scope: 'private' } : cache;
  return {
    initialize(exchange) {
      const { params, peer, wire, revision: opened } = exchange;
      const revision = peer.initialize?.(params) ?? opened;
      const offered = capabilitiesOf(registry, peer.memory !== undefined, wire.isBrief);
      return JSON.stringify({
        protocolVersion: revision.id,
        capabilities: extendedBy(extensions, exchange, revision.capabilities({ ...offered, ...declared })),
        serverInfo: revision.implementation(server),
        instructions: instructions(),
      });
    },

    ping: () => '{}',

    'logging/setLevel': (exchange) =>
      andThen(memoryOf(exchange)?.setLogLevel(requireOneOf(exchange.params['level'], 'level', LOG_LEVELS)), () => '{}'),

    'server/discover'(exchange) {
      const { revision, wire } = exchange;
      const offered = revision.capabilities({ ...capabilitiesOf(registry, true, wire.isBrief), ...declared });
      const capabilities = extendedBy(extensions, exchange, offered);
      return results.write(
        revision,
        { supportedVersions: REVISION_IDS, capabilities, instructions: instructions() },
        hint,
      );
    },
  };
}

/**
 * Adds the capabilities that extensions declare. In sessions, clients that declare no extensions are told only of those
 * whose methods anybody may call: the schema of `initialize` doesn't have extensions yet, but clients look for them there.
 */
function extendedBy(parts: readonly Extension[], { peer, wire }: Exchange, capabilities: JsonObject): JsonObject {
  const { revision, client } = peer;
  if (!revision.extensions || parts.length === 0) return capabilities;
  const { principal } = wire;
  const isTold = !revision.sessions || client.capabilities.extensions !== undefined;
  const declared = parts.map((extension): JsonObject => {
    const { id, settings = {}, callers } = extension;
    const own = extension.capabilities?.(revision.id, { principal }) ?? {};
    const { extensions, ...others } = extension.capabilities ? own : { extensions: { [id]: settings } };
    return isTold || callers === 'all' ? { ...others, extensions } : others;
  });
  const extensions = Object.assign({}, ...declared.map((each) => each['extensions'])) as JsonObject;
  const { extensions: _separately, ...others } = Object.assign({}, ...declared) as JsonObject;
  return { ...capabilities, ...others, ...(Object.keys(extensions).length > 0 && { extensions }) };
}

/**
 * Derives the capabilities from the registered members.
 * @param remembers whether the peer has memory beyond the request. Without memory, there are no change notifications,
 *   subscriptions or log level
 * @param isBrief whether no response stays open, so that nothing can notify the peer of changes
 */
function capabilitiesOf({ offered }: Registry, remembers: boolean, isBrief = false): ServerCapabilities {
  const notifies = remembers && !isBrief;
  const list = notifies ? { listChanged: true } : {};
  return {
    ...(offered.has('tools') && { tools: list }),
    ...(offered.has('prompts') && { prompts: list }),
    ...(offered.has('resources') && { resources: notifies ? { ...list, subscribe: true } : list }),
    ...(offered.has('completions') && { completions: {} }),
    ...(remembers && { logging: {} }),
  };
}
