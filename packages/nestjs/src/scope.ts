import { type ApplicationConfig, type ContextId, ContextIdFactory, type ExternalContextCreator } from '@nestjs/core';
import { Injector } from '@nestjs/core/injector/injector.js';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';

import type { Target } from './discovery.js';

const injector = new Injector();

/** An instance for one call, and the context that its dependencies live in. */
export interface Scoped {
  readonly instance: object;
  readonly contextId: ContextId;
}

/** The application's request-scoped or transient guards, interceptors, pipes and filters (`APP_GUARD` and others). */
function scopedEnhancers(config: ApplicationConfig): InstanceWrapper[] {
  return [
    config.getGlobalRequestGuards(),
    config.getGlobalRequestInterceptors(),
    config.getGlobalRequestPipes(),
    config.getGlobalRequestFilters(),
  ].flat();
}

/** Whether each call needs its own instance: the provider is transient, or it or a dependency is request-scoped. */
export function isScoped({ wrapper }: Target, config: ApplicationConfig): boolean {
  const enhancers = scopedEnhancers(config);
  if (enhancers.length === 0) return wrapper.isTransient || !wrapper.isDependencyTreeStatic();
  // Nest itself does this only for controllers
  const known = new Set(wrapper.getEnhancersMetadata() ?? []);
  for (const enhancer of enhancers) if (!known.has(enhancer)) wrapper.addEnhancerMetadata(enhancer);
  (wrapper as unknown as { isTreeStatic: boolean | undefined }).isTreeStatic = undefined;
  return true;
}

/** Hides the mark of an earlier context: one HTTP request can carry several calls, and each gets its own context. */
const unmarked = (request: object): object =>
  new Proxy(request, {
    get: (target, key) => (typeof key === 'symbol' ? undefined : (Reflect.get(target, key, target) as unknown)),
  });

/** Creates a context for one call. Its providers can inject the request. */
export function createContext(request: object, creator: ExternalContextCreator, isDurable = false): ContextId {
  const contextId = ContextIdFactory.getByRequest(unmarked(request), []);
  const { payload } = contextId as ContextId & { readonly payload?: object };
  const provided: unknown = isDurable ? payload : Object.assign(request, payload);
  creator.registerRequestProvider(provided, contextId);
  return contextId;
}

/** Creates the instance for one call. */
export async function createScoped(
  { wrapper, module, collection, cls }: Target,
  request: object,
  creator: ExternalContextCreator,
): Promise<Scoped> {
  const contextId = createContext(request, creator, wrapper.isDependencyTreeDurable());
  const prototype = Object.create(cls.prototype as object) as object;
  const found = collection as unknown as Parameters<Injector['loadPerContext']>[2];
  const instance = await injector.loadPerContext(prototype, module, found, contextId, wrapper);
  return { instance, contextId };
}
