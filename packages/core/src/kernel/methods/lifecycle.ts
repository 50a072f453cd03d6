import { requireOneOf } from '../../protocol/checks.js';
import { LOG_LEVELS, type ServerCapabilities } from '../../protocol/model.js';
import { REVISION_IDS } from '../../protocol/revisions/index.js';
import type { Registry } from '../../registry/registry.js';
import type { KernelParts, Method } from './method.js';

/** `initialize`, `ping`, `logging/setLevel` and `server/discover`. */
export function lifecycleMethods({
  registry,
  server,
  instructions,
  extensions,
  experimental,
  cache,
}: KernelParts): Record<string, Method> {
  const about = instructions === undefined ? {} : { instructions };
  const extended = Object.fromEntries(extensions.map(({ id, settings = {} }) => [id, settings]));
  const declared = {
    ...(extensions.length > 0 && { extensions: extended }),
    ...(experimental && { experimental }),
  };
  return {
    initialize({ params, revision: opened }, session) {
      const revision = session?.initialize(params) ?? opened;
      const offered = capabilitiesOf(registry, declared);
      return {
        protocolVersion: revision.id,
        capabilities: revision.capabilities(session?.lasting === false ? passing(offered) : offered),
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
