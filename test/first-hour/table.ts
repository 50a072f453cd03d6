import { type Class, McpServer, type StartupErrorCode } from '@decorum/core';

/**
 * The user's mistake, a function that makes it, and the error: its code, the place that it names, and the end of its
 * message.
 */
export type Mistake = readonly [
  wrote: string,
  run: () => unknown,
  code: StartupErrorCode,
  where: string,
  remedy: string,
];

/** The behavior that the user sees, a function that shows it, and the value that the function returns. */
export type Behaviour = readonly [sees: string, show: () => unknown, shown: unknown];

/** A decorator or function without types, as plain JavaScript calls it. */
export const untyped = <T>(value: unknown) => value as (...args: unknown[]) => T;

/** A decorator as compilers that ignore types run it. */
export type AnyDecorator = (...place: unknown[]) => void;

/** A server with these providers and options. */
export const serverOf = (providers: readonly unknown[], options: object = {}) =>
  new McpServer({ name: 'test', version: '1.0.0', ...options, providers: providers as Class[] });

/** Starts a server with these providers. */
export const start =
  (...providers: readonly unknown[]) =>
  () =>
    serverOf(providers);

/** A class `Shop` with a decorator on its method or field. */
export function decorated(decorator: AnyDecorator, { kind = 'method' }: { readonly kind?: 'method' | 'field' } = {}) {
  class Shop {
    search() {
      return 'found';
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Shop.prototype, 'search');
  if (kind === 'method') decorator(Shop.prototype, 'search', descriptor);
  else decorator(Shop.prototype, 'price', undefined);
  return Shop;
}

/** The code of the startup error that something fails with. */
export async function codeOf(run: () => unknown): Promise<unknown> {
  try {
    await run();
    return 'nothing failed';
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
}
