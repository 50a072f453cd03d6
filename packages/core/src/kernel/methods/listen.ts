import type { JsonObject } from '@decorum/schema/internal';

import { optionalObject } from '../../protocol/checks.js';
import { McpError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import { requireFew } from '../../protocol/limits.js';
import type { ListName } from '../../registry/registry.js';
import { type Listener, LISTS } from '../events.js';
import { isVisible, readerOf } from '../admission.js';
import { Context } from '../context.js';
import { resourceAt } from '../live-members.js';
import type { Followed } from '../extensions/extension.js';
import { inOrder } from '../extensions/published.js';
import { requireDeclared } from './extensions.js';
import type { Method, MethodParts } from './method.js';

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/** Cap on open listen requests. */
const MAX_LISTENERS = 1024;

/** The field that requests notifications about a list. */
const fieldOf = (list: ListName) => `${list}ListChanged`;

/** The part of a client's filter that the server honors. */
interface Honored {
  readonly resources: ReadonlySet<string>;
  /** The filter, as acknowledged. */
  readonly filter: JsonObject;
  /** What the client follows of extensions. */
  readonly followed: readonly { readonly id: string; readonly what: Followed }[];
}

async function honored(asked: JsonObject, parts: MethodParts, exchange: Exchange): Promise<Honored> {
  const { registry, limits, events } = parts;
  const { offered } = registry;
  const lists = LISTS.filter((list) => asked[fieldOf(list)] === true && offered.has(list));
  const uris = asked['resourceSubscriptions'] ?? [];
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string')) {
    throw new McpError('invalid-params', '"resourceSubscriptions" is not a list of URIs.');
  }
  requireFew(uris, limits.maxSubscriptions);
  const isFollowing = uris.length > 0 && offered.has('resources');
  const followed = isFollowing ? await visible(uris, parts, exchange) : [];
  await events.sources.follow(followed);
  // last, because what is published before the acknowledgement is lost
  const extended = await followedOf(asked, parts, exchange);
  return {
    resources: new Set(followed),
    filter: {
      ...Object.fromEntries(lists.map((list) => [fieldOf(list), true])),
      ...(isFollowing && { resourceSubscriptions: followed }),
      ...Object.fromEntries(extended.map(({ field, what }) => [field, what.ack])),
    },
    followed: extended,
  };
}

/** The URIs that the server serves and the caller may read: notifications about others could reveal their existence. */
async function visible(
  uris: readonly string[],
  { registry, reporter }: MethodParts,
  exchange: Exchange,
): Promise<readonly string[]> {
  const answers = await Promise.all(
    uris.map(async (uri) => {
      const found = await resourceAt(exchange, uri, { registry, reporter });
      return found !== undefined && (await isVisible(found.plan, exchange, reporter));
    }),
  );
  return uris.filter((_uri, index) => answers[index]);
}

/** What a client asks to follow of extensions. */
async function followedOf(asked: JsonObject, { extensions }: MethodParts, exchange: Exchange) {
  const found = extensions.flatMap((extension) =>
    Object.entries(extension.listen ?? {})
      .filter(([field]) => asked[field] !== undefined)
      .map(async ([field, follow]) => {
        if (extension.callers !== 'all') requireDeclared(exchange.peer.client, extension);
        const what = await follow(asked[field], new Context(exchange));
        return what && { id: extension.id, field, what };
      }),
  );
  return (await Promise.all(found)).filter((each) => each !== undefined);
}

const NOTHING: Honored = { resources: new Set(), filter: {}, followed: [] };

/** `subscriptions/listen`: a request that stays open while its stream delivers notifications of changes. */
export function listenMethods(parts: MethodParts): Record<string, Method> {
  const { events, results, reporter } = parts;
  const report = (error: unknown) => void reporter.report(error);
  let listening = 0;
  return {
    'subscriptions/listen': async (exchange) => {
      const asked = optionalObject(exchange.params, 'notifications');
      if (asked === undefined) throw new McpError('invalid-params', '"notifications" is missing.');
      if (listening >= MAX_LISTENERS) throw new McpError('internal-error', 'There are too many subscriptions.');
      const meta = { [SUBSCRIPTION_ID]: exchange.id };
      // join before the acknowledgement: the request must already be able to end, but must not get notifications yet
      let wanted = NOTHING;
      let end = () => {};
      const over = new Promise<void>((resolve) => {
        end = resolve;
      });
      const listener: Listener = {
        get reader() {
          return readerOf(exchange);
        },
        wantsList: (list) => wanted.filter[fieldOf(list)] === true,
        wantsResource: (uri) => wanted.resources.has(uri),
        get followed() {
          return wanted.resources;
        },
        notify: (method, params) => exchange.notify(method, { ...params, _meta: meta }),
        extended(id, published) {
          for (const { id: from, what } of wanted.followed) if (from === id) tell(() => what.notification(published));
        },
      };
      const tell = inOrder(listener.notify, report);
      listening += 1;
      events.join(listener);
      // the request ends when the client cancels it, or when its transport stops
      exchange.onCancel(end);
      exchange.keepOpen(end);
      try {
        // if the client is gone, don't wait for the access functions
        const honoring = await Promise.race([honored(asked, parts, exchange), over]);
        if (honoring) {
          const notifications = honoring.filter;
          exchange.notify('notifications/subscriptions/acknowledged', { notifications, _meta: meta });
          wanted = honoring;
          await over;
        }
      } finally {
        listening -= 1;
        events.leave(listener);
      }
      return results.write(exchange.revision, { _meta: meta });
    },
  };
}
