import type { McpServerOptions, Principal } from '@decorum/core';
import { DEFAULT_LIMITS, isObject } from '@decorum/core/internal';
import { type OptionTypes, requireOptions } from '@decorum/core/plugin';
import type { NodeHandlerOptions } from '@decorum/http/node';
import type { InjectionToken, ModuleMetadata, OptionalFactoryDependency, Type } from '@nestjs/common';

import { startupError } from './errors.js';
import { callerOf } from './user.js';

/** A function that returns the caller. */
interface FindsCaller {
  // method syntax makes the parameter bivariant: the function may declare the type of the request
  principal(request: object): Principal | undefined;
}

/** Options of the endpoint in a Nest application. */
export interface NestHttpOptions extends Omit<NodeHandlerOptions, 'principal'> {
  /**
   * Returns the caller that an earlier middleware or hook has authenticated. Called with the Express or Fastify
   * request. `'request.user'` is the function that makes the caller of `request.user`: `subject`, `sub`, `id` or
   * `userId` becomes its subject, `scopes` its scopes, and `exp` (seconds since 1970) its expiry. A guard runs later, so
   * a user whom a guard finds is not the caller.
   */
  readonly principal?: 'request.user' | FindsCaller['principal'];
}

/** Options that choose what a server serves, and how. */
export interface NestOptions {
  /** Modules whose providers and controllers are served. By default all modules. */
  readonly include?: readonly Type[];
  /** Modules whose providers and controllers are not served. */
  readonly exclude?: readonly Type[];
  /**
   * Runs each member's guards for lists, subscriptions and completions too, so that clients see only the members that
   * the guards let pass. Defaults to `false`.
   */
  readonly hideGuarded?: boolean;
  /** `false` to serve no HTTP, or the options of the endpoint, which you can also pass at the top level. */
  readonly http?: NestHttpOptions | false;
}

/** Options of `McpModule.forRoot`: those of `McpServer`, of the endpoint, and of the module. */
export type McpModuleOptions = Omit<McpServerOptions, 'resolve' | 'limits'> &
  Omit<NestHttpOptions, 'limits'> &
  NestOptions & {
    /** Limits of the server and of the endpoint. */
    readonly limits?: McpServerOptions['limits'] & NestHttpOptions['limits'];
  };

/** Options of `McpModule.forRootAsync`. */
export interface McpModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** Name of the server, to inject it with `@InjectMcpServer(name)`. */
  readonly name?: string;
  /** Injection tokens of the values to pass to `useFactory`. */
  readonly inject?: (InjectionToken | OptionalFactoryDependency)[];
  /** Returns the options, or a promise of them. */
  // method syntax makes the parameters bivariant: factories may declare the types of the values that they inject
  useFactory(...injected: never[]): McpModuleOptions | Promise<McpModuleOptions>;
}

/** Names of the endpoint's options. The type makes the compiler report one that is missing. */
const HTTP_OPTIONS: Readonly<Record<Exclude<keyof NestHttpOptions, 'limits'>, true>> = {
  path: true,
  allowedHosts: true,
  allowedOrigins: true,
  principal: true,
  auth: true,
  keepAliveMs: true,
  retryMs: true,
  closeDeadlineMs: true,
  events: true,
  sessionStore: true,
  courier: true,
  storeTimeoutMs: true,
  sessions: true,
  legacySse: true,
  credentialHeaders: true,
  card: true,
};

/** Options of the endpoint whose caller is found by a function. */
export type EndpointOptions = Omit<NestHttpOptions, 'principal'> & Partial<FindsCaller>;

/** The options of a module, split by the part that they configure. */
export interface SplitOptions {
  readonly server: McpServerOptions;
  /** Undefined to serve no HTTP. */
  readonly http: EndpointOptions | undefined;
  readonly nest: Omit<NestOptions, 'http'>;
}

const NEST_OPTIONS: OptionTypes<Omit<NestOptions, 'http'>> = {
  include: 'array',
  exclude: 'array',
  hideGuarded: 'boolean',
};

