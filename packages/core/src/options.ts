import { hkdfSync, randomBytes } from 'node:crypto';

import type { ChangeBus } from './kernel/change-bus.js';
import type { ErrorRules } from './kernel/expected.js';
import { checkExtensions, type Extension } from './kernel/extension.js';
import { SealedFlows, type SingleUse, useUp } from './kernel/flows.js';
import { KeyRing, sha256 } from './kernel/key-ring.js';
import type { ErrorOrigin, Logger } from './kernel/error-reporter.js';
import { intercepting, type Interceptor } from './kernel/interceptors.js';
import type { KernelParts } from './kernel/methods/method.js';
import { SealedTickets } from './kernel/tickets.js';
import type { ProviderSource, Resolve } from './providers.js';
import { startupError } from './protocol/errors.js';
import { isObject } from './protocol/jsonrpc.js';
import { type Implementation, type JsonObject, LOG_LEVELS, type LogLevel } from './protocol/model.js';
import { type OptionTypes, requireKnown } from './protocol/option-names.js';
import type { CacheHint } from './protocol/revisions/revision.js';
import { checkCache, checkIcons } from './registry/plan.js';

/** Options of `McpServer`. */
export interface McpServerOptions<E extends readonly object[] = readonly Error[]> extends Implementation {
  /** For the model: how to use the server as a whole. */
  readonly instructions?: string;
  /** What is served: classes, which are constructed once, and ready instances. */
  readonly providers?: readonly ProviderSource[];
  /**
   * Makes or finds the instance of a provider class, for example in a container: `(cls) => container.resolve(cls)`. By
   * default `new cls()`. A promise is awaited before the first transport opens.
   */
  readonly resolve?: Resolve;
  /**
   * Repairs wrong arguments of tools that can only have been meant in one way, such as `"5"` for an integer, and checks
   * them again. By default off; a tool may decide for itself.
   */
  readonly coerce?: boolean;
  /** Entries on one page of a list. By default 1000: many clients never ask for a second page. */
  readonly pageSize?: number;
  /**
   * What a client in a session sees of `ctx.log` before it sets a level. By default `info`. The specification has
   * deprecated logging to the client in 2026-07-28.
   */
  readonly logLevel?: LogLevel;
  /** Milliseconds to wait for an answer of the client to `ctx.elicit`, `ctx.sample` … By default 10 minutes. */
  readonly questionTimeoutMs?: number;
  /**
   * Seals what clients carry for the server: the cursors of lists, and the state of requests that ask the client. At
   * least 32 characters, the same on all nodes that share clients; of several, the first seals and all open. What a
   * server with another `name` has sealed with it is not opened. By default
   * the environment variable `DECORUM_SECRET` (several with commas between them), else a random one, so that cursors
   * and states end with the process.
   */
  readonly secret?: string | readonly string[];
  /**
   * Milliseconds that a client of a stateless revision has to answer a question, and a user to go to a URL with a
   * ticket. By default 10 minutes.
   */
  readonly flowTtlMs?: number;
  /**
   * Makes each state of a stateless request good for one use, so that what a handler does once is done at most once,
   * whatever the client sends again. A client whose connection breaks off then has to begin anew.
   */
  readonly singleUse?: SingleUse;
  /** What stands around every run of a tool, prompt, resource or completion, the first outermost. */
  readonly interceptors?: readonly Interceptor[];
  /** What the specification leaves to extensions. */
  readonly extensions?: readonly Extension[];
  /** What the server declares as experimental capabilities: the settings of each, by its name. */
  readonly experimental?: Readonly<Record<string, JsonObject>>;
  /** How long clients of stateless revisions may keep lists and the description of the server. By default not at all. */
  readonly cache?: CacheHint;
  /**
   * Carries changes between the processes that serve the same clients. By default a server tells its own clients only.
   */
  readonly changeBus?: ChangeBus;
  /** Takes warnings and masked errors. By default they go to stderr: a line each, on a terminal with their stacks. */
  readonly logger?: Logger;
  /**
   * Errors that your code throws on purpose, by class, and what clients see of them: a text, or an `McpError` with a code
   * of its own. The first class that fits decides. Errors of other classes are masked, unless they have `expose: true`.
   * @example errors: [[NotFoundError, (error) => `There is no ${error.what}.`]]
   */
  readonly errors?: ErrorRules<E>;
  /**
   * What tools with an `output` send as text beside their structured content, where their own option `text` does not say:
   * its JSON (`true`, the default), nothing (`false`), a text, or what a function makes of the value.
   */
  readonly text?: boolean | string | ((value: unknown) => string);
  /** Called with each error that was masked from the client, after it is logged. */
  readonly onError?: (error: unknown, origin: ErrorOrigin) => void;
}

const DAY_MS = 86_400_000;

/** The options: one that is missing here does not compile. */
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
  pageSize: [1, 1_000_000],
  logLevel: true,
  questionTimeoutMs: [1, DAY_MS],
  secret: true,
  flowTtlMs: [1, DAY_MS],
  singleUse: true,
  interceptors: true,
  extensions: 'array',
  experimental: true,
  cache: 'object',
  changeBus: true,
  logger: true,
  onError: 'function',
  errors: true,
  text: true,
};

