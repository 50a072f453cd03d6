import {
  type Class,
  invalidOption,
  isObject,
  type JsonObject,
  requireOptions,
  within as atMost,
} from '@decorum/schema/internal';

import type { Extension } from './kernel/extensions/extension.js';
import type { Change } from './kernel/change-bus.js';
import { announce, MOUNTABLE, type MountableServer, type Outer } from './mountable.js';
import { startupError } from './protocol/errors.js';
import { MountedMembers } from './registry/mounted-members.js';
import { isTaken } from './registry/lists.js';
import { originalUri, placedUri } from './registry/placed-uri.js';
import type { Registry } from './registry/registry.js';
import { requireScopes } from './registry/plan.js';
import type { Registration } from './registration.js';
import type { Changes } from './registry/change.js';
import { requireTags } from './registry/tags.js';
import { requireTransform, Transforms } from './registry/transforms.js';
import { ATTACH, type SourceDefinition } from './source.js';
import { SOURCE_OPTIONS, type SourceOptions } from './source-options.js';
import type { McpServer } from './server.js';

/** Options of `mount`. */
export type MountOptions = SourceOptions;

/** A server among the `providers` of another one. */
export type Mount = SourceDefinition<McpServer>;

/**
 * Serves what another server of this process serves. Its members keep the access rules, interceptors, error rules and
 * plugins of their own server; those of the server that mounts apply before. Changes of its lists follow. It opens and
 * closes with the server that mounts, or with the last one if several do.
 * @param server the server to mount
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`; and when it is added to a server, `DECORUM_DUPLICATE_NAME`,
 *   `DECORUM_INVALID_NAME`, `DECORUM_MOUNT_CIRCLE` and `DECORUM_BAD_MOUNT`
 * @example
 * ```ts
 * class Invoices {
 *   @Tool({ description: 'Pays an invoice' })
 *   pay() {
 *     return 'Paid.';
 *   }
 * }
 *
 * const billing = new McpServer({ name: 'billing', version: '1.0.0', providers: [Invoices] });
 *
 * // its tool is called `billing_pay`
 * const server = new McpServer({ name: 'shop', version: '1.0.0', providers: [mount(billing, { prefix: 'billing' })] });
 * ```
 */
export function mount(server: McpServer<readonly object[]>, options: MountOptions = {}): Mount {
  const inner: unknown = server;
  if (!isObject(inner) || !(MOUNTABLE in inner))
    throw invalidOption('mount', 'server', 'is not an McpServer. Pass what `new McpServer({ … })` returns');
  const where = `mount(${server.info.name})`;
  requireOptions(where, options, SOURCE_OPTIONS);
  const { uriPrefix = options.prefix ?? '', scopes = [], tags = [], transform } = options;
  requireScopes(scopes, where);
  requireTags(tags, where);
  requireTransform(transform, where);
  if (!/^[\w.~-]*$/.test(uriPrefix)) {
    const option = 'uriPrefix' in options ? 'uriPrefix' : 'prefix';
    throw invalidOption(where, option, 'must be one segment of a URI: letters, digits, "_", "-", "." and "~"');
  }
  return { [ATTACH]: (outer) => attach(server, outer, { ...options, uriPrefix, scopes, tags }) };
}

type Place = MountOptions & Required<Pick<MountOptions, 'uriPrefix' | 'scopes' | 'tags'>>;