/** Names of the server's options, as above. */
const SERVER_OPTIONS: Readonly<Record<Exclude<keyof McpServerOptions, 'resolve' | 'limits'>, true>> = {
  name: true,
  version: true,
  title: true,
  description: true,
  icons: true,
  websiteUrl: true,
  instructions: true,
  providers: true,
  coerce: true,
  listing: true,
  hiddenTags: true,
  pageSize: true,
  logLevel: true,
  questionTimeoutMs: true,
  secret: true,
  requestStateTtlMs: true,
  timeoutMs: true,
  maxResultChars: true,
  singleUse: true,
  interceptors: true,
  plugins: true,
  extensions: true,
  experimental: true,
  cache: true,
  cluster: true,
  store: true,
  changeBus: true,
  logger: true,
  onError: true,
  onLimit: true,
  errors: true,
  text: true,
};

const SERVER_LIMITS = Object.fromEntries(Object.keys(DEFAULT_LIMITS).map((name) => [name, true] as const));
const ALL_OPTIONS: OptionTypes<McpModuleOptions> = {
  ...SERVER_OPTIONS,
  ...HTTP_OPTIONS,
  ...NEST_OPTIONS,
  limits: SERVER_LIMITS,
  http: true,
};

/** Rejects unknown names. `McpServer` and the endpoint check the values. */
function requireNames(where: string, options: object, known: OptionTypes): void {
  requireOptions(where, Object.fromEntries(Object.keys(options).map((name) => [name, undefined])), known);
}

/**
 * Splits the options of a module.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function splitOptions(options: McpModuleOptions): SplitOptions {
  if (!isObject(options))
    throw invalid(
      'options',
      'must be an object, as in `forRoot({ name, version })`. With `forRootAsync`, return it from `useFactory`',
    );
  requireNames('McpModule', options, ALL_OPTIONS);
  const { include, exclude, hideGuarded, http = {}, limits = {}, ...rest } = options;
  requireOptions('McpModule', { include, exclude, hideGuarded }, NEST_OPTIONS);
  const endpoint: unknown = http;
  if (endpoint !== false && !isObject(endpoint)) throw invalid('http', 'must be false, or an object with options');
  if (http !== false) requireNames('McpModule.http', http, { ...HTTP_OPTIONS, limits: true });
  requirePath(http === false ? undefined : (http.path ?? options.path));
  const [ofHttp, ofServer] = split(rest, (name) => name in HTTP_OPTIONS);
  const [serverLimits, httpLimits] = split(limits, (name) => name in DEFAULT_LIMITS);
  const given = http === false ? undefined : { ...ofHttp, ...http, limits: { ...httpLimits, ...http.limits } };
  return {
    server: { ...ofServer, limits: serverLimits } as unknown as McpServerOptions,
    http: given && withCaller(given),
    nest: { ...(include && { include }), ...(exclude && { exclude }), hideGuarded: hideGuarded === true },
  };
}

function withCaller({ principal, ...http }: NestHttpOptions): EndpointOptions {
  if (principal === undefined) return http;
  if (typeof principal === 'string' && principal !== 'request.user')
    throw invalid('principal', `is ${JSON.stringify(principal)}, but must be "request.user" or a function`);
  return { ...http, principal: principal === 'request.user' ? callerOf : principal };
}

const invalid = (option: string, problem: string) =>
  startupError('DECORUM_INVALID_OPTION', 'McpModule', option, problem);

/** Rejects a path without a leading slash. Later, the application's prefix would hide the mistake. */
function requirePath(path: unknown = '/'): void {
  if (typeof path === 'string' && path.startsWith('/')) return;
  throw invalid('path', `is ${JSON.stringify(path)}, but must start with "/", as in "/mcp"`);
}

function split(from: object, isFirst: (name: string) => boolean): [object, object] {
  const entries = Object.entries(from);
  return [
    Object.fromEntries(entries.filter(([name]) => isFirst(name))),
    Object.fromEntries(entries.filter(([name]) => !isFirst(name))),
  ];
}
