import { type NoInput, type Parsed, type SchemaSource } from '@decorum/schema/internal';

import { type AddedMember, addedMembers, type AddMembersOptions, type Handlers } from './added-members.js';
import { addedTool, type Handler, type Named } from './added-tool.js';
import type { ToolMethod, ToolOptions } from './decorators/tool.js';
import { Hooks } from './hooks.js';
import { hostedProvider, type ServerHost, serverHostOf } from './hosting.js';
import type { Context } from './kernel/context.js';
import { MemoryChangeBus } from './kernel/change-bus.js';
import { Events } from './kernel/events.js';
import { ErrorReporter } from './kernel/error-reporter.js';
import { checkErrorRules } from './kernel/expected.js';
import { targetOf } from './kernel/judge.js';
import { forgetUser } from './kernel/memory/forgetting.js';
import { createKernel } from './kernel/observed-kernel.js';
import { announce, MOUNTABLE, type Mountable, mountableOf, openTicket } from './mountable.js';
import { scanMembers } from './metadata/scan.js';
import { type LiveSource, serveLive } from './live-source.js';
import { type Notifier, notifierOf } from './notifier.js';
import { kernelOptions, sharingOf } from './kernel-options.js';
import { checkServerOptions, type McpServerOptions } from './options.js';
import { startupError } from './protocol/errors.js';
import type { Exchange } from './protocol/exchange.js';
import type { UrlElicitation } from './protocol/peer.js';
import type { Implementation } from './protocol/model.js';
import type { Account } from './protocol/owner.js';
import { openExtensions } from './open-extensions.js';
import { OpenTransports } from './open-transports.js';
import { catalogOf, checkPlugins, gateOf, hooksOf, observingOf, withPlugins } from './plugins.js';
import { Providers, type ProviderSource, requireHooks } from './providers.js';
import type { Provider } from './registry/plan.js';
import type { ListName } from './registry/added.js';
import { type HiddenChanges, Registry } from './registry/registry.js';
import { startupWarnings } from './registry/startup-warnings.js';
import { allOrNone, type Registration, removedOnce } from './registration.js';
import { ATTACH, isMemberSource, type SourceDefinition } from './source.js';
import { storeHooks } from './stores.js';
import { routesOf } from './transports/route.js';
import { type ClosableHost, HOST, type HostPort } from './transports/transport.js';

/** Hooks that providers and subclasses of `McpServer` may implement. */
export interface Lifecycle {
  /**
   * Runs once, before the server handles its first message.
   * @param server the server, for example to notify clients of changes: `server.notify`
   */
  onStart?(server: McpServer): void | Promise<void>;
  /** Runs once, after the server has handled its last message. */
  onClose?(): void | Promise<void>;
}

/** Tells a tool that runs other programs, such as `decorum build`, which servers those programs create. */
const CREATED = Symbol.for('decorum:created');

/** Adds to the options of servers that have no `cluster`, in a worker that `decorum start` has forked. */
const CLUSTER = Symbol.for('decorum:cluster');

/**
 * An MCP server. It serves the decorated methods of its providers, and its own if you subclass it. It starts to serve
 * when you open a transport on it. Several transports may be open at once. `E` is inferred from the `errors` option.
 * @example
 * ```ts
 * import { McpServer, serveStdio, Tool } from '@decorum/core';
 *
 * class Greeter {
 *   @Tool({ description: 'Greets everybody' })
 *   greet() {
 *     return 'Hello!';
 *   }
 * }
 *
 * const server = new McpServer({ name: 'greeter', version: '1.0.0', providers: [Greeter] });
 * await serveStdio(server);
 * ```
 */
export class McpServer<E extends readonly object[] = readonly Error[]> implements ClosableHost {
  /** Name, version and the other details that clients see. */
  readonly info: Implementation;
  readonly notify: Notifier;
  /** Used by transports. */
  readonly [HOST]: HostPort;
  /** Used by `mount`. */
  readonly [MOUNTABLE]: Mountable;
  readonly #registry: Registry;
  readonly #reporter: ErrorReporter;
  readonly #providers: Providers;
  readonly #host: ServerHost | undefined;
  readonly #hooks: Hooks;
  readonly #events: Events;
  readonly #transports: OpenTransports;