/** Adds the members of a server to another one, and whatever they have from now on. */
function attach(server: MountableServer, outer: MountableServer, options: Place): Registration {
  requireMountable(server, outer);
  const [inner, own] = [server[MOUNTABLE], outer[MOUNTABLE]];
  const place = placeOf(server, options);
  const mounted = membersOf(server, outer, place);
  warnOfExtensions(server, outer);
  warnOfStore(server, outer);
  const transforms = new Transforms(place, own.extended);
  const follow = () =>
    inner.registry.following.join((members) => own.registry.addCompiled(mounted.of(members), transforms));
  let unfollow = follow();
  // callers may have members of that name
  if (inner.registry.live.length === 0) requireKnown(transforms, unfollow);
  const link: Outer = { server: outer, publish: (change) => announce(own, moved(change, place)) };
  inner.outers.add(link);
  const unserve = inner.events.sources.serve(own.events.sources, (uri) => originalUri(uri, place));
  const stopped = () => {
    mounted.isClosed = true;
    unfollow();
    unfollow = follow();
  };
  const end = (isKept: boolean) => {
    unfollow(isKept);
    inner.outers.delete(link);
    unserve();
  };
  const settled = async () => await mounted.settled();
  const opening = openingOf(server, { stopped, settled, closed: () => end(true) });
  own.hooks.add(opening);
  return {
    remove() {
      end(false);
      own.hooks.remove(opening);
    },
  };
}

/** Makes the members that a server serves of those of another one. */
function membersOf(server: MountableServer, outer: MountableServer, place: ReturnType<typeof placeOf>) {
  const [inner, own] = [server[MOUNTABLE], outer[MOUNTABLE]];
  return new MountedMembers({
    ...place,
    onlyUsable: inner.listing === 'usable',
    maxOf: (max = inner.maxResultChars) => Math.min(max ?? Infinity, own.maxResultChars ?? Infinity),
    calls: inner.calls,
    movedOptions: (given, move) => own.extended.moved(given, move),
    extrasOf(tool, given) {
      requireExtensions(server, outer, { tool: tool.name, options: given });
      return own.extended.extrasOf(tool, given);
    },
    live: {
      transforms: place.transform && new Transforms(place, undefined),
      isTaken: (kind, key) => isTaken(inner.registry, kind, key),
      serves: (uri) => inner.registry.match(uri) !== undefined,
      report: ({ message }) => own.reporter.warn({}, message),
    },
    guarded: (member) => inner.registry.guarded(member),
    guardedAt: (uri, guards) => inner.registry.guardedAt(uri, guards),
    hasResources: () => inner.registry.resources.size + inner.registry.templates.size + inner.registry.live.length > 0,
    serves: (uri) => servesLink(inner.registry, uri),
  });
}

/** Whether a server serves a URI of a result. A link to a web page is none of a live source. */
const servesLink = (registry: Registry, uri: string): boolean =>
  registry.match(uri) !== undefined ||
  (!/^(?:https?|data|cid):/i.test(uri) && registry.live.some((source) => source.owns(uri)));

/** Where the members go, and what changes of them. */
function placeOf({ info }: MountableServer, { prefix = '', separator = '_', uriPrefix, ...options }: Place) {
  const source = `mount(${info.name})`;
  return {
    // errors name the class of a provider
    cls: Object.defineProperty(class {}, 'name', { value: source }) as unknown as Class,
    source,
    prefix: prefix === '' ? '' : prefix + separator,
    uriPrefix: '',
    uriSegment: uriPrefix === '' ? undefined : uriPrefix,
    access: options.access,
    scopes: options.scopes,
    tags: options.tags,
    transform: options.transform as Changes | undefined,
  };
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` for changes of members that the mounted server doesn't have */
function requireKnown(transforms: Transforms, remove: () => void): void {
  try {
    transforms.requireAllKnown();
  } catch (error) {
    remove();
    throw error;
  }
}

/** A change with the URIs that clients of the outer server know. */
function moved(change: Change, place: Parameters<typeof placedUri>[1]): Change {
  if (change.kind !== 'resource') return change;
  const { within, uri } = change;
  return { ...change, uri: placedUri(uri, place), ...(within !== undefined && { within: placedUri(within, place) }) };
}

/** Milliseconds for which a server that is closed by itself waits for calls of its mounted members. */
const MAX_CALLS_MS = 5000;

const LATE = 'Calls of mounted members have not ended.';

/**
 * Opens a server for as long as another one serves its members, and closes it unless something else is open on it.
 * @param on.stopped called if the server closes before
 * @param on.settled waits for the calls that run
 * @param on.closed called once the other one has closed
 */
function openingOf(
  server: MountableServer,
  on: { readonly stopped: () => void; readonly settled: () => Promise<void>; readonly closed: () => void },
) {
  const { port, transports } = server[MOUNTABLE];
  const transport = {
    stop: on.stopped,
    close: async () => await atMost(MAX_CALLS_MS, LATE, on.settled).catch(() => {}),
  };
  let opening: Promise<unknown> | undefined;
  return {
    // errors name it
    constructor: { name: `mount(${server.info.name})` },
    async onStart() {
      opening = port.open(() => transport);
      await opening;
    },
    async onClose() {
      on.closed();
      await Promise.allSettled([opening]);
      port.detach(transport);
      if (transports.isIdle) await server.close();
    },
  };
}

/**
 * Rejects servers that can't be mounted.
 * @throws {DecorumError} `DECORUM_MOUNT_CIRCLE`, `DECORUM_BAD_MOUNT`
 */
function requireMountable(server: MountableServer, outer: MountableServer): void {
  const circle = pathTo(server, outer);
  if (circle !== undefined) throw startupError('DECORUM_MOUNT_CIRCLE', [outer.info.name, ...circle]);
  if (outer[MOUNTABLE].isHosted) {
    const problem = `can't be mounted, because the guards of the framework of "${outer.info.name}" would not see its calls. Mount both in a third server, or list its providers`;
    throw startupError('DECORUM_BAD_MOUNT', server.info.name, problem);
  }
}

