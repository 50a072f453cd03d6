import type { ApplicationConfig } from '@nestjs/core';

import { startupError } from './errors.js';
import type { Target } from './discovery.js';

const { getMetadata } = Reflect as unknown as { getMetadata(...of: unknown[]): unknown };

/** The metadata keys that Nest's decorators write to, and the names of the decorators. */
const DECORATORS = {
  __guards__: 'UseGuards',
  __interceptors__: 'UseInterceptors',
  __pipes__: 'UsePipes',
  __exceptionFilters__: 'UseFilters',
} as const;

/** The entries that a decorator lists on a class or method. */
const listed = (slot: string, on: unknown): readonly unknown[] =>
  typeof on === 'function' ? ((getMetadata(slot, on) as readonly unknown[] | undefined) ?? []) : [];

/**
 * Checks that Nest will run everything that `@UseGuards` and its siblings list for a method. Nest silently skips
 * classes that it has no instance of, and ignores the decorators of a method that is overridden, or that lists the
 * resources of a template.
 * @param helpers names of the methods that list the member's resources and make its plans, if there are any
 * @throws {DecorumError} `DECORUM_UNBOUND_ENHANCER`
 */
export function requireEnhancers(
  { cls, module, isOfFunctions = false }: Target,
  key: string,
  helpers: { readonly list?: unknown; readonly preview?: unknown },
): void {
  const method = methodOf(cls, key);
  const where = `${module.name}: ${cls.name}.${key}`;
  for (const [slot, decorator] of Object.entries(DECORATORS)) {
    for (const found of [...listed(slot, cls), ...listed(slot, method)]) {
      const isClass = typeof found === 'function' && found.prototype !== undefined;
      if (!isClass || module.injectables.has(found as never)) continue;
      const remedy = isOfFunctions
        ? `Pass an instance, as in \`${decorator}(new ${found.name}())\`, or move the function to a provider`
        : `List ${cls.name} itself in the \`providers\` of a module, not a factory, a value or a class that Nest doesn't know`;
      throw startupError('DECORUM_UNBOUND_ENHANCER', where, `@${decorator}(${found.name})`, remedy);
    }
    const lost = overridden(cls.prototype as object, key).find(
      (base) => base !== method && listed(slot, base).length > 0,
    );
    if (lost !== undefined && listed(slot, method).length === 0) {
      const remedy = `The method overrides the decorated one. Decorate it too`;
      throw startupError('DECORUM_UNBOUND_ENHANCER', where, `@${decorator} of the base class`, remedy);
    }
    for (const [option, helper] of Object.entries(helpers)) {
      if (listed(slot, methodOf(cls, helper)).length === 0) continue;
      const remedy = `Decorate ${cls.name}.${key} instead: its guards also run before \`${option}\``;
      throw startupError('DECORUM_UNBOUND_ENHANCER', where, `@${decorator} of ${cls.name}.${String(helper)}`, remedy);
    }
  }
}

/** Whether guards decide about the calls of a method: its own, those of its class, or those of the application. */
export function hasGuards({ cls }: Target, key: string, config: ApplicationConfig): boolean {
  const global = [config.getGlobalGuards(), config.getGlobalRequestGuards()];
  return [...global, listed('__guards__', cls), listed('__guards__', methodOf(cls, key))].some(
    ({ length }) => length > 0,
  );
}

/**
 * Checks that a member with guards says on what its kept results depend: a guard may sign users in, and what it finds
 * comes too late for `ctx.principal`.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function requireVariant({ cls }: Target, key: string, memoize: unknown): void {
  if (memoize === undefined || memoize === false) return;
  if (typeof memoize === 'object' && memoize !== null && 'vary' in memoize) return;
  const problem =
    "may give the results of one user to others, because a guard may sign users in, and Decorum doesn't know who they are. Add `vary`, as in `{ ttl: '30s', vary: (ctx: Context) => requestOf<Request>(ctx)?.headers.authorization ?? '' }`, or `vary: () => ''` if results are the same for all. Or pass `auth` or `principal` to McpModule";
  throw startupError('DECORUM_INVALID_OPTION', `${cls.name}.${key}`, 'memoize', problem);
}

const methodOf = ({ prototype }: Target['cls'], key: unknown): unknown =>
  (prototype as Readonly<Record<PropertyKey, unknown>>)[key as string];

/** The methods with a given name on the prototypes of the base classes. */
function overridden(prototype: object, key: string): unknown[] {
  const base = Object.getPrototypeOf(prototype) as object | null;
  if (base === null || base === Object.prototype) return [];
  const own: unknown = Object.getOwnPropertyDescriptor(base, key)?.value;
  return [...(own === undefined ? [] : [own]), ...overridden(base, key)];
}
