import { McpServer } from '@decorum/core';
import { type OptionTypes, requireOptions } from '@decorum/core/plugin';
import {
  type DynamicModule,
  Inject,
  type InjectionToken,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
  type Provider,
  RequestMethod,
} from '@nestjs/common';
import { ApplicationConfig, ExternalContextCreator, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import type { Module as InternalModule } from '@nestjs/core/injector/module.js';

import { startupError } from './errors.js';
import { type McpModuleAsyncOptions, type McpModuleOptions, splitOptions } from './options.js';
import { type Application, Runtime } from './runtime.js';
import { getMcpServerToken } from './tokens.js';

const ASYNC_OPTIONS: OptionTypes<McpModuleAsyncOptions> = {
  name: 'string',
  imports: 'array',
  inject: 'array',
  useFactory: 'function',
};

const RUNTIME = Symbol('decorum:runtime');

/** The distance of a module that starts after all other modules, and closes before them. */
const FIRST = -1;
/** The distance of a module whose middleware runs after that of all other modules. */
const LAST = 1_000_000;

/**
 * Sets the distances of a server's two modules. Nest sorts modules by their distance from the root: the nearest run
 * their middleware first, and the farthest start first and close last.
 * @returns the module that holds the server, and the module that imports `McpModule`
 */
function place(modules: ModulesContainer, token: symbol): Pick<Application, 'module' | 'importer'> {
  const all = [...modules.values()];
  const holdsServer = ({ metatype, providers }: InternalModule) => metatype === McpServerModule && providers.has(token);
  // Nest calls this for a provider of the module
  const inner = all.find(holdsServer) as InternalModule;
  const outer = all.find(({ metatype, imports }) => metatype === McpModule && imports.has(inner));
  inner.distance = FIRST;
  if (outer) outer.distance = LAST;
  const importer = outer && all.find(({ imports }) => imports.has(outer));
  return { module: inner, importer: importer ?? inner };
}

/** Internal: holds a server. It starts after all other modules, and closes before them. */
export class McpServerModule implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  constructor(private readonly runtime: Runtime) {}

  async onModuleInit(): Promise<void> {
    await this.runtime.start();
    await this.runtime.mount();
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.runtime.open();
  }

  async onModuleDestroy(): Promise<void> {
    await this.runtime.stop();
  }
}

/**
 * Serves all providers and controllers with decorated methods over MCP, by default at `/mcp`.
 * @example
 * ```ts
 * import { McpModule } from '@decorum/nestjs';
 * import { Module } from '@nestjs/common';
 *
 * @Module({ imports: [McpModule.forRoot({ name: 'weather', version: '1.0.0' })], providers: [Weather] })
 * export class AppModule {}
 * ```
 */
export class McpModule implements NestModule {
  /** Internal: created by Nest. */
  constructor(private readonly runtime: Runtime) {}

  /**
   * Adds a server to the application.
   * @param options options of `McpServer`, of the endpoint, such as `path`, and of the module, such as `include`
   */
  static forRoot(options: McpModuleOptions): DynamicModule {
    return moduleOf({ name: options?.name, inject: [], useFactory: () => options });
  }

  /**
   * Adds a server whose options need other providers.
   * @example
   * ```ts
   * McpModule.forRootAsync({
   *   imports: [ConfigModule],
   *   inject: [ConfigService],
   *   useFactory: (config: ConfigService) => ({ name: 'weather', version: config.getOrThrow('VERSION') }),
   * });
   * ```
   */
  static forRootAsync(options: McpModuleAsyncOptions): DynamicModule {
    const where = 'McpModule.forRootAsync';
    if (typeof options?.useFactory === 'function') {
      requireOptions(where, options, ASYNC_OPTIONS);
      return moduleOf(options);
    }
    const problem = 'is missing. Write `useFactory: () => ({ name, version })`, and list what it needs in `inject`';
    throw startupError('DECORUM_INVALID_OPTION', where, 'useFactory', problem);
  }

  /** Called by Nest. */
  configure(consumer: MiddlewareConsumer): void {
    if (!this.runtime.isOnExpress) return;
    const routes = this.runtime.mounts.map((path) => ({ path, method: RequestMethod.ALL }));
    consumer.apply(this.runtime.middleware).forRoutes(...routes);
  }
}

Inject(RUNTIME)(McpServerModule, undefined, 0);
Inject(RUNTIME)(McpModule, undefined, 0);
Module({})(McpServerModule);
Module({})(McpModule);

/** The number of servers in all applications. */
let count = 0;

type Injected = [ModulesContainer, ExternalContextCreator, ApplicationConfig, HttpAdapterHost | undefined, ...never[]];

function moduleOf({ name, imports = [], inject = [], useFactory }: McpModuleAsyncOptions): DynamicModule {
  // each server in an application needs its own token. With `moduleIdGeneratorAlgorithm: 'deep-hash'`, Nest tells their
  // modules apart only by the token's description
  const token = Symbol(`decorum:runtime of server ${++count}`);
  const runtime: Provider = {
    provide: token,
    inject: [
      ModulesContainer,
      ExternalContextCreator,
      ApplicationConfig,
      { token: HttpAdapterHost, optional: true },
      ...inject,
    ],
    useFactory: async (...[modules, creator, config, adapterHost, ...injected]: Injected) => {
      const places = place(modules, token);
      return new Runtime(splitOptions(await useFactory(...injected)), {
        modules,
        ...places,
        creator,
        config,
        adapterHost,
      });
    },
  };
  const tokens: readonly InjectionToken[] = [McpServer, ...(name === undefined ? [] : [getMcpServerToken(name)])];
  const servers = tokens.map((provide): Provider => ({
    provide,
    inject: [token],
    useFactory: ({ server }: Runtime) => server,
  }));
  const local: Provider = { provide: RUNTIME, useExisting: token };
  const inner: DynamicModule = {
    module: McpServerModule,
    global: true,
    imports,
    providers: [runtime, local, ...servers],
    exports: [token, ...tokens],
  };
  return { module: McpModule, imports: [inner], providers: [local], exports: [inner] };
}
