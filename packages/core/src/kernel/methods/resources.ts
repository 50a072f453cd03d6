import { requireString } from '../../protocol/checks.js';
import { excerpt, McpError } from '../../protocol/errors.js';
import type { Session } from '../../protocol/eras/stateful.js';
import type { Exchange } from '../../protocol/exchange.js';
import type { Resource, ResourceTemplate } from '../../protocol/model.js';
import type { Access } from '../../protocol/wire.js';
import { ListPages } from '../../registry/page.js';
import { NOT_KEPT } from '../../registry/resource-plan.js';
import { Context } from '../context.js';
import { admission, pageOf, pageRequest } from './access.js';
import type { KernelParts, Method } from './method.js';

/** How many resources one session may follow. */
const MAX_SUBSCRIPTIONS = 1000;

/** `resources/list`, `resources/templates/list`, `resources/read`, and the subscriptions of sessions. */
export function resourceMethods({ registry, ...parts }: KernelParts): Record<string, Method> {
  const { server, faults, intercept } = parts;
  const pages = new ListPages<Resource>({
    ...parts,
    member: 'resources',
    word: (revision, entry) => revision.resource(entry),
  });
  const templates = new ListPages<ResourceTemplate>({
    ...parts,
    member: 'resourceTemplates',
    word: (revision, entry) => revision.resourceTemplate(entry),
  });

  const requireAccess = async (access: Access, uri: string, exchange: Exchange) => {
    if (!(await admission(exchange, faults)(access))) unknownResource(uri);
  };

  return {
    async 'resources/list'(exchange) {
      const { listed, personal } = await registry.enumerate(new Context(exchange), admission(exchange, faults));
      return pages.page(listed, pageRequest(exchange, personal));
    },

    'resources/templates/list': (exchange) => pageOf(registry.listed.templates, templates, { exchange, faults }),

    async 'resources/read'(exchange) {
      const { params, revision } = exchange;
      const uri = requireString(params, 'uri');
      const { plan, variables } = registry.match(uri) ?? unknownResource(uri);
      if (plan.access !== undefined) await requireAccess(plan.access, uri, exchange);
      const ctx = new Context(exchange);
      const result =
        intercept === undefined
          ? await plan.read(uri, variables, ctx)
          : await intercept({ kind: 'resource', name: uri, args: variables, ctx }, () =>
              plan.read(uri, variables, ctx),
            );
      // what depends on answers is nobody else's, and cannot be asked for again by its URI alone
      const cache = 'inputResponses' in params || 'requestState' in params ? NOT_KEPT : plan.cache;
      return revision.complete(revision.readResult(result), server, cache);
    },

    async 'resources/subscribe'(exchange, session) {
      const uri = requireString(exchange.params, 'uri');
      const { plan } = registry.match(uri) ?? unknownResource(uri);
      if (plan.access !== undefined) await requireAccess(plan.access, uri, exchange);
      subscribe(uri, session);
      return {};
    },

    'resources/unsubscribe'({ params }, session) {
      session?.subscriptions.delete(requireString(params, 'uri'));
      return {};
    },
  };
}

function unknownResource(uri: string): never {
  throw new McpError('unknown-resource', 'Resource not found', { uri: excerpt(uri) });
}

function subscribe(uri: string, session: Session | undefined): void {
  if ((session?.subscriptions.size ?? 0) >= MAX_SUBSCRIPTIONS) {
    throw new McpError('invalid-params', `A session can follow at most ${MAX_SUBSCRIPTIONS} resources.`);
  }
  session?.subscriptions.add(uri);
}
