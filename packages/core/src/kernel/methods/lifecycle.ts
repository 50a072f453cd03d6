import { requireOneOf } from '../../protocol/checks.js';
import { type JsonObject, LOG_LEVELS, type ServerCapabilities } from '../../protocol/model.js';
import { REVISION_IDS } from '../../protocol/revisions/index.js';
import type { Registry } from '../../registry/registry.js';
import type { KernelParts, Method } from './method.js';

/** `initialize`, `ping`, `logging/setLevel` and `server/discover`. */
export function lifecycleMethods({
  registry,
  server,
  instructions,
  extensions,
  cache,
}: KernelParts): Record<string, Method> {
  const about = instructions === undefined ? {} : { instructions };
  const declared = Object.fromEntries(extensions.map(({ id, settings = {} }) => [id, settings]));
  return {
    initialize({ params, revision: opened }, session) {
      const revision = session?.initialize(params) ?? opened;
      return {
        protocolVersion: revision.id,
        capabilities: revision.capabilities(capabilitiesOf(registry, declared)),
        serverInfo: revision.implementation(server),
        ...about,
      };
    },

    ping: () => ({}),

    'logging/setLevel'({ params }, session) {
      const level = requireOneOf(params['level'], 'level', LOG_LEVELS);
      if (session) session.logLevel = level;
      return {};
    },

    'server/discover': ({ revision }) =>
      revision.complete(
        {
          supportedVersions: REVISION_IDS,
          capabilities: revision.capabilities(capabilitiesOf(registry, declared)),
          ...about,
        },
        server,
        cache,
      ),
  };
}

/** What the server can do follows from what is registered. */
function capabilitiesOf({ offered }: Registry, extensions: Record<string, JsonObject>): ServerCapabilities {
  return {
    ...(offered.has('tools') && { tools: { listChanged: true } }),
    ...(offered.has('prompts') && { prompts: { listChanged: true } }),
    ...(offered.has('resources') && { resources: { listChanged: true, subscribe: true } }),
    ...(offered.has('completions') && { completions: {} }),
    logging: {},
    ...(Object.keys(extensions).length > 0 && { extensions }),
  };
}
