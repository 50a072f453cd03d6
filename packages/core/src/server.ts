import { hkdfSync, randomBytes } from 'node:crypto';

import type { ToolOptions } from './decorators/tool.js';
import { Events } from './kernel/events.js';
import type { Extension } from './kernel/extension.js';
import { SealedFlows, type SingleUse } from './kernel/flows.js';
import { type ErrorOrigin, Faults, type Logger, STDERR_LOGGER } from './kernel/faults.js';
import { Kernel } from './kernel/kernel.js';
import { scanMembers } from './metadata/scan.js';
import type { Class } from './metadata/store.js';
import { startupError } from './protocol/errors.js';
import type { Implementation, LogLevel } from './protocol/model.js';
import type { CacheHint } from './protocol/revisions/revision.js';
import { checkIcons } from './registry/plan.js';
import { type Provider, Registry } from './registry/registry.js';
import type { Host } from './transports/transport.js';

/** A class with decorated methods, an instance of one, or either with a prefix for its names. */
export type ProviderSource = Class | object | PrefixedProvider;

/** A provider whose tools, prompts and resources get a prefix. Their URIs stay as they are. */
export interface PrefixedProvider {
  readonly provider: Class | object;
  readonly prefix: string;
}

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

/** Options of `McpServer`. */
export interface McpServerOptions extends Implementation {
  /** For the model: how to use the server as a whole. */
  readonly instructions?: string;
  /** What is served: classes, which are constructed once, and ready instances. */
  readonly providers?: readonly ProviderSource[];
  /** Makes or finds the instance of a provider class, for example in a container. By default `new cls()`. */
  readonly resolve?: (cls: Class) => object;
  /** Entries on one page of a list. By default 1000: many clients never ask for a second page. */
  readonly pageSize?: number;
  /** What a client sees of `ctx.log` before it sets a level. By default `info`. */
  readonly logLevel?: LogLevel;
  /** Milliseconds to wait for an answer of the client to `ctx.elicit`, `ctx.sample` … By default 10 minutes. */
  readonly questionTimeoutMs?: number;
  /**
   * Seals what clients carry for the server: the cursors of lists, and the state of requests that ask the client. At
   * least 32 characters, the same on all nodes that share clients; of several, the first seals and all open. By default
   * the environment variable `DECORUM_SECRET` (several with commas between them), else a random one, so that cursors
   * and states end with the process.
   */
  readonly secret?: string | readonly string[];
  /** Milliseconds that a client of a stateless revision has to answer a question. By default 10 minutes. */
  readonly flowTtlMs?: number;
  /**
   * Makes each state of a stateless request good for one use, so that what a handler does once is done at most once,
   * whatever the client sends again. A client whose connection breaks off then has to begin anew.
   */
  readonly singleUse?: SingleUse;
  /** What the specification leaves to extensions. */
  readonly extensions?: readonly Extension[];
  /** How long clients of stateless revisions may keep lists and the description of the server. By default not at all. */
  readonly cache?: CacheHint;
  /** Takes warnings and masked errors. By default they go to stderr, a line each. */
  readonly logger?: Logger;
  /** Called with each error that was masked from the client, after it is logged. */
  readonly onError?: (error: unknown, origin: ErrorOrigin) => void;
}

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
}

const DAY_MS = 86_400_000;

/**
 * An MCP server: its providers' decorated methods, and its own where it is subclassed. It serves nothing until a
 * transport is opened on it, and may serve several at once.
 */
