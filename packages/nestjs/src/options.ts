import type { McpServerOptions, Principal } from '@decorum/core';
import { DEFAULT_LIMITS, isObject, type OptionTypes, requireKnown, startupError } from '@decorum/core/transport';
import type { NodeHandlerOptions } from '@decorum/http/node';
import type { InjectionToken, ModuleMetadata, OptionalFactoryDependency, Type } from '@nestjs/common';

/** Options of the endpoint in a Nest application. */
export interface NestHttpOptions extends Omit<NodeHandlerOptions, 'principal'> {
  /**
   * Returns the caller that an earlier middleware or hook has authenticated. Called with the Express or Fastify
   * request.
   */
  principal?(request: object): Principal | undefined;
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
  sessions: true,
  legacySse: true,
  credentialHeaders: true,
};

/** The options of a module, split by the part that they configure. */
export interface SplitOptions {
  readonly server: McpServerOptions;
  /** Undefined to serve no HTTP. */
  readonly http: NestHttpOptions | undefined;
  readonly nest: Omit<NestOptions, 'http'>;
}

const NEST_OPTIONS: OptionTypes<Omit<NestOptions, 'http'>> = {
  include: 'array',
  exclude: 'array',
  hideGuarded: 'boolean',
};

/**
 * Splits the options of a module. `McpServer` and the endpoint reject unknown options.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function splitOptions(options: McpModuleOptions): SplitOptions {
  if (!isObject(options))
    throw invalid(
      'options',
      'must be an object, as in `forRoot({ name, version })`. With `forRootAsync`, return it from `useFactory`',
    );
  const { include, exclude, hideGuarded, http = {}, limits = {}, ...rest } = options;
  requireKnown('McpModule', { include, exclude, hideGuarded }, NEST_OPTIONS);
  const endpoint: unknown = http;
  if (endpoint !== false && !isObject(endpoint)) throw invalid('http', 'must be false, or an object with options');
  requirePath(http === false ? undefined : (http.path ?? options.path));
  const [ofHttp, ofServer] = split(rest, (name) => name in HTTP_OPTIONS);
  const [serverLimits, httpLimits] = split(limits, (name) => name in DEFAULT_LIMITS);
  const given = http === false ? undefined : { ...ofHttp, ...http, limits: { ...httpLimits, ...http.limits } };
  return {
    server: { ...ofServer, limits: serverLimits } as unknown as McpServerOptions,
    http: given,
    nest: { ...(include && { include }), ...(exclude && { exclude }), hideGuarded: hideGuarded === true },
  };
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