  /** @throws {DecorumError} for the first mistake in the options or decorators */
  constructor(given: McpServerOptions<E>) {
    checkServerOptions(given);
    const plugins = checkPlugins(given.plugins ?? []);
    const share = (globalThis as { [CLUSTER]?: (own: typeof given) => typeof given })[CLUSTER];
    const options = withPlugins(share?.(given) ?? given, plugins);
    const { logger, onError, errors, cluster } = options;
    const memberOf = (exchange: Exchange) => targetOf(exchange, this.#registry)?.key;
    this.#reporter = new ErrorReporter({ logger, onError, rules: checkErrorRules(errors), memberOf });
    const parts = kernelOptions(options, this.#reporter);
    this.info = parts.server;
    const report = (error: unknown) => void this.#reporter.report(error);
    this.#providers = new Providers(options.resolve, report);
    this.#host = serverHostOf(given);
    this.#events = new Events({
      bus: options.changeBus ?? cluster?.bus ?? new MemoryChangeBus(),
      conditionsOf: (uri) => this.#registry.conditionsOf(uri),
      offered: () => this.#registry.offered,
      report,
    });
    const changed = (lists: readonly ListName[], hidden: HiddenChanges) => {
      // before the first transport opens, no client has seen the lists
      if (!this.#transports.isOpen) return;
      if (lists.length > 0) this.#events.publish({ kind: 'lists', lists });
      this.#events.publishHidden(hidden);
    };
    const gated = { extended: parts.extended, reporter: this.#reporter, gate: gateOf(plugins, report) };
    this.#registry = new Registry(changed, { ...options, ...gated });
    this.#hooks = new Hooks(this, report);
    this.notify = notifierOf({ publish: (change) => announce(this[MOUNTABLE], change) });
    const own = { registry: this.#registry, reporter: this.#reporter, events: this.#events, hooks: this.#hooks };
    const all = { ...parts, ...own, observing: observingOf(plugins), catalog: catalogOf(plugins) };
    const kernel = createKernel(all);
    this.#transports = new OpenTransports({ ...all, kernel, providers: this.#providers });
    this[HOST] = this.#transports.port({ routes: routesOf(plugins), hit: parts.hit, sharing: sharingOf(options) });
    this[MOUNTABLE] = mountableOf({ ...all, transports: this.#transports, port: this[HOST] }, options);
    // first, because other hooks may notify clients
    for (const each of storeHooks(options, this[HOST].report)) this.#hooks.add(each);
    this.#hooks.add({ onStart: () => this.#warn(options.hiddenTags) });
    openExtensions({ ...all, ...kernel.runs, outers: this[MOUNTABLE].outers }, options, this[HOST].report);
    for (const plugin of plugins) this.#hooks.add(hooksOf(plugin));
    const members = scanMembers(new.target);
    const hiding = members.find(({ key }) => key in McpServer.prototype);
    if (hiding !== undefined) throw startupError('DECORUM_RESERVED_MEMBER', `${new.target.name}.${hiding.key}`);
    if (members.length > 0) this.#addProvider({ cls: new.target, instance: this, prefix: '', uriPrefix: '' });
    else this.#hooks.add(this as Lifecycle);
    allOrNone(options.providers ?? [], (each) => this.addProvider(each));
    (globalThis as { [CREATED]?: (server: unknown) => void })[CREATED]?.(this);
  }

  /**
   * Adds a provider at run time. Clients are notified that their lists changed.
   * @throws {DecorumError} for a mistake in its decorators; nothing is added in this case
   * @example
   * ```ts
   * class Clock {
   *   @Tool({ description: 'Tells the time' })
   *   now() {
   *     return new Date();
   *   }
   * }
   *
   * const registration = server.addProvider(Clock);
   * registration.remove();
   * ```
   */
  addProvider(source: ProviderSource): Registration {
    return isMemberSource(source) ? this.#attach(source) : this.#addProvider(this.#providers.read(source));
  }

  /**
   * Adds members that no class has, such as the operations of a document. Clients are notified that their lists changed.
   * @param records what decorators would write down; the key of each names its handler
   * @param handlers functions that get the input and the context, as methods of providers do
   * @returns a registration that removes all of them
   * @throws {DecorumError} for a mistake in the records or options, or a name that is taken; nothing is added then
   * @example
   * ```ts
   * const registration = server.addMembers(
   *   [{ kind: 'resource', key: 'terms', options: { uri: 'shop://terms', description: 'Terms of sale' } }],
   *   { terms: () => 'No returns.' },
   *   { prefix: 'shop' },
   * );
   * registration.remove();
   * ```
   */
  addMembers(records: readonly AddedMember[], handlers: Handlers, options?: AddMembersOptions): Registration {
    return this.#addProvider(addedMembers(records, handlers, options));
  }

  /**
   * Adds a source of members that depend on the caller, and of resources that are on no list. It is asked in each
   * request, after the members that providers have.
   * @param options as of `addMembers`. Names in a `transform` are not checked
   * @throws {DecorumError} for a mistake in the source or options
   * @example
   * ```ts
   * const now = (uri: string) => ({ entry: { uri, name: uri }, run: () => ({ contents: [{ uri, text: 'noon' }] }) });
   * const find = (kind: string, key: string) => (kind === 'resource' && key.startsWith('clock://') ? now(key) : undefined);
   * server.addLive({ kinds: [], list: () => [], find });
   * ```
   */
  addLive(source: LiveSource, options?: AddMembersOptions): Registration {
    const provider = addedMembers([], {}, options);
    const report = provider.onInvalid ?? (({ message }: Error) => this.#reporter.warn({}, message));
    const host = (each: Provider) => hostedProvider(each, this.#host);
    return removedOnce(serveLive(this.#registry, source, { provider, host, report }));
  }

  /** Adds a function as a tool, with a schema for its input and one for its output. */
  addTool<I extends SchemaSource, O extends SchemaSource>(
    options: Named<ToolOptions<I, O>> & { readonly input: I; readonly output: O },
    handler: ToolMethod<I, O>,
  ): Registration;
  /**
   * Adds a function as a tool, for tools that are known only at run time.
   * @param options the options of `@Tool`. `name` is required, and so is `input` if the tool takes arguments
   * @param handler receives the input and the context, even without `input`
   * @throws {DecorumError} for a mistake in the options
   * @example
   * ```ts
   * import { z } from 'zod';
   *
   * const input = z.object({ sku: z.string() });
   * server.addTool({ name: 'lookup', description: 'Finds an article', input }, ({ sku }, ctx) => {
   *   ctx.log.info(`Looking for ${sku}`);
   *   return `Article ${sku}`;
   * });
   * ```
   */
  addTool<I extends SchemaSource>(
    options: Named<ToolOptions<I>> & { readonly input: I; readonly output?: undefined },
    handler: (input: Parsed<I>, context: Context) => unknown,
  ): Registration;
  /** Adds a function without arguments as a tool, with a schema for its output. */
  addTool<O extends SchemaSource>(
    options: Named<ToolOptions<never, O>> & { readonly output: O; readonly input?: undefined },
    handler: (input: NoInput, context: Context) => ReturnType<ToolMethod<never, O>>,
  ): Registration;
  /** Adds a function without arguments as a tool. */
  addTool(
    options: Named<ToolOptions> & { readonly input?: undefined; readonly output?: undefined },
    handler: (input: NoInput, context: Context) => unknown,
  ): Registration;
  addTool(options: Named<{ readonly input?: unknown }>, handler: Handler): Registration {
    return this.#addProvider(addedTool(options, handler));
  }

  /**
   * Opens a ticket, and checks that it was issued to `user`. The ticket is in the URL that `ctx.elicitUrl` or
   * `ctx.requireUrl` sent the user to. Without the check, an attacker could start a request, send the URL to another
   * user, and have that user's account linked to the attacker's.
   * @param ticket the ticket from the URL
   * @param user the user signed in to the page, with the same subject and issuer as on the MCP connection. `undefined`
   *   opens only tickets of anonymous callers
   * @returns the question that the ticket belongs to
   * @throws {TicketError} if the ticket was tampered with, has expired, or was issued to another principal
   */
  openTicket(ticket: string, user: Account | undefined): UrlElicitation {
    return openTicket(this[MOUNTABLE], ticket, user);
  }

  /**
   * Deletes what `ctx.memory` keeps for a user. Calls that are in flight may write anew.
   * @param user the subject and the issuer, as in `ctx.principal`
   * @throws {TypeError} for an empty subject
   * @throws {McpError} `unavailable` if the store can't be reached, or isn't open: open a transport first
   */
  async forgetUser(user: Account): Promise<void> {
    await forgetUser(this[MOUNTABLE].records, user);
  }

  /**
   * Stops accepting requests, lets calls in flight finish, closes the transports and runs the `onClose` hooks.
   * @param options.deadlineMs milliseconds after which calls in flight are cancelled. Defaults to 5000
   */
  async close({ deadlineMs = 5000 }: { readonly deadlineMs?: number } = {}): Promise<void> {
    await this.#transports.close(deadlineMs);
  }

  #warn(hidden: readonly string[] = []): void {
    for (const warning of startupWarnings(this.#registry, hidden)) this.#reporter.warn({}, warning);
  }

  #attach(source: SourceDefinition<object>): Registration {
    requireHooks(source);
    const attached = source[ATTACH](this);
    this.#hooks.add(source as Lifecycle);
    return removedOnce(() => {
      attached?.remove();
      this.#hooks.remove(source as Lifecycle);
    });
  }

  #addProvider(provider: Provider): Registration {
    // handlers have no hooks: somebody else may have chosen their names
    const hooked = provider.relayed === undefined ? provider.instance : {};
    requireHooks(hooked);
    const remove = this.#registry.add(hostedProvider(provider, this.#host));
    this.#hooks.add(hooked);
    return removedOnce(() => {
      remove();
      this.#hooks.remove(hooked);
    });
  }
}
