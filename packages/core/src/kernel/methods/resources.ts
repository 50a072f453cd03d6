import { andThen, excerpt, type JsonObject } from '@decorum/schema/internal';

import { requireUri } from '../../protocol/checks.js';
import { McpError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import type { ReadResourceResult, Resource, ResourceTemplate } from '../../protocol/model.js';
import { pick } from '../../protocol/revisions/fields.js';
import { enumerated } from '../../registry/enumerated.js';
import { ListPages } from '../../registry/page.js';
import type { ResourceMatch } from '../../registry/registry.js';
import { NO_CACHE } from '../../registry/resource-plan.js';
import { admission, isVisible } from '../admission.js';
import { resourceBudget } from '../budgets/member-budgets.js';
import { Context } from '../context.js';
import { isLiveList, resourceAt, withLive } from '../live-members.js';
import { memoryOf } from './memory-of.js';
import type { Method, MethodParts } from './method.js';
import { pageOf, pageRequest } from './page-of.js';

/** `resources/list`, `resources/templates/list` and `resources/read`. */
export const resourceMethods = (parts: MethodParts): Record<string, Method> => ({
  ...listMethods(parts),
  ...readMethods(parts),
});

function listMethods({ registry, reporter, ...parts }: MethodParts): Record<string, Method> {
  const pages = new ListPages<Resource>({
    ...parts,
    member: 'resources',
    encode: (revision, entry) => revision.resource(entry),
  });
  const templates = new ListPages<ResourceTemplate>({
    ...parts,
    member: 'resourceTemplates',
    encode: (revision, entry) => revision.resourceTemplate(entry),
  });

  const live = { registry, reporter };

  return {
    'resources/list'(exchange) {
      if (!registry.isEnumerated)
        return pageOf(registry.listed.resources, pages, { ...live, kind: 'resource', exchange });
      const report = (problem: string) => reporter.warn({}, problem);
      const admits = admission(exchange, reporter);
      const listed = enumerated(registry, { caller: new Context(exchange), admits, report });
      const all = isLiveList('resource', registry) ? withLive(listed, 'resource', { ...live, exchange }) : listed;
      return all.then((entries) => pages.page(entries, pageRequest(exchange, true)));
    },

    'resources/templates/list': (exchange) =>
      pageOf(registry.listed.templates, templates, { ...live, kind: 'template', exchange }),
  };
}

function readMethods({ registry, reporter, members, results, ...parts }: MethodParts): Record<string, Method> {
  const read = (exchange: Exchange, uri: string, { plan, variables }: ResourceMatch): string | Promise<string> => {
    const { params, revision } = exchange;
    const outcome = members.run<ReadResourceResult>(exchange, {
      kind: 'resource',
      name: uri,
      args: variables,
      access: plan.access,
      deny: () => unknownResource(uri),
      budget: resourceBudget(plan, plan.maxResultChars ?? parts.maxResultChars),
      run: (_args, ctx) => plan.read(uri, variables, ctx),
    });
    // a result that depends on answers is specific to this request: the URI alone cannot reproduce it
    const cache = 'inputResponses' in params || 'requestState' in params ? NO_CACHE : plan.cache;
    return results.writeOutcome(revision, outcome, (result) =>
      results.write(revision, plan.extra ? readResult(result, exchange) : revision.readResult(result), cache),
    );
  };

  return {
    'resources/read'(exchange) {
      const uri = requireUri(exchange.params);
      const found = resourceAt(exchange, uri, { registry, reporter });
      return andThen(found, (match) => read(exchange, uri, match ?? unknownResource(uri)));
    },
  };
}

/** `resources/subscribe` and `resources/unsubscribe`, for peers with memory. */
export function subscriptionMethods({ registry, reporter, events }: MethodParts): Record<string, Method> {
  return {
    async 'resources/subscribe'(exchange) {
      const uri = requireUri(exchange.params);
      const { plan } = (await resourceAt(exchange, uri, { registry, reporter })) ?? unknownResource(uri);
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
