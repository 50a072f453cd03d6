import { startupError } from '@decorum/core/transport';

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
 * classes that it has no instance of, and ignores the decorators of a method that is overridden.
 * @throws {DecorumError} `DECORUM_UNBOUND_ENHANCER`
 */
export function requireEnhancers({ cls, module }: Target, key: string): void {
  const method: unknown = (cls.prototype as Readonly<Record<string, unknown>>)[key];
  const where = `${module.name}: ${cls.name}.${key}`;
  for (const [slot, decorator] of Object.entries(DECORATORS)) {
    for (const found of [...listed(slot, cls), ...listed(slot, method)]) {
      const isClass = typeof found === 'function' && found.prototype !== undefined;
      if (!isClass || module.injectables.has(found as never)) continue;
      const remedy = `List ${cls.name} itself in \`providers\` instead of a factory or value`;
      throw startupError('DECORUM_UNBOUND_ENHANCER', where, `@${decorator}(${found.name})`, remedy);
    }
    const lost = overridden(cls.prototype as object, key).find(
      (base) => base !== method && listed(slot, base).length > 0,
    );
    if (lost === undefined || listed(slot, method).length > 0) continue;
    const remedy = `The method overrides the decorated one. Decorate it too`;
    throw startupError('DECORUM_UNBOUND_ENHANCER', where, `@${decorator} of the base class`, remedy);
  }
}

/** The methods with a given name on the prototypes of the base classes. */
function overridden(prototype: object, key: string): unknown[] {
  const base = Object.getPrototypeOf(prototype) as object | null;
  if (base === null || base === Object.prototype) return [];
  const own: unknown = Object.getOwnPropertyDescriptor(base, key)?.value;
  return [...(own === undefined ? [] : [own]), ...overridden(base, key)];
}
