import type { ToolMethod, ToolOptions } from './decorators/tool.js';
import { Hooks } from './hooks.js';
import type { Context } from './kernel/context.js';
import { MemoryChangeBus } from './kernel/change-bus.js';
import { Events } from './kernel/events.js';
import { ErrorReporter, STDERR_LOGGER } from './kernel/error-reporter.js';
import { checkErrorRules } from './kernel/expected.js';
import { Kernel } from './kernel/kernel.js';
import type { SealedTickets } from './kernel/tickets.js';
import { scanMembers } from './metadata/scan.js';
import { checkServerOptions, kernelOptions, type McpServerOptions } from './options.js';
import { startupError } from './protocol/errors.js';
import type { Visit } from './protocol/exchange.js';
import type { Implementation } from './protocol/model.js';
import type { Principal } from './protocol/wire.js';
import { Providers, type ProviderSource, requireHooks } from './providers.js';
import type { Provider } from './registry/plan.js';
import { type ListName, Registry } from './registry/registry.js';
import { checkSpokenText } from './registry/results.js';
import { NoInput, type Parsed, type SchemaSource } from './schema/shape.js';
import { type ClosableHost, HOST, type HostPort, type Transport } from './transports/transport.js';

/** What providers and subclasses of `McpServer` may implement. */
export interface Lifecycle {
  /**
   * Runs once, before the server serves its first message.
   * @param server the server, for example to tell clients of changes: `server.notify`
   */
  onStart?(server: McpServer): void | Promise<void>;
  /** Runs once, when the server has served its last message. */
  onClose?(): void | Promise<void>;
}

type Named<T> = T & { readonly name: string };

/** Something that was added to a server. */
export interface Registration {
  /** Takes it out of service; clients are told that their lists changed. */
  remove(): void;
}

/** Tells clients of changes that the server cannot see by itself. */
export interface Notifier {
  /** A resource has changed; those who subscribed to its URI are told. */
  resourceUpdated(uri: string): void;
  toolsChanged(): void;
  promptsChanged(): void;
  /** There are other resources than before, for example because a template enumerates others. */
  resourcesChanged(): void;
  /**
   * What a user was asked to do at a URL is done. Told to the session that was asked, where its revision has the
   * notification (2025-11-25) and this process holds it; nothing is sent elsewhere.
   * @param id the id of the visit, as of `server.openTicket`
   */
  elicitationCompleted(id: string): void;
}

