import { DecorumError, McpServer, type McpServerOptions } from '@decorum/core';
import { scanMembers, SERVER_HOST } from '@decorum/core/internal';
import { HOST } from '@decorum/core/transport';
import { AUTH } from '@decorum/http';
import type { NodeHandler, NodeHandlerOptions } from '@decorum/http/node';
import type { ApplicationConfig, ExternalContextCreator, HttpAdapterHost, ModulesContainer } from '@nestjs/core';
import type { Module } from '@nestjs/core/injector/module.js';

import { startupError } from './errors.js';
import { requireFree, serversOf } from './conflicts.js';
import { findTargets, type Target } from './discovery.js';
import { DynamicMembers } from './dynamic-members.js';
import { HostedProvider } from './hosted.js';
import { membersOf } from './hosted-member.js';
import { Injection } from './injection.js';
import {
  type ExpressAdapter,
  matchedPath,
  type Middleware,
  pathOf,
  rewritePath,
  skipParsers,
  takenPath,
} from './mount-express.js';
import { serverLogger } from './nest-logger.js';
import type { SplitOptions } from './options.js';
import { prefixed } from './path.js';

/** The parts of Nest that a server in an application needs. */
export interface Application {
  readonly modules: ModulesContainer;
  /** The module that holds the server. */
  readonly module: Module;
  /** The module that imports `McpModule`. */
  readonly importer: Module;
  readonly creator: ExternalContextCreator;
  readonly config: ApplicationConfig;
  readonly adapterHost: HttpAdapterHost | undefined;
}

/** Closes the application when the server closes, as it does when stdin ends. */
export class NestServer extends McpServer {
  /** Closes the application. Set by `serveNestStdio`. */
  whenClosed: (() => Promise<void>) | undefined;
  isClosing = false;

  /** Internal: called by the server. */
  async onClose(): Promise<void> {
    this.isClosing = true;
    await this.whenClosed?.();
  }

  override async close(options: { readonly deadlineMs?: number } = {}): Promise<void> {
    // the application is closing because the server is
    if (!this.isClosing) await super.close(options);
  }
}

/** A Fastify application. Fastify's own types may not be installed. */
interface FastifyApplication {
  register(plugin: unknown, options?: object): unknown;
}

/** A server in an application: finds its members, mounts its endpoint, and closes it. */
export class Runtime {
  readonly server: NestServer;
  private readonly dynamic: DynamicMembers;
  private readonly injection: Injection;
  private handler: NodeHandler | undefined;
  private served: readonly string[] = [];

  constructor(
    readonly options: SplitOptions,
    readonly application: Application,
  ) {
    this.dynamic = new DynamicMembers(application, this.hosting);
    const logger = serverLogger(options.server.logger);
    this.injection = new Injection(application);
    const { resolve } = this.injection;
    const hosted = { ...options.server, logger, resolve, [SERVER_HOST]: this.dynamic };
    this.server = new NestServer(hosted as McpServerOptions);
    const { routes } = this.server[HOST];
    requireFree(application.modules, {
      name: this.name,
      mounts: options.http ? this.mounts : [],
      routes: options.http ? routes : [],
    });
    if (!this.isOnExpress) return;
    const adapter = this.adapter as unknown as ExpressAdapter;
    skipParsers(adapter, (request) => this.pathFor(request) !== undefined);
    const early: Middleware = (request, response, next) => {
      // serves documents and other routes at the root, outside the application's prefix
      if (this.handler === undefined || this.pathFor(request) !== undefined) next();
      else this.handler(request, response, next);
    };
    adapter.use(early);
  }

  get name(): string {
    return this.server.info.name;
  }

  private get hosting() {
    const { http, nest } = this.options;
    // without HTTP, there is one caller
    const knowsCallers = http === undefined || http.auth !== undefined || http.principal !== undefined;
    return { hidesGuarded: nest.hideGuarded === true, knowsCallers };
  }

  /** The adapter, if the application has HTTP. */
  get adapter(): HttpAdapterHost['httpAdapter'] | undefined {
    return this.application.adapterHost?.httpAdapter;
  }

  /** Paths as in the options, without the application's prefix. */
  get mounts(): readonly string[] {
    const { path = '/mcp', legacySse = false } = this.options.http ?? {};
    const { path: streamPath = '/sse', messagesPath = '/messages' } = typeof legacySse === 'object' ? legacySse : {};
    return legacySse === false ? [path] : [path, streamPath, messagesPath];
  }

