import type { Class, Context, JsonObject } from '@decorum/core';
import { type Provider, scanMembers, type ServerHost } from '@decorum/core/internal';
import type { ModulesContainer } from '@nestjs/core';
import { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { Module } from '@nestjs/core/injector/module.js';

import { startupError } from './errors.js';
import type { Target } from './discovery.js';
import { type HostedInput, type HostedParts, HostedProvider, type Nest } from './hosted.js';
import { membersOf } from './hosted-member.js';

/** The methods of an object that the server calls. */
type Methods = Readonly<Record<string, (...args: unknown[]) => unknown>>;
type Hosted = ReturnType<ServerHost['provider']>;
type ExtensionMethod = ReturnType<ServerHost['method']>;

/** The application, and the module that stands in for the module of members that have none. */
interface Application extends Nest {
  readonly modules: ModulesContainer;
  readonly module: Module;
}

/**
 * Runs members that no module provides inside the application's global guards, interceptors, pipes and filters: tools
 * added as functions, providers in the server's options or of plugins, and methods of extensions.
 */
export class DynamicMembers implements ServerHost {
  /** Members that were added before the application had its enhancers. Undefined once it has them. */
  private waiting: Set<HostedProvider> | undefined = new Set();

  constructor(
    private readonly application: Application,
    private readonly settings: Pick<HostedParts, 'hidesGuarded' | 'knowsCallers'>,
  ) {}

  /** @throws {DecorumError} `DECORUM_UNBOUND_ENHANCER`, `DECORUM_INVALID_OPTION` */
  provider(provider: Provider): Hosted {
    const { cls, instance, records, relayed = [], host } = provider;
    if (host instanceof HostedProvider) return { instance, host };
    if (host !== undefined) {
      const problem = 'would run the members without the guards of the application. Remove it';
      throw startupError('DECORUM_INVALID_OPTION', cls.name, 'host', problem);
    }
    const members = membersOf([...(records ?? scanMembers(cls)), ...relayed], provider);
    const target = records === undefined ? this.targetOf(provider) : this.targetOfFunctions(cls, instance);
    return this.add({ target, members });
  }

  /** Whether members were added before the application started. */
  get hasWaiting(): boolean {
    return this.waiting !== undefined && this.waiting.size > 0;
  }

  method(name: string, handle: ExtensionMethod): ExtensionMethod {
    const target = this.targetOfFunctions(class extension {}, { [name]: handle });
    const { instance } = this.add({ target, members: [{ kind: 'extension', key: name, name }] });
    const call = (instance as Methods)[name] as (input: HostedInput, context: Context) => Promise<JsonObject>;
    return async (params, context) => await call({ kind: 'extension', args: params, check: () => params }, context);
  }

  /**
   * Called once, when all enhancers exist.
   * @throws {DecorumError} `DECORUM_UNBOUND_ENHANCER`
   */
  start(): void {
    for (const hosted of this.waiting ?? []) hosted.prepare();
    this.waiting = undefined;
  }

  private add(parts: Pick<HostedParts, 'target' | 'members'>): Hosted {
    const host = new HostedProvider({ ...parts, nest: this.application, ...this.settings });
    if (this.waiting) this.waiting.add(host);
    else host.prepare();
    return { instance: host.instance, host };
  }

  /** The target of an instance: that of the module that provides it, if one does. */
  private targetOf({ cls, instance }: Provider): Target {
    for (const module of this.application.modules.values()) {
      for (const found of [module.providers, module.controllers]) {
        const collection = found as Map<unknown, InstanceWrapper>;
        const wrapper = [...collection.values()].find((each) => !each.isAlias && each.instance === instance);
        if (wrapper) return { cls, module, wrapper, collection };
      }
    }
    return this.standIn(cls, instance);
  }

  /** The target of functions: an instance of a class that has them as methods, so that Nest finds their metadata. */
  private targetOfFunctions({ name }: Class, functions: object): Target {
    const cls = { [name]: class {} }[name] as Class;
    Object.defineProperties(cls.prototype, Object.getOwnPropertyDescriptors(functions));
    return { ...this.standIn(cls, Object.create(cls.prototype as object) as object), isOfFunctions: true };
  }

  private standIn(cls: Class, instance: object): Target {
    const { module } = this.application;
    const token = Symbol(cls.name);
    const made = { metatype: () => instance, inject: [], instance, isResolved: true };
    const wrapper = new InstanceWrapper({ token, name: cls.name, host: module, ...made } as never);
    return { cls, module, wrapper, collection: new Map([[token, wrapper]]) };
  }
}
