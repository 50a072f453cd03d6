import { type Class, requireOptions } from '@decorum/schema/internal';

import { DEFAULTS, type DefaultsOptions, hasDefaults, writeDefaults } from '../metadata/class-defaults.js';
import { startupError } from '../protocol/errors.js';

/** A decorator for classes, for both TC39 decorators and `experimentalDecorators`. */
export type DefaultsDecorator = (cls: abstract new (...args: never[]) => object, context?: unknown) => void;

/**
 * Sets options for all members of a class. They hold for subclasses too, which may refine them with `@Defaults` of
 * their own. What a member sets itself wins. `retry` and `memoize` hold only for members that may have them.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for unknown options
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR` if used without parentheses, or on anything but a class
 * @throws {DecorumError} `DECORUM_DECORATED_TWICE`
 * @example
 * ```ts
 * @Defaults({ timeoutMs: 10_000 })
 * class Billing {
 *   @Tool({ description: 'Lists invoices', timeoutMs: 5000 })
 *   async invoices(_input: NoInput, ctx: Context) {
 *     const response = await fetch('https://billing.example.com/invoices', { signal: ctx.signal });
 *     return await response.text();
 *   }
 * }
 * ```
 */
export function Defaults(options: DefaultsOptions): DefaultsDecorator;
export function Defaults(options: DefaultsOptions, ...rest: unknown[]): DefaultsDecorator {
  const misused = (where: string, problem: string) =>
    startupError('DECORUM_MISUSED_DECORATOR', where, 'Defaults', `${problem}. Write @Defaults({ timeoutMs: 10_000 })`);
  // without parentheses, the compiler passes the decorated class
  if (typeof options === 'function' || rest.length > 0) {
    throw misused((options as { readonly name?: string }).name ?? 'the class', 'needs parentheses');
  }
  return (cls: unknown, context?: unknown) => {
    if (typeof cls !== 'function' || (context !== undefined && (context as { kind?: unknown }).kind !== 'class')) {
      throw misused(placeOf(cls, context), 'is for classes');
    }
    const { name } = cls;
    requireOptions(`${name} (@Defaults)`, options, DEFAULTS);
    if (hasDefaults(cls as Class)) throw startupError('DECORUM_DECORATED_TWICE', name, 'Defaults');
    writeDefaults(cls as Class, options);
  };
}

/** The decorated member, for errors. `experimentalDecorators` passes its class or prototype and its key. */
function placeOf(owner: unknown, context: unknown): string {
  if (typeof context === 'object' && context !== null) return String((context as { name?: unknown }).name);
  const cls = typeof owner === 'function' ? owner : (owner as object | undefined)?.constructor;
  return `${cls?.name ?? 'the class'}.${String(context)}`;
}