/** The names of the servers from `server` to `outer`, each of which mounts the next; undefined if there is no such way. */
function pathTo(server: MountableServer, outer: MountableServer): readonly string[] | undefined {
  if (server === outer) return [outer.info.name];
  for (const each of outer[MOUNTABLE].outers) {
    const path = pathTo(server, each.server);
    if (path !== undefined) return [...path, outer.info.name];
  }
  return undefined;
}

/** The extensions of a server that the server that mounts it lacks. */
const lackingIn = (server: MountableServer, outer: MountableServer): readonly Extension[] => {
  const known = new Set(outer[MOUNTABLE].extensions.map(({ id }) => id));
  return server[MOUNTABLE].extensions.filter(({ id }) => !known.has(id));
};

/**
 * Rejects a tool that would not do what its options say, such as one that clients show and the model must not see.
 * @throws {DecorumError} `DECORUM_BAD_MOUNT`
 */
function requireExtensions(
  server: MountableServer,
  outer: MountableServer,
  { tool, options }: { readonly tool: string; readonly options: JsonObject },
): void {
  const lacking = lackingIn(server, outer).find(({ toolOptions = {} }) =>
    Object.keys(toolOptions).some((name) => name in options),
  );
  if (lacking === undefined) return;
  const problem = `has the tool "${tool}" with options of the extension "${lacking.id}", which "${outer.info.name}" lacks. Add the extension there`;
  throw startupError('DECORUM_BAD_MOUNT', server.info.name, problem);
}

/** Warns of extensions that serve something besides the members of a server. */
function warnOfExtensions(server: MountableServer, outer: MountableServer): void {
  const [name, outside] = [server.info.name, outer.info.name];
  for (const { id, toolOptions } of lackingIn(server, outer)) {
    if (toolOptions !== undefined) continue;
    const problem = `the extension "${id}" of the mounted server "${name}" has no effect on "${outside}". Add it there`;
    outer[MOUNTABLE].reporter.warn({}, problem);
  }
}

/** Warns of data that would be lost with the process, although its server has a place for it. */
function warnOfStore(server: MountableServer, outer: MountableServer): void {
  const [name, outside] = [server.info.name, outer.info.name];
  if (server[MOUNTABLE].store === undefined || outer[MOUNTABLE].store !== undefined) return;
  const problem = `what calls of "${outside}" record is kept in memory, and not in the \`store\` of the mounted server "${name}". Pass \`store\` to "${outside}"`;
  outer[MOUNTABLE].reporter.warn({}, problem);
}
