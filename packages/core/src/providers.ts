import { andThen, type Class, invalidOption, isPromise, requireOptions } from '@decorum/schema/internal';

import type { Context } from './kernel/context.js';
import { requireNoArguments } from './metadata/constructor.js';
import { scanMembers } from './metadata/scan.js';
import { startupError } from './protocol/errors.js';
import { type Provider, requireScopes } from './registry/plan.js';
import type { MemberHost } from './registry/member-host.js';
import { requireTags } from './registry/tags.js';
import { requireTransform } from './registry/transforms.js';
import type { Transform } from './transform.js';
import { HOST } from './transports/transport.js';

/** A provider class with any constructor, as containers expect it. */
export type ProviderClass = new (...args: unknown[]) => object;

/**
 * Creates or looks up the instance of a provider class.
 * @param context the request's context, for providers with `scope: 'request'`; otherwise undefined
 */
export type Resolve = (cls: ProviderClass, context: Context | undefined) => object | Promise<object>;

/** A provider with options. */
export interface ProviderEntry {
  /** The class or instance to serve. */
  readonly provider: Class | object;
  /** Prefix for the names of its tools, prompts and resources. */
  readonly prefix?: string;
  /** Prefix for the URIs of its resources: `eu+` turns `clock://now` into `eu+clock://now`. */
  readonly uriPrefix?: string;
  /** Scopes that callers need for each of its members, in addition to the member's own. */
  readonly scopes?: readonly string[];
  /** Tags of each of its members, in addition to the member's own. */
  readonly tags?: readonly string[];
  /**
   * `request` creates an instance for each handler call, with `resolve(cls, context)` or else `new cls()`. Such a
   * provider cannot have `onStart` or `onClose`. By default, all calls share one instance.
   */
  readonly scope?: 'request';
  /** What to change of its members: their names, descriptions, arguments or results. `false` hides one. */
  readonly transform?: Transform;
  /**
   * For frameworks that run the members of an instance themselves, such as `@decorum/nestjs`, which runs them inside the
   * guards of Nest. Methods receive an `UncheckedInput`: the arguments as sent, and a function that checks them.
   */
  readonly host?: MemberHost;
}

/** A class with decorated methods, an instance of one, or either with options. */
export type ProviderSource = Class | object | ProviderEntry;

const ENTRY_OPTIONS: Readonly<Record<keyof ProviderEntry, true>> = {
  provider: true,
  prefix: true,
  uriPrefix: true,
  scopes: true,
  tags: true,
  scope: true,
  transform: true,
  host: true,
};

/** Reads the list of providers and creates their instances. */
export class Providers {
  readonly #instances = new Map<Class, object>();
  /** Pending instances; the first transport waits for them. */
  readonly #pending = new Set<Promise<void>>();
  #isReady = false;

  /** @param report receives errors from instances that fail after startup */
  constructor(
    private readonly resolve: Resolve | undefined,
    private readonly report: (error: unknown) => void,
  ) {
    if (resolve !== undefined && typeof resolve !== 'function') {
      throw invalidOption(
        'McpServer',
        'resolve',
        'is not a function. Write `resolve: (cls) => container.resolve(cls)`',
      );
    }
  }

  /** @throws {DecorumError} for anything that cannot be served */
  read(source: unknown, isScoped = false): Provider {
    if (typeof source === 'function') return this.#ofClass(source as Class, isScoped);
    if (typeof source !== 'object' || source === null) throw startupError('DECORUM_BAD_PROVIDER', String(source));
    if (Array.isArray(source)) {
      throw startupError('DECORUM_BAD_PROVIDER', 'an array', 'Spread it: `providers: [...shops]`');
    }
    if (isPromise(source)) {
      throw startupError('DECORUM_BAD_PROVIDER', 'a promise', 'Await it: `providers: [await Files.create()]`');
    }
    rejectServer(source);
    const prototype = Object.getPrototypeOf(source) as object | null;
    // don't compare with `Object.prototype`: each realm has a different one
    if (prototype === null || Object.getPrototypeOf(prototype) === null) return this.#ofEntry(source, isScoped);
    if (isScoped) throw invalidOption(nameOf(source), 'scope', 'needs a class. Pass the class, not an instance');
    return { cls: source.constructor as Class, instance: source, prefix: '', uriPrefix: '' };
  }

  /**
   * On the first call, waits for the instances that `resolve` promised.
   * @throws whatever `resolve` rejects with, and `DecorumError` for anything that cannot serve as an instance
   */
  async ready(): Promise<void> {
    // the loop also sees instances that are added while it waits
    for (const settled of this.#pending) await settled;
    this.#isReady = true;
    this.#pending.clear();
  }

  #ofEntry(entry: object, isScoped: boolean): Provider {
    if (!('provider' in entry)) {
      const keys = Object.keys(entry).map((key) => `"${key}"`);
      throw startupError('DECORUM_BAD_PROVIDER', `an object with the keys ${keys.join(', ') || '(none)'}`);
    }
    const { provider, prefix = '', uriPrefix = '', scope } = entry as Readonly<Record<string, unknown>>;
    const name = nameOf(provider);
    requireOptions(name, entry, ENTRY_OPTIONS);
    if (scope !== undefined && scope !== 'request')
      throw invalidOption(name, 'scope', "must be 'request'. Remove it to share one instance");
    if (typeof prefix !== 'string')
      throw invalidOption(name, 'prefix', "must be a string. Write `prefix: 'eu_'`, for example");
    if (typeof uriPrefix !== 'string' || !URI_PREFIX.test(uriPrefix)) {
      const problem = `must be the start of a URI scheme: a letter, then letters, digits, "+", "-" and ".". Write \`uriPrefix: 'eu+'\`, for example`;
      throw invalidOption(name, 'uriPrefix', problem);
    }
    const { scopes = [], tags = [], host } = entry as Pick<ProviderEntry, 'scopes' | 'tags' | 'host'>;
    if ('scopes' in entry) requireScopes(entry.scopes, name);
    if ('tags' in entry) requireTags(entry.tags, name);
    const transform = 'transform' in entry ? entry.transform : undefined;
    requireTransform(transform, name);
    const inner = this.read(provider, isScoped || scope !== undefined);
    if (transform !== undefined && inner.transform !== undefined) {
      throw invalidOption(name, 'transform', 'is given twice. Write one function that makes both changes');
    }
    return {
      ...inner,
      prefix: prefix + inner.prefix,
      uriPrefix: uriPrefix + inner.uriPrefix,
      scopes: [...scopes, ...(inner.scopes ?? [])],
      tags: [...tags, ...(inner.tags ?? [])],
      transform: transform ?? inner.transform,
      ...(host && { host }),
    };
  }

