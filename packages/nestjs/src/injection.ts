import type { ProviderClass, Resolve } from '@decorum/core';
import { requireNoArguments } from '@decorum/core/internal';
import { Scope, type Type } from '@nestjs/common';
import { type ContextId, type ExternalContextCreator, ModuleRef } from '@nestjs/core';
import type { Module } from '@nestjs/core/injector/module.js';

import { startupError } from './errors.js';
import { requestFor } from './request.js';
import { createContext } from './scope.js';

/** The parts of the application that instances need. */
interface Application {
  /** The module that imports `McpModule`. Classes get what its own providers can get. */
  readonly importer: Module;
  readonly creator: ExternalContextCreator;
}

const { getMetadata } = Reflect as unknown as { getMetadata(...of: unknown[]): unknown };

/** The metadata keys of a class that list its dependencies. */
const DEPENDENCIES = ['design:paramtypes', 'self:paramtypes', 'self:properties_metadata'];

const hasDependencies = (cls: ProviderClass): boolean =>
  DEPENDENCIES.some((slot) => ((getMetadata(slot, cls) ?? []) as readonly unknown[]).length > 0);

/** Whether a class asks Nest for an instance of its own for each request. */
const isOfRequests = (cls: ProviderClass): boolean =>
  (getMetadata('scope:options', cls) as { readonly scope?: Scope } | undefined)?.scope === Scope.REQUEST;

const ofRequests = (cls: ProviderClass, problem: string) => {
  const remedy = `Write \`{ provider: ${cls.name}, scope: 'request' }\``;
  return startupError('DECORUM_INVALID_OPTION', cls.name, 'scope', `${problem}. ${remedy}`);
};

/** Creates the instances of classes in the server's options and of `addProvider`, with their dependencies. */
export class Injection {
  /** Instances that wait until the application has all dependencies. Undefined once it has them. */
  private waiting: Promise<object>[] | undefined = [];
  private begin = () => {};
  private readonly begun = new Promise<void>((resolve) => {
    this.begin = resolve;
  });

  constructor(private readonly application: Application) {}

  /** The server's `resolve`. */
  readonly resolve: Resolve = (cls, context) => {
    if (context === undefined && isOfRequests(cls))
      throw ofRequests(cls, "must be 'request' here too, because the class has the scope of requests");
    if (!hasDependencies(cls)) {
      requireNoArguments(cls, 'decorate it with @Injectable()');
      return new cls();
    }
    if (context !== undefined) {
      const request = requestFor(context.transport, context.principal);
      return this.create(cls, createContext(request, this.application.creator));
    }
    const created = this.begun.then(() => this.create(cls));
    this.waiting?.push(created);
    return created;
  };

  /** Called once, when all dependencies exist. Waits for the instances. */
  async start(): Promise<void> {
    const { waiting } = this;
    this.waiting = undefined;
    this.begin();
    await Promise.all(waiting ?? []);
  }

  private async create(cls: ProviderClass, contextId?: ContextId): Promise<object> {
    const moduleRef = this.application.importer.providers.get(ModuleRef)?.instance as ModuleRef;
    try {
      return await moduleRef.create(cls as Type<object>, contextId);
    } catch (error) {
      // Nest's message says what to do in code that calls it
      if ((error as Error | undefined)?.constructor.name !== 'RequestScopedCreateException') throw error;
      throw ofRequests(cls, "must be 'request', because a dependency of the class has the scope of requests");
    }
  }
}
