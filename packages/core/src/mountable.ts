import { type HostPort } from './transports/transport.js';
import { serverHostOf } from './hosting.js';
import type { Hooks } from './hooks.js';
import type { ErrorReporter } from './kernel/error-reporter.js';
import type { Change } from './kernel/change-bus.js';
import type { Events } from './kernel/events.js';
import type { ExtendedTools } from './kernel/extensions/extended-tools.js';
import type { Extension } from './kernel/extensions/extension.js';
import { innerCalls } from './kernel/inner-calls.js';
import type { Kernel } from './kernel/kernel.js';
import type { KernelParts } from './kernel/methods/method.js';
import { createKernel, type Observing } from './kernel/observed-kernel.js';
import type { SealedTickets } from './kernel/tickets.js';
import type { Account } from './protocol/owner.js';
import type { UrlElicitation } from './protocol/peer.js';
import type { Records } from './protocol/records.js';
import type { McpServerOptions } from './options.js';
import type { ListingMode, Registry } from './registry/registry.js';
import type { InnerCalls } from './registry/inner-call.js';
import type { OpenTransports } from './open-transports.js';

/** The key of what a server needs to mount another one, and to be mounted. Registered, so that copies of the package agree. */
export const MOUNTABLE: unique symbol = Symbol.for('decorum:mountable') as never;

/** A server that mounts another one, as the mounted one sees it. */
export interface Outer {
  /** Publishes a change of the mounted server. */
  publish(change: Change): void;
  readonly server: MountableServer;
}

/** What a server needs to mount another one, and to be mounted. */
export interface Mountable {
  readonly registry: Registry;
  readonly tickets: SealedTickets;
  readonly records: Records;
  readonly reporter: ErrorReporter;
  readonly hooks: Hooks;
  readonly events: Events;
  readonly transports: OpenTransports;
  readonly port: HostPort;
  readonly extensions: readonly Extension[];
  readonly extended: ExtendedTools;
  readonly listing: ListingMode | undefined;
  /** Characters of a result, unless a member has its own maximum. */
  readonly maxResultChars: number | undefined;
  /** What the server passed to keep its data; undefined if it keeps it in memory. */
  readonly store: object | undefined;
  /** Whether a framework runs the members of the server. */
  readonly isHosted: boolean;
  /** What the server does around calls; undefined if nothing. */
  readonly calls: InnerCalls | undefined;
  /** Another kernel of the same parts, with these plugin functions in place of those of the server. */
  observed(observing: Observing): Kernel;
  /** The servers that mount this one. */
  readonly outers: Set<Outer>;
}

/** A server that can be mounted. `McpServer` is one. */
export interface MountableServer {
  readonly info: { readonly name: string };
  readonly [MOUNTABLE]: Mountable;
  close(): Promise<void>;
}

type Options = Pick<
  McpServerOptions<readonly object[]>,
  'store' | 'cluster' | 'listing' | 'interceptors' | 'errors' | 'logger' | 'onError'
>;

/** What a server needs to mount another one, and to be mounted. */
export function mountableOf(
  parts: Omit<Mountable, 'store' | 'listing' | 'isHosted' | 'calls' | 'observed' | 'outers'> &
    KernelParts & { readonly observing: Observing | undefined },
  options: Options,
): Mountable {
  const { listing, interceptors = [], errors = [], logger, onError } = options;
  const masks = logger !== undefined || onError !== undefined;
  const calls = innerCalls({ ...parts, interceptors, hasRules: errors.length > 0, masks });
  const observed: Mountable['observed'] = (observing) => createKernel({ ...parts, observing });
  const store = options.store ?? options.cluster?.store;
  return {
    ...parts,
    store,
    listing,
    isHosted: serverHostOf(options) !== undefined,
    calls,
    observed,
    outers: new Set(),
  };
}

/** Publishes a change to the clients of a server, and to those of the servers that mount it. */
export function announce({ registry, events, outers }: Mountable, change: Change): void {
  if (change.kind === 'resource')
    for (const uri of [change.uri, change.within ?? change.uri]) registry.match(uri)?.plan.forget?.(uri);
  events.publish(change);
  for (const outer of outers) outer.publish(change);
}

/**
 * Opens a ticket of a server, or of one that mounts it and has sent the user to its pages.
 * @throws {TicketError}
 */
export function openTicket({ tickets, outers }: Mountable, ticket: string, user: Account | undefined): UrlElicitation {
  try {
    return tickets.open(ticket, user);
  } catch (error) {
    for (const { server } of outers) {
      const visit = attempted(() => openTicket(server[MOUNTABLE], ticket, user));
      if (visit !== undefined) return visit;
    }
    throw error;
  }
}

function attempted<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch {
    return undefined;
  }
}
