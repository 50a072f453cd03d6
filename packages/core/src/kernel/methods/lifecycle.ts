import { requireOneOf } from '../../protocol/checks.js';
import { andThen } from '../../protocol/maybe-promise.js';
import { LOG_LEVELS, type ServerCapabilities } from '../../protocol/model.js';
import { REVISION_IDS } from '../../protocol/revisions/index.js';
import type { Registry } from '../../registry/registry.js';
import type { Method, MethodParts } from './method.js';

/** `initialize`, `ping`, `logging/setLevel` and `server/discover`. */
export function lifecycleMethods({
  registry,
  server,
  instructions,
  extensions,
  experimental,
  cache,
  results,
}: MethodParts): Record<string, Method> {
  const about = instructions === undefined ? {} : { instructions };
  const extended = Object.fromEntries(extensions.map(({ id, settings = {} }) => [id, settings]));
  const declared = {
    ...(extensions.length > 0 && { extensions: extended }),
    ...(experimental && { experimental }),
  };
  return {
    initialize({ params, peer, revision: opened }) {
      const revision = peer.initialize?.(params) ?? opened;
      const offered = capabilitiesOf(registry, declared);
      return JSON.stringify({
        protocolVersion: revision.id,
        capabilities: revision.capabilities(peer.memory ? offered : passing(offered)),
        serverInfo: revision.implementation(server),
        ...about,
      });
    },

    ping: () => '{}',

    'logging/setLevel': ({ params, peer }) =>
      andThen(peer.memory?.setLogLevel(requireOneOf(params['level'], 'level', LOG_LEVELS)), () => '{}'),

    'server/discover': ({ revision }) =>
      results.write(
        revision,
        {
          supportedVersions: REVISION_IDS,
          capabilities: revision.capabilities(capabilitiesOf(registry, declared)),
          ...about,
        },
        cache,
      ),
  };
}

/** What is left where nothing outlives a request: no changes are told, no subscription and no log level is kept. */
function passing({ logging: _kept, ...offered }: ServerCapabilities): ServerCapabilities {
  return {
    ...offered,
    ...(offered.tools && { tools: {} }),
    ...(offered.prompts && { prompts: {} }),
    ...(offered.resources && { resources: {} }),
  };
}

/** What the server can do follows from what is registered, and from what it declares beside that. */
function capabilitiesOf({ offered }: Registry, declared: ServerCapabilities): ServerCapabilities {
  return {
    ...(offered.has('tools') && { tools: { listChanged: true } }),
    ...(offered.has('prompts') && { prompts: { listChanged: true } }),
    ...(offered.has('resources') && { resources: { listChanged: true, subscribe: true } }),
    ...(offered.has('completions') && { completions: {} }),
    logging: {},
    ...declared,
  };
}