/**
 * An MCP server: its providers' decorated methods, and its own where it is subclassed. It serves nothing until a
 * transport is opened on it, and may serve several at once. `E` are the classes of its option `errors`.
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
  /** Name, version and what else clients see of the server. */
  readonly info: Implementation;
  readonly notify: Notifier;
  /** For transports. */
  readonly [HOST]: HostPort;
  readonly #registry: Registry;
  readonly #kernel: Kernel;
  readonly #reporter: ErrorReporter;
  readonly #tickets: SealedTickets;
  readonly #providers: Providers;
  readonly #hooks: Hooks;
  readonly #events: Events;
  readonly #transports = new Set<Transport>();
  #isOpen = false;
  #closed: Promise<void> | undefined;

  /** @throws {DecorumError} for the first mistake in options or annotations */
  constructor(options: McpServerOptions<E>) {
    checkServerOptions(options);
    this.#reporter = new ErrorReporter(
      options.logger ?? STDERR_LOGGER,
      options.onError,
      checkErrorRules(options.errors),
    );
    checkSpokenText(options.text, 'McpServer');
    const parts = kernelOptions(options, (message) => this.#reporter.warn({}, message));
    this.info = parts.server;
    this.#tickets = parts.tickets;
    const report = (error: unknown) => void this.#reporter.report(error);
    this.#providers = new Providers(options.resolve, report);
    this.#events = new Events({
      bus: options.changeBus ?? new MemoryChangeBus(),
      isRestricted: (uri) => this.#registry.accessTo(uri) !== undefined,
      report,
    });
    const changed = (lists: Iterable<ListName>) => {
      // until then nobody has seen the lists
      if (this.#isOpen) this.#events.publish({ kind: 'lists', lists: [...lists] });
    };
    this.#registry = new Registry(changed, options);
    this.#hooks = new Hooks(this, report);
    this[HOST] = {
      open: (create) => this.#open(create),
      detach: (transport) => void this.#transports.delete(transport),
      report,
      warn: (message) => this.#reporter.warn({}, message),
    };
    this.notify = {
      resourceUpdated: (uri) => {
        if (typeof uri !== 'string') throw new TypeError('`notify.resourceUpdated` needs the URI of the resource.');
        this.#events.publish({ kind: 'resource', uri });
      },
      toolsChanged: () => this.#events.publish({ kind: 'lists', lists: ['tools'] }),
      promptsChanged: () => this.#events.publish({ kind: 'lists', lists: ['prompts'] }),
      resourcesChanged: () => this.#events.publish({ kind: 'lists', lists: ['resources'] }),
      elicitationCompleted: (id) => this.#events.publish({ kind: 'elicitation', id }),
    };
    this.#kernel = new Kernel({ ...parts, registry: this.#registry, reporter: this.#reporter, events: this.#events });
    const cls = new.target;
    const members = scanMembers(cls);
    for (const { key } of members) {
      if (key in McpServer.prototype) throw startupError('DECORUM_RESERVED_MEMBER', `${cls.name}.${key}`);
    }
    if (members.length > 0) this.#addProvider({ cls, instance: this, prefix: '', uriPrefix: '' });
    else this.#hooks.add(this as Lifecycle);
    for (const provider of options.providers ?? []) this.addProvider(provider);
  }

  /**
   * Adds a provider at run time. Clients are told that their lists changed.
   * @throws {DecorumError} for a mistake in its annotations; nothing is added then
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
    return this.#addProvider(this.#providers.read(source));
  }

  /** Adds a tool that is a function, with a schema for what it takes and one for what it returns. */
  addTool<I extends SchemaSource, O extends SchemaSource>(
    options: Named<ToolOptions<I, O>> & { readonly input: I; readonly output: O },
    handler: ToolMethod<I, O>,
  ): Registration;
  /**
   * Adds a tool that is a function, for what is known only at run time.
   * @param options as of `@Tool`; `name` is needed, and `input` when the tool takes arguments
   * @param handler takes the input and the context, also where there is no `input`
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
  /** Adds a tool that is a function without arguments, with a schema for what it returns. */
  addTool<O extends SchemaSource>(
    options: Named<ToolOptions<never, O>> & { readonly output: O; readonly input?: undefined },
    handler: (input: NoInput, context: Context) => ReturnType<ToolMethod<never, O>>,
  ): Registration;
  /** Adds a tool that is a function without arguments. */
  addTool(
    options: Named<ToolOptions> & { readonly input?: undefined; readonly output?: undefined },
    handler: (input: NoInput, context: Context) => unknown,
  ): Registration;
  addTool(options: Named<{ readonly input?: unknown }>, handler: (...args: never[]) => unknown): Registration {
    const { name } = options ?? {};
    if (typeof name !== 'string' || typeof handler !== 'function') {
      throw startupError(
        'DECORUM_INVALID_OPTION',
        'addTool',
        'name',
        "or the handler is missing. Write `addTool({ name: 'lookup' }, (input, ctx) => …)`",
      );
    }
    if (/^class\b/.test(Function.prototype.toString.call(handler))) {
      const problem = 'is a class, which cannot be called. Pass a function, or list the class in `providers`';
      throw startupError('DECORUM_INVALID_OPTION', `addTool.${name}`, 'handler', problem);
    }
    if (!('input' in options) && handler.length === 1) {
      const problem =
        'functions have no emitted types. Name the schema: `input: MyDto`. Without arguments, write `() => …` or `(_, ctx) => …`';
      throw startupError('DECORUM_MISSING_INPUT', `addTool.${name}`, problem);
    }
    const record = { kind: 'tool', key: name, options: { input: NoInput, ...options } } as const;
    const instance = { [name]: handler };
    return this.#addProvider({ cls: ADDED, instance, prefix: '', uriPrefix: '', records: [record] });
  }

  /**
   * For the page that a URL of `ctx.elicitUrl` or `ctx.requireUrl` leads to: makes sure that the user who came is the one
   * who began. Without this, somebody may send the URL to another user, who then signs in on their behalf.
   * @param ticket as the URL brought it
   * @param principal who is signed in at the page, by the same subject as on the MCP connection; undefined opens only
   * tickets of callers that nobody knew
   * @returns which question it belongs to
   * @throws {TicketError} when the ticket was changed, has expired, or was made for another principal
   */
  openTicket(ticket: string, principal: Principal | undefined): Visit {
    return this.#tickets.open(ticket, principal);
  }

  /**
   * Takes no more requests, lets running calls end, closes the transports, and runs the `onClose` hooks.
   * @param options.deadlineMs milliseconds after which running calls are cancelled; by default 5000
   */
  async close({ deadlineMs = 5000 }: { readonly deadlineMs?: number } = {}): Promise<void> {
    this.#closed ??= this.#close(deadlineMs);
    await this.#closed;
  }

  async #open<T extends Transport>(create: (kernel: Kernel) => T): Promise<T> {
    if (this.#closed) throw startupError('DECORUM_SERVER_CLOSED');
    await this.#providers.ready();
    await this.#hooks.start();
    // it may have closed meanwhile
    if (this.#closed) throw startupError('DECORUM_SERVER_CLOSED');
    this.#isOpen = true;
    const transport = create(this.#kernel);
    this.#transports.add(transport);
    return transport;
  }

  async #close(deadlineMs: number): Promise<void> {
    const { inFlight } = this.#kernel;
    for (const transport of this.#transports) transport.stop();
    inFlight.stop();
    await inFlight.drain(deadlineMs);
    const closed = await Promise.allSettled([...this.#transports].map(async (transport) => await transport.close()));
    for (const outcome of closed) if (outcome.status === 'rejected') this.#reporter.report(outcome.reason);
    this.#events.close();
    await this.#hooks.close();
  }

  #addProvider(provider: Provider): Registration {
    requireHooks(provider.instance);
    const remove = this.#registry.add(provider);
    this.#hooks.add(provider.instance);
    let isServed = true;
    return {
      remove: () => {
        if (!isServed) return;
        isServed = false;
        remove();
        this.#hooks.remove(provider.instance);
      },
    };
  }
}

/** Stands for the class of tools that are functions, in messages. */
const ADDED = class addTool {};
