import { requireString } from '../../protocol/checks.js';
import { excerpt, McpError } from '../../protocol/errors.js';
import type { Session } from '../../protocol/eras/stateful.js';
import type { Exchange } from '../../protocol/exchange.js';
import type { Resource, ResourceTemplate } from '../../protocol/model.js';
import { ListPages } from '../../registry/page.js';
import { Context } from '../context.js';
import { cursorScope, type KernelParts, type Method } from './method.js';

/** How many resources one session may follow. */
const MAX_SUBSCRIPTIONS = 1000;

/** `resources/list`, `resources/templates/list`, `resources/read`, and the subscriptions of sessions. */
export function resourceMethods({ registry, ...parts }: KernelParts): Record<string, Method> {
  const { server } = parts;
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

  const pageOf = (exchange: Exchange) => ({
    revision: exchange.revision,
    cursor: exchange.params['cursor'],
    scope: cursorScope(exchange),
  });

  const find = (uri: string) => {
    const found = registry.match(uri);
    if (found === undefined) throw new McpError('unknown-resource', 'Resource not found', { uri: excerpt(uri) });
    return found;
  };

  return {
    'resources/list': async (exchange) => pages.page(await registry.enumerate(new Context(exchange)), pageOf(exchange)),

    'resources/templates/list': (exchange) => templates.page(registry.listed.templates, pageOf(exchange)),

    async 'resources/read'(exchange) {
      const { params, revision } = exchange;
      const uri = requireString(params, 'uri');
      const { plan, variables } = find(uri);
      const result = await plan.read(uri, variables, new Context(exchange));
      return revision.complete(revision.readResult(result), server, plan.cache);
    },

    'resources/subscribe'({ params }, session) {
      const uri = requireString(params, 'uri');
      find(uri);
      subscribe(uri, session);
      return {};
    },

    'resources/unsubscribe'({ params }, session) {
      session?.subscriptions.delete(requireString(params, 'uri'));
      return {};
    },
  };
}

function subscribe(uri: string, session: Session | undefined): void {
  if ((session?.subscriptions.size ?? 0) >= MAX_SUBSCRIPTIONS) {
    throw new McpError('invalid-params', `A session can follow at most ${MAX_SUBSCRIPTIONS} resources.`);
  }
  session?.subscriptions.add(uri);
}