/**
 * What the kernel needs of the options.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, `DECORUM_INVALID_EXTENSION`
 */
export function kernelOptions(
  options: McpServerOptions<readonly object[]>,
  warn: (message: string) => void,
): Omit<KernelParts, 'registry' | 'reporter' | 'events'> {
  const { instructions, experimental, pageSize = 1000, logLevel = 'info', singleUse } = options;
  const { questionTimeoutMs = 600_000, flowTtlMs = 600_000, cache = { ttlMs: 0, scope: 'private' } } = options;
  const { secret = secretsOfEnvironment() } = options;
  const secrets = secret === undefined ? [randomBytes(32).toString('hex')] : [secret].flat();
  const isSecret = (text: unknown) => typeof text === 'string' && text.length >= 32;
  const source = options.secret === undefined ? 'DECORUM_SECRET' : 'secret';
  demand(secrets.length > 0 && secrets.every(isSecret), source, 'must be a string of at least 32 characters');
  demand(LOG_LEVELS.includes(logLevel), 'logLevel', `must be one of ${LOG_LEVELS.join(', ')}`);
  const interceptors = options.interceptors ?? [];
  demand(isListOfFunctions(interceptors), 'interceptors', 'must be an array of functions');
  demand(isNested(experimental), 'experimental', 'must be an object whose members are objects');
  checkCache(cache, 'McpServer');
  const server = implementationOf(options);
  let isKnown = secret !== undefined;
  const warnOnce = () => {
    if (!isKnown) warn(RANDOM_SECRET);
    isKnown = true;
  };
  const keysFor = (purpose: string) => secrets.map((text) => derive(text, `${purpose} ${server.name}`));
  const ringFor = (purpose: string) => new KeyRing(keysFor(purpose), flowTtlMs, warnOnce);
  return {
    server,
    instructions,
    extensions: checkExtensions(options.extensions ?? []),
    experimental,
    intercept: intercepting(singleUse ? [...interceptors, useUp] : interceptors),
    cache,
    logLevel,
    pageSize,
    questionTimeoutMs,
    cursorKeys: keysFor('cursors'),
    flows: new SealedFlows(ringFor('flows'), singleUse, warn),
    tickets: new SealedTickets(ringFor('tickets')),
  };
}

/**
 * Refuses options that a server does not have, and anything but options.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkServerOptions(options: McpServerOptions<readonly object[]>): void {
  const remedy = "Write `new McpServer({ name: 'shop', version: '1.0.0', providers: [Shop] })`";
  demand(isObject(options), 'options', `are missing. ${remedy}`);
  requireKnown('McpServer', options, OPTIONS);
  const { providers = [] } = options;
  for (const option of ['name', 'version'] as const) {
    demand(typeof options[option] === 'string' && options[option] !== '', option, `is missing. ${remedy}`);
  }
  demand(Array.isArray(providers), 'providers', 'is not an array. Write `providers: [Shop]`');
  for (const [option, methods] of Object.entries(PARTS)) {
    const part = options[option as keyof typeof PARTS] as Readonly<Record<string, unknown>> | null | undefined;
    const isWhole = part === undefined || methods.every((method) => typeof part?.[method] === 'function');
    demand(isWhole, option, `must be an object with the methods ${methods.map((each) => `\`${each}\``).join(' and ')}`);
  }
}

/** The methods of options that are objects of the user's. */
const PARTS = {
  logger: ['warn', 'error'],
  changeBus: ['publish', 'subscribe'],
  singleUse: ['claim'],
} as const;

function demand(isMet: boolean, option: string, problem: string): void {
  if (!isMet) throw startupError('DECORUM_INVALID_OPTION', 'McpServer', option, problem);
}

const isListOfFunctions = (list: unknown) => Array.isArray(list) && list.every((each) => typeof each === 'function');

const isNested = (object: unknown) =>
  object === undefined || (isObject(object) && Object.values(object).every(isObject));

function implementationOf(options: McpServerOptions<readonly object[]>): Implementation {
  checkIcons(options.icons, 'McpServer');
  const fields = IMPLEMENTATION_FIELDS.map((field) => [field, options[field]] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as unknown as Implementation;
}

const IMPLEMENTATION_FIELDS = ['name', 'version', 'title', 'description', 'icons', 'websiteUrl'] as const;

const RANDOM_SECRET =
  'requestState and tickets are sealed with a random key: flows end with this process, and cannot move to another. Set `secret` or DECORUM_SECRET.';

/** As in a file of variables: one that is empty is not set. */
function secretsOfEnvironment(): readonly string[] | undefined {
  const given = process.env['DECORUM_SECRET']?.trim();
  return given ? given.split(',').map((secret) => secret.trim()) : undefined;
}

/** A key for one purpose (RFC 5869). */
function derive(secret: string, purpose: string): Uint8Array {
  // as a digest: the purpose names the server, and may be longer than what is allowed there
  return new Uint8Array(hkdfSync('sha256', secret, '', sha256(`decorum ${purpose}`), 32));
}