  /** Finds the members, once all providers and enhancers exist. */
  async start(): Promise<void> {
    const { server, options, application } = this;
    const { modules } = application;
    const targets = findTargets(modules, { ...options.nest, server: { name: this.name, all: serversOf(modules) } });
    if (targets.length === 0 && !this.dynamic.hasWaiting) throw this.nothing();
    for (const target of targets) {
      try {
        const members = membersOf(scanMembers(target.cls));
        const host = new HostedProvider({ target, nest: application, members, ...this.hosting });
        host.prepare();
        server.addProvider({ provider: host.instance, host });
      } catch (error) {
        throw located(error, targets, target);
      }
    }
    this.dynamic.start();
    await this.injection.start();
  }

  /** Adds the endpoint to an application on Fastify, before it is ready. */
  async mount(): Promise<void> {
    const { adapter, options } = this;
    if (options.http === undefined || adapter?.getType() !== 'fastify') return;
    const app = adapter.getInstance<FastifyApplication>();
    const { mcp, authRoutes } = await import('@decorum/http');
    const { auth } = this.httpOptions;
    if (auth) app.register(authRoutes(auth as never, (error) => this.server[HOST].report(error)));
    app.register(mcp, { ...this.httpOptions, server: this.server });
  }

  /** Opens the endpoint of an application on Express. */
  async open(): Promise<void> {
    if (!this.isOnExpress) return;
    const { nodeHandler } = await import('@decorum/http/node');
    this.requireFreeMount();
    this.handler = nodeHandler(this.server, this.httpOptions);
    await this.handler.ready;
  }

  /** The middleware of the endpoint on Express. */
  readonly middleware: Middleware = (request, response, next) => {
    if (this.handler === undefined) return next();
    const path = this.pathFor(request);
    // the handler doesn't know Express's settings
    if (path !== undefined && path !== pathOf(request)) rewritePath(request, path);
    this.handler(request, response, next);
  };

  get isOnExpress(): boolean {
    return this.options.http !== undefined && this.adapter?.getType() === 'express';
  }

  /** Lets calls in flight finish and closes the server, before the providers that they use are destroyed. */
  async stop(): Promise<void> {
    const { closeDeadlineMs } = this.options.http ?? {};
    await this.server.close(closeDeadlineMs === undefined ? {} : { deadlineMs: closeDeadlineMs });
  }

  private get paths(): readonly string[] {
    if (this.served.length === 0) this.served = this.mounts.map((path) => prefixed(path, this.application.config));
    return this.served;
  }

  /** The endpoint path that an Express request is for. */
  private pathFor(request: Parameters<Middleware>[0]): string | undefined {
    return matchedPath(this.adapter as unknown as ExpressAdapter, this.paths, request);
  }

  /** Rejects a route of the application at a path of `auth`, because nobody would reach it. */
  private requireFreeMount(): void {
    const { auth } = this.options.http ?? {};
    const { mount } = (auth && AUTH in auth ? auth[AUTH] : auth) ?? {};
    const taken = takenPath(this.adapter as unknown as ExpressAdapter, mount?.paths ?? []);
    if (taken === undefined) return;
    throw startupError('DECORUM_DUPLICATE_ROUTE', taken, ['the application', '`auth`']);
  }

  private get httpOptions(): NodeHandlerOptions {
    const [path = '/mcp', streamPath, messagesPath] = this.paths;
    const legacySse = streamPath !== undefined && messagesPath !== undefined && { path: streamPath, messagesPath };
    return { ...(this.options.http as NodeHandlerOptions), path, legacySse };
  }

  private nothing(): DecorumError {
    const { include, exclude = [] } = this.options.nest;
    const searched = include ?? [...this.application.modules.values()].map(({ metatype }) => metatype);
    const own = searched.filter(
      (type) => !exclude.includes(type) && !/^(?:InternalCore|Mcp|McpServer)Module$/.test(type.name),
    );
    return startupError(
      'DECORUM_NOTHING_SERVED',
      this.name,
      own.map(({ name }) => name),
    );
  }
}

/** Adds to an error the modules of all classes that its message names. */
function located(error: unknown, targets: readonly Target[], at: Target): unknown {
  if (!(error instanceof DecorumError)) return error;
  const named = targets.filter((target) => target === at || error.message.includes(`${target.cls.name}.`));
  const places = [...new Set(named.map(({ cls, module }) => `${cls.name} is in ${module.name}`))];
  // the constructor appends the code again
  const message = error.message.replace(` [${error.code}]`, '');
  return new DecorumError(error.code, `${message} (${places.join(', ')})`, { cause: error });
}
