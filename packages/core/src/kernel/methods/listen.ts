import { optionalObject } from '../../protocol/checks.js';
import { McpError } from '../../protocol/errors.js';
import type { JsonObject } from '../../protocol/model.js';
import { follows } from '../../protocol/subscriptions.js';
import type { ListName, Registry } from '../../registry/registry.js';
import type { Listener } from '../events.js';
import type { KernelParts, Method } from './method.js';

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/** How many requests may listen at once. */
const MAX_LISTENERS = 1024;

/** How many resources one request may follow. */
const MAX_RESOURCES = 1000;

const LISTS: readonly (readonly [field: string, list: ListName])[] = [
  ['toolsListChanged', 'tools'],
  ['promptsListChanged', 'prompts'],
  ['resourcesListChanged', 'resources'],
];

/** What a client asks to hear of, as far as there is such a thing. */
interface Honored {
  readonly lists: ReadonlySet<ListName>;
  readonly resources: ReadonlySet<string>;
  /** As it is acknowledged. */
  readonly filter: JsonObject;
}

function honored(asked: JsonObject, { offered }: Registry): Honored {
  const fields = LISTS.filter(([field, list]) => asked[field] === true && offered.has(list));
  const uris = asked['resourceSubscriptions'] ?? [];
  if (!Array.isArray(uris) || uris.length > MAX_RESOURCES || !uris.every((uri) => typeof uri === 'string')) {
    throw new McpError('invalid-params', `"resourceSubscriptions" is not a list of at most ${MAX_RESOURCES} URIs.`);
  }
  const isFollowing = uris.length > 0 && offered.has('resources');
  return {
    lists: new Set(fields.map(([, list]) => list)),
    resources: new Set(isFollowing ? (uris as string[]) : []),
    filter: {
      ...Object.fromEntries(fields.map(([field]) => [field, true])),
      ...(isFollowing && { resourceSubscriptions: uris }),
    },
  };
}

/** `subscriptions/listen`: a request that stays open, and whose stream carries what changes. */
export function listenMethods({ registry, events, server }: KernelParts): Record<string, Method> {
  let listening = 0;
  return {
    'subscriptions/listen': async (exchange) => {
      const asked = optionalObject(exchange.params, 'notifications');
      if (asked === undefined) throw new McpError('invalid-params', '"notifications" is missing.');
      const wanted = honored(asked, registry);
      if (listening >= MAX_LISTENERS) throw new McpError('internal-error', 'There are too many subscriptions.');
      const meta = { [SUBSCRIPTION_ID]: exchange.id };
      let end = () => {};
      const over = new Promise<void>((resolve) => {
        end = resolve;
      });
      const listener: Listener = {
        wantsList: (list) => wanted.lists.has(list),
        wantsResource: (uri) => follows(wanted.resources, uri),
        tell: (method, params) => exchange.notify(method, { ...params, _meta: meta }),
        end,
      };
      exchange.notify('notifications/subscriptions/acknowledged', { notifications: wanted.filter, _meta: meta });
      events.join(listener);
      listening += 1;
      // it ends with its client, or with its transport
      exchange.signal.addEventListener('abort', end, { once: true });
      const forget = exchange.wire.onClosing?.(end);
      await over;
      forget?.();
      listening -= 1;
      events.leave(listener);
      return exchange.revision.complete({ _meta: meta }, server);
    },
  };
}
