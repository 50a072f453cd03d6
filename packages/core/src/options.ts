import { invalidOption, isObject, type JsonObject, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import type { ChangeBus } from './kernel/change-bus.js';
import { type ClusterParts } from './kernel/cluster.js';
import type { ErrorRules } from './kernel/expected.js';
import type { Extension } from './kernel/extensions/extension.js';
import { type SingleUse } from './kernel/request-states.js';
import type { ErrorOrigin } from './kernel/error-reporter.js';
import type { KeyValueStore } from './kernel/records/key-value-store.js';
import type { Logger } from './kernel/logger.js';
import { type AnyInterceptor, requireInterceptors } from './kernel/interceptors.js';
import type { PluginDefinition } from './plugins.js';
import type { ProviderSource, Resolve } from './providers.js';
import { type Implementation, type LogLevel } from './protocol/model.js';
import { LIMIT_RANGES, type ReachedLimit, type ServerLimits } from './protocol/limits.js';
import type { CacheHint } from './protocol/revisions/revision.js';
import { RESULT_RANGE } from './registry/plan.js';
import type { ListingMode } from './registry/registry.js';
import { checkTextOption } from './registry/results.js';

/** Options of `McpServer`. */
export interface McpServerOptions<E extends readonly object[] = readonly Error[]> extends Implementation {
  /** Name that clients see. The keys derived from `secret` depend on it, too. */
  readonly name: string;
  /** Instructions for the model: how to use the server as a whole. */
  readonly instructions?: string;
  /** Provider classes, each of which is constructed once, and provider instances. */
  readonly providers?: readonly ProviderSource[];
  /**
   * Creates or looks up the instance of a provider class. Defaults to `new cls()`. To use a container, pass
   * `(cls) => container.resolve(cls)`. A promise is awaited before the first transport opens.
   */
  readonly resolve?: Resolve;
  /**
   * Repairs tool arguments that have only one possible meaning, such as `"5"` for an integer, then validates them
   * again. Defaults to `false`. A tool's own `coerce` takes precedence.
   */
  readonly coerce?: boolean;
  /**
   * `usable` lists only members that the caller has the scopes for. Defaults to `all`, because clients can ask for more
   * scopes only if they see the members that need them.
   */
  readonly listing?: ListingMode;
  /**
   * Members with one of these tags are hidden from everybody, until a session shows the tag with `ctx.visibility`.
   * Up to 64 characters each. Defaults to none. Members may come later, so a tag may be one that no member has yet.
   */
  readonly hiddenTags?: readonly string[];
  /** Entries per page of a list, 1 to 1,000,000. Defaults to 1000, because many clients never ask for a second page. */
  readonly pageSize?: number;
  /**
   * Lowest level of `ctx.log` messages sent to a session before the client sets a level. Defaults to `info`.
   * Revision 2026-07-28 deprecates logging to the client.
   */
  readonly logLevel?: LogLevel;
  /**
   * Milliseconds to wait for a session client to answer `ctx.elicit`, `ctx.sample` and the like, up to a day. Defaults to
   * 10 minutes.
   */
  readonly questionTimeoutMs?: number;
  /**
   * Seals data that clients hold for the server: list cursors, and the state of requests that ask the client. Use at
   * least 32 characters, and the same secret on every node that serves the same clients. If you pass several secrets,
   * the first one seals, and any of them opens. Servers with different names cannot open each other's data. Defaults to
   * the environment variable `DECORUM_SECRET` (several secrets separated by commas), or else to a random secret, which
   * makes cursors and state invalid after a restart.
   */
  readonly secret?: string | readonly string[];
  /**
   * Milliseconds within which clients of stateless revisions must answer a question, and users must visit a URL with
   * a ticket. Up to a day. Defaults to 10 minutes.
   */
  readonly requestStateTtlMs?: number;
  /**
   * Makes every state of a stateless request valid for one use only, so effects of `ctx.once` run at most once, even if
   * the client repeats a request. A client whose connection drops has to start over. `true` stands for the records of
   * `cluster`, or else for those of this process.
   */
  readonly singleUse?: SingleUse | true;
  /**
   * Milliseconds that a call of a member may take, up to a day, unless the member or its class sets its own. Defaults to no limit.
   */
  readonly timeoutMs?: number;
  /**
   * Characters of text that a result may have, 1 to 1,000,000,000, unless the member or its class sets its own. Defaults to no limit.
   */
  readonly maxResultChars?: number;
  /**
   * Interceptors around calls to tools, prompts, resources and completions; the first is the outermost. One that calls
   * `next` again is an object: `{ repeats: true, intercept(call, next) { … } }`.
   */
  readonly interceptors?: readonly AnyInterceptor[];
  /** Plugins, created with `definePlugin`. They wrap every message; the first is the outermost. */
  readonly plugins?: readonly PluginDefinition[];
  /** Protocol extensions that the server supports. */
  readonly extensions?: readonly Extension[];
  /** Experimental capabilities to declare: settings by capability name. */
  readonly experimental?: Readonly<Record<string, JsonObject>>;
  /** How long clients of stateless revisions may cache lists and the server description. Defaults to no caching. */
  readonly cache?: CacheHint;
  /**
   * Everything that processes share that serve the same clients, such as `redis('redis://cache:6379')` of
   * `@decorum/redis`. Needs `secret` or DECORUM_SECRET, the same in every process. Any request may then reach any process.
   */
  readonly cluster?: ClusterParts;
  /**
   * Keeps what outlives calls: the outcomes of `idempotent` tools, the plans of `preview`, and `ctx.memory`. Defaults to
   * the store of `cluster`, or else to the memory of this process. One that is durable, such as `fileKeyValueStore('data')` of
   * `@decorum/files`, needs `secret` or DECORUM_SECRET. Servers with different names share nothing.
   */
  readonly store?: KeyValueStore;
  /**
   * Shares change notifications between processes that serve the same clients. By default, a server notifies only its
   * own clients. Takes precedence over the bus of `cluster`.
   */
  readonly changeBus?: ChangeBus;
  /**
   * Receives warnings and masked errors: a logger of pino or winston, or any object with their methods, which get
   * `(details, message)`. Defaults to stderr: one line each, or with stack traces on a terminal.
   */
  readonly logger?: Logger;
  /**
   * Maps classes of expected errors to what clients see: a message, or an `McpError` if you want to choose the code.
   * The first rule that applies wins. Other errors are masked unless they have `expose: true`.
   * @example errors: [[NotFoundError, (error) => `There is no ${error.what}.`]]
   */
  readonly errors?: ErrorRules<E>;
  /**
   * The text that tools with an `output` send along with their structured content: its JSON (`true`, the default), none
   * (`false`), a fixed string, or the result of a function that gets the value. A tool's own `text` takes precedence.
   */
  readonly text?: boolean | string | ((value: unknown) => string);
  /** Called with every error that is hidden from clients, after the error is logged. */
  readonly onError?: (error: unknown, origin: ErrorOrigin) => void;
  /** Limits on what clients send. */
  readonly limits?: ServerLimits;
  /**
   * Called each time a client reaches a limit of the server or of one of its transports, for example to count the hits.
   */
  readonly onLimit?: (hit: ReachedLimit) => void;
}

const DAY_MS = 86_400_000;

/** All options with their types. A missing option is a compile error. */
const OPTIONS: OptionTypes<McpServerOptions> = {
  name: true,
  version: true,
  title: 'string',
  description: 'string',
  icons: 'array',
  websiteUrl: 'string',
  instructions: 'string',
  providers: true,
  coerce: 'boolean',
  resolve: true,
  listing: true,
  hiddenTags: true,
  pageSize: [1, 1_000_000],
  logLevel: true,
  questionTimeoutMs: [1, DAY_MS],
  secret: true,
  requestStateTtlMs: [1, DAY_MS],
  singleUse: true,
  timeoutMs: [1, DAY_MS],
  ...RESULT_RANGE,
  interceptors: true,
  plugins: 'array',
  extensions: 'array',
  experimental: true,
  cache: 'object',
  cluster: 'object',
  store: true,
  changeBus: true,
  logger: true,
  onError: 'function',
  limits: LIMIT_RANGES,
  onLimit: 'function',
  errors: true,
  text: true,
};

/**
 * Rejects options that are missing or unknown.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkServerOptions(options: McpServerOptions<readonly object[]>): void {
  const remedy = "Write `new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] })`";
  demand(isObject(options), 'options', `are missing. ${remedy}`);
  requireOptions('McpServer', options, OPTIONS);
  checkTextOption(options.text, 'McpServer');
  const { providers = [] } = options;
  for (const option of ['name', 'version'] as const) {
    demand(typeof options[option] === 'string' && options[option] !== '', option, `is missing. ${remedy}`);
  }
  demand(Array.isArray(providers), 'providers', 'is not an array. Write `providers: [Shop]`');
  // before those of plugins are added
  if (options.interceptors !== undefined) requireInterceptors(options.interceptors, 'McpServer');
  for (const [option, methods] of Object.entries(PARTS)) {
    const [name, part] = option.split('.') as ['cluster', keyof ClusterParts] | [keyof McpServerOptions];
    const whole = options[name];
    const given =
      part === undefined ? whole : (whole as ClusterParts | undefined) && ((whole as ClusterParts)[part] ?? null);
    const isWhole = given === undefined || hasMethods(given, methods) || (name === 'singleUse' && given === true);
    demand(isWhole, option, `must be an object with the methods ${methods.map((each) => `\`${each}\``).join(' and ')}`);
  }
}

/** Required methods of options that are objects. */
const PARTS = {
  logger: ['warn', 'error'],
  changeBus: ['publish', 'subscribe'],
  singleUse: ['claim'],
  store: ['get', 'set', 'delete'],
  'cluster.bus': ['publish', 'subscribe'],
  'cluster.singleUse': ['claim'],
  'cluster.sessions': ['get', 'set', 'touch', 'delete'],
  'cluster.events': ['append', 'read'],
  'cluster.store': ['get', 'set', 'delete'],
  'cluster.courier': ['send', 'receive'],
} as const;

const hasMethods = (part: unknown, methods: readonly string[]) =>
  methods.every((method) => typeof (part as Record<string, unknown> | null)?.[method] === 'function');

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` unless the condition is met */
export function demand(isMet: boolean, option: string, problem: string): void {
  if (!isMet) throw invalidOption('McpServer', option, problem);
}
