import { andThen, excerpt, type JsonObject } from '@decorum/schema/internal';

import { requireUri } from '../../protocol/checks.js';
import { McpError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import type { ReadResourceResult, Resource, ResourceTemplate } from '../../protocol/model.js';
import { pick } from '../../protocol/revisions/fields.js';
import { ListPages } from '../../registry/page.js';
import { NO_CACHE } from '../../registry/resource-plan.js';
import { admission, isVisible } from '../admission.js';
import { Context } from '../context.js';
import { memoryOf } from './memory-of.js';
import type { Method, MethodParts } from './method.js';
import { pageOf, pageRequest } from './page-of.js';

/** `resources/list`, `resources/templates/list` and `resources/read`. */
export function resourceMethods({
  registry,
  reporter,
  members,
  results,
  ...parts
}: MethodParts): Record<string, Method> {
  const pages = new ListPages<Resource>({
    ...parts,
    member: 'resources',
    encode: (revision, entry) =>
      registry.resources.get(entry.uri)?.extra?.isListed === false ? undefined : revision.resource(entry),
  });
  const templates = new ListPages<ResourceTemplate>({
    ...parts,
    member: 'resourceTemplates',
    encode: (revision, entry) => revision.resourceTemplate(entry),
  });

  return {
    'resources/list': (exchange) =>
      registry.isEnumerated
        ? registry
            .enumerate(new Context(exchange), admission(exchange, reporter), (problem) => reporter.warn({}, problem))
            .then((listed) => pages.page(listed, pageRequest(exchange, true)))
        : pageOf(registry.listed.resources, pages, { exchange, reporter }),

    'resources/templates/list': (exchange) => pageOf(registry.listed.templates, templates, { exchange, reporter }),

    'resources/read'(exchange) {
      const { params, revision } = exchange;
      const uri = requireUri(params);
      const { plan, variables } = registry.match(uri) ?? unknownResource(uri);
      const outcome = members.run<ReadResourceResult>(exchange, {
        kind: 'resource',
        name: uri,
        args: variables,
        access: plan.access,
        deny: () => unknownResource(uri),
        run: (_args, ctx) => plan.read(uri, variables, ctx),
      });
      // a result that depends on answers is specific to this request: the URI alone cannot reproduce it
      const cache = 'inputResponses' in params || 'requestState' in params ? NO_CACHE : plan.cache;
      return results.writeOutcome(revision, outcome, (result) =>
        results.write(revision, plan.extra ? readResult(result, exchange) : revision.readResult(result), cache),
      );
    },
  };
}

/** `resources/subscribe` and `resources/unsubscribe`, for peers with memory. */
export function subscriptionMethods({ registry, reporter, events }: MethodParts): Record<string, Method> {
  return {
    async 'resources/subscribe'(exchange) {
      const uri = requireUri(exchange.params);
      const { plan } = registry.match(uri) ?? unknownResource(uri);
      if (!(await isVisible(plan, exchange, reporter))) {
        if (exchange.observation !== undefined) exchange.observation.isDenied = true;
        unknownResource(uri);
      }
      await memoryOf(exchange)?.subscribe(uri);
      await events.sources.follow([uri]);
      return EMPTY;
    },

    'resources/unsubscribe': (exchange) =>
      andThen(memoryOf(exchange)?.unsubscribe(requireUri(exchange.params)), () => {
        events.sources.review();
        return EMPTY;
      }),
  };
}

/** Contents keep what extensions add, even in revisions without `_meta`, if the client declares extensions. */
function readResult(result: ReadResourceResult, { revision, peer }: Exchange): JsonObject {
  const written = revision.readResult(result);
  if (peer.client.capabilities.extensions === undefined) return written;
  const contents = (written['contents'] as readonly JsonObject[]).map((each, index) => ({
    ...each,
    ...pick(result.contents[index] ?? {}, META),
  }));
  return { ...written, contents };
}

const META = ['_meta'] as const;

const EMPTY = '{}';

function unknownResource(uri: string): never {
  throw new McpError('unknown-resource', 'Resource not found', { uri: excerpt(uri) });
}