  #ofClass(cls: Class, isScoped: boolean): Provider {
    if (typeof cls.prototype !== 'object')
      throw startupError('DECORUM_BAD_PROVIDER', `the function ${cls.name || 'without a name'}`);
    if (this.resolve === undefined) requireNoArguments(cls);
    const instance = isScoped ? this.#scoped(cls) : (this.#instances.get(cls) ?? this.#single(cls));
    if (!isScoped) this.#instances.set(cls, instance);
    return { cls, instance, prefix: '', uriPrefix: '' };
  }

  #make(cls: Class, context?: Context): object | Promise<object> {
    const construct = cls as unknown as ProviderClass;
    const made = this.resolve === undefined ? new construct() : this.resolve(construct, context);
    return andThen(made, (instance) => requireInstance(cls, instance));
  }

  #scoped(cls: Class): object {
    const hook = ['onStart', 'onClose'].find((name) => name in (cls.prototype as object));
    if (hook !== undefined) {
      const problem = "is never called with `scope: 'request'`. Move it to a provider without `scope`";
      throw invalidOption(cls.name, hook, problem);
    }
    return proxyFor(cls, (context) => this.#make(cls, context as Context));
  }

  #single(cls: Class): object {
    const made = this.#make(cls);
    if (!(made instanceof Promise)) return made;
    const slot: Slot = {};
    const settled = fillSlot(cls, made, slot);
    if (!this.#isReady) this.#pending.add(settled);
    settled.catch((error: unknown) => {
      // until the first transport opens, opening one fails with this error
      if (!this.#isReady) return;
      this.#instances.delete(cls);
      this.report(error);
    });
    return proxyFor(cls, () => slot.instance ?? made, slot);
  }
}

/** An instance, once its promise has resolved. */
interface Slot {
  instance?: object;
}

async function fillSlot(cls: Class, made: Promise<object>, slot: Slot): Promise<void> {
  const instance = await made;
  for (const { key, kind } of scanMembers(cls)) {
    if (typeof (instance as Methods)[key] === 'function') continue;
    throw startupError('DECORUM_NOT_A_METHOD', `${cls.name}.${key}`, kind);
  }
  slot.instance = instance;
}

type Methods = Readonly<Record<PropertyKey, (...args: unknown[]) => unknown>>;

/**
 * Creates an object with the methods of a class. Each method first gets the instance, then calls its method.
 * @param instanceFor gets the instance; its argument is the last argument of the call, which is the context
 * @param slot holds the instance once it exists. From then on, its own properties are available too
 */
function proxyFor(cls: Class, instanceFor: (context: unknown) => object | Promise<object>, slot: Slot = {}): object {
  // not a proxy of the prototype itself: if it were frozen, the proxy would have to return its original methods
  const target = Object.create(cls.prototype as object) as object;
  return new Proxy(target, {
    get(_target, key) {
      const value: unknown = Reflect.get(slot.instance ?? target, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        andThen(instanceFor(args.at(-1)), (instance) => (instance as Methods)[key]?.(...args));
    },
  });
}

const URI_PREFIX = /^(?:[a-z][a-z0-9+.-]*)?$/i;

function nameOf(provider: unknown): string {
  const cls = typeof provider === 'function' ? provider : (provider as object | null | undefined)?.constructor;
  return cls?.name ?? 'providers';
}

function requireInstance(cls: Class, instance: unknown): object {
  if (typeof instance !== 'object' || instance === null) {
    const found = typeof instance === 'function' ? `the class ${instance.name}` : String(instance);
    throw invalidOption(cls.name, 'resolve', `returned ${found}. Return an instance, or a promise of one`);
  }
  rejectServer(instance);
  return instance;
}

/** Rejects a server as a provider: otherwise its options and interceptors would be lost silently. */
function rejectServer(instance: object): void {
  if (!(HOST in instance)) return;
  const remedy = "Mount it: `providers: [mount(billing, { prefix: 'billing' })]`";
  throw startupError('DECORUM_BAD_PROVIDER', `the server ${instance.constructor.name}`, remedy);
}

const HOOKS = ['onStart', 'onClose'];

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` for a hook that cannot be called */
export function requireHooks(instance: object): void {
  const hooks = instance as Readonly<Record<string, unknown>>;
  const wrong = HOOKS.find((hook) => !['function', 'undefined'].includes(typeof hooks[hook]));
  if (wrong === undefined) return;
  throw invalidOption(nameOf(instance), wrong, 'is not a method. Make it a method, or rename it');
}