export class McpServer implements Host {
  /** Name, version and what else clients see of the server. */
  readonly info: Implementation;
  readonly notify: Notifier;
  readonly #registry: Registry;
  readonly #kernel: Kernel;
  readonly #faults: Faults;
  readonly #resolve: (cls: Class) => object;
  readonly #instances = new Map<Class, object>();
  readonly #hooked = new Set<object>();
  readonly #closers = new Set<() => void | Promise<void>>();
  #started: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  /** @throws {DecorumError} for the first mistake in options or annotations */
  constructor(options: McpServerOptions) {
    const { instructions, pageSize = 1000, logLevel = 'info' } = options;
    const { questionTimeoutMs = 600_000, flowTtlMs = 600_000 } = options;
    const given = options.secret ?? process.env['DECORUM_SECRET']?.split(',');
    const secrets = secretsOf(given);
    const events = new Events();
    checkIcons(options.icons, 'McpServer');
    this.info = implementationOf(options);
    this.#resolve = options.resolve ?? ((cls) => new (cls as new () => object)());
    this.#faults = new Faults(options.logger ?? STDERR_LOGGER, options.onError);
    this.#registry = new Registry((lists) => events.listsChanged(lists));
    this.notify = {
      resourceUpdated: (uri) => events.resourceUpdated(uri),
      toolsChanged: () => events.listsChanged(['tools']),
      promptsChanged: () => events.listsChanged(['prompts']),
      resourcesChanged: () => events.listsChanged(['resources']),
    };
    this.#kernel = new Kernel({
      server: this.info,
      instructions,
      extensions: extensionsOf(options.extensions ?? []),
      cache: options.cache ?? { ttlMs: 0, scope: 'private' },
      registry: this.#registry,
      faults: this.#faults,
      events,
      pageSize: requireCount('pageSize', pageSize, 1_000_000),
      secret: derive(secrets[0] as string, 'cursors'),
      flows: new SealedFlows({
        keys: secrets.map((secret) => derive(secret, 'flows')),
        ttlMs: requireCount('flowTtlMs', flowTtlMs, DAY_MS),
        singleUse: options.singleUse,
        onFirstUse: () => given ?? this.#faults.warn({}, RANDOM_SECRET),
      }),
      logLevel,
      questionTimeoutMs: requireCount('questionTimeoutMs', questionTimeoutMs, DAY_MS),
    });
    const cls = new.target;
    const members = scanMembers(cls);
    for (const { key } of members) {
      if (key in McpServer.prototype) throw startupError('DECORUM_RESERVED_MEMBER', `${cls.name}.${key}`);
    }
    if (members.length > 0) this.#addProvider({ cls, instance: this, prefix: '' });
    else this.#hooked.add(this);
    for (const provider of options.providers ?? []) this.addProvider(provider);
  }

  /**
   * Adds a provider at run time. Clients are told that their lists changed.
   * @throws {DecorumError} for a mistake in its annotations; nothing is added then
   */
  addProvider(source: ProviderSource): Registration {
    return this.#addProvider(this.#providerOf(source));
  }

  /**
   * Adds a tool that is a function, for what is known only at run time.
   * @param options as of `@Tool`; `name` is needed, and `input` when the handler takes arguments
   * @throws {DecorumError} for a mistake in the options
   */
  addTool(options: ToolOptions & { readonly name: string }, handler: (...args: never[]) => unknown): Registration {
    const record = { kind: 'tool', key: options.name, options: { ...options } } as const;
    const instance = { [options.name]: handler };
    return this.#addProvider({ cls: class addTool {}, instance, prefix: '', records: [record] });
  }

  /** For transports: see `Host`. */
  async open(close: () => void | Promise<void>): Promise<Kernel> {
    if (this.#closed) throw startupError('DECORUM_SERVER_CLOSED');
    this.#started ??= this.#runHooks('onStart', [...this.#hooked]);
    await this.#started;
    this.#closers.add(close);
    return this.#kernel;
  }

  /**
   * Lets running calls end, closes the transports, and runs the `onClose` hooks.
   * @param options.deadlineMs milliseconds after which running calls are cancelled; by default 5000
   */
  async close({ deadlineMs = 5000 }: { readonly deadlineMs?: number } = {}): Promise<void> {
    this.#closed ??= this.#close(deadlineMs);
    await this.#closed;
  }

  /** For transports: see `Host`. */
  detach(close: () => void | Promise<void>): void {
    this.#closers.delete(close);
  }

  /** For transports: see `Host`. */
  report(error: unknown): void {
    this.#faults.report(error);
  }

  async #close(deadlineMs: number): Promise<void> {
    await this.#kernel.drain(deadlineMs);
    await Promise.all([...this.#closers].map((close) => close()));
    if (this.#started) await this.#runHooks('onClose', [...this.#hooked].reverse());
  }

  async #runHooks(hook: keyof Lifecycle, hooked: readonly object[]): Promise<void> {
    for (const instance of hooked as readonly Lifecycle[]) await instance[hook]?.(this);
  }

  #addProvider(provider: Provider): Registration {
    const remove = this.#registry.add(provider);
    this.#hooked.add(provider.instance);
    return { remove };
  }

  #providerOf(source: ProviderSource): Provider {
    if (isPrefixed(source)) return { ...this.#providerOf(source.provider), prefix: source.prefix };
    if (typeof source === 'function')
      return { cls: source as Class, instance: this.#instanceOf(source as Class), prefix: '' };
    if (typeof source !== 'object' || source === null) throw startupError('DECORUM_BAD_PROVIDER', String(source));
    return { cls: source.constructor as Class, instance: source, prefix: '' };
  }

  #instanceOf(cls: Class): object {
    const instance = this.#instances.get(cls) ?? this.#resolve(cls);
    this.#instances.set(cls, instance);
    return instance;
  }
}

function isPrefixed(source: ProviderSource): source is PrefixedProvider {
  return (
    typeof source === 'object' &&
    source !== null &&
    Object.getPrototypeOf(source) === Object.prototype &&
    'provider' in source
  );
}

function implementationOf({ name, version, title, description, icons, websiteUrl }: McpServerOptions): Implementation {
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(icons !== undefined && { icons }),
    ...(websiteUrl !== undefined && { websiteUrl }),
  };
}

function requireCount(option: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw startupError(
    'DECORUM_INVALID_OPTION',
    'McpServer',
    option,
    `is ${value}, but must be a whole number from 1 to ${max}`,
  );
}

// a prefix of labels and a name (MCP, "_meta")
const EXTENSION_ID = /^(?:[a-z](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z](?:[a-z0-9-]*[a-z0-9])?\/[a-z0-9](?:[\w.-]*[a-z0-9])?$/i;

function extensionsOf(extensions: readonly Extension[]): readonly Extension[] {
  for (const { id } of extensions) {
    if (!EXTENSION_ID.test(id)) throw startupError('DECORUM_INVALID_EXTENSION', id, 'has no valid id');
  }
  return extensions;
}

const RANDOM_SECRET =
  'requestState is sealed with a random key: flows end with this process, and cannot move to another. Set `secret` or DECORUM_SECRET.';

function secretsOf(given: string | readonly string[] | undefined): readonly string[] {
  if (given === undefined) return [randomBytes(32).toString('hex')];
  const secrets = typeof given === 'string' ? [given] : given;
  if (secrets.length > 0 && secrets.every((secret) => secret.length >= 32)) return secrets;
  throw startupError('DECORUM_INVALID_OPTION', 'McpServer', 'secret', 'has fewer than 32 characters');
}

/** A key for one purpose (RFC 5869). */
function derive(secret: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', `decorum ${purpose}`, 32));
}
