import { type Class, McpServer, type StartupErrorCode } from '@decorum/core';

/** What the user wrote, what runs it, and the error: its code, where it says the mistake is, and how it ends. */
export type Mistake = readonly [
  wrote: string,
  run: () => unknown,
  code: StartupErrorCode,
  where: string,
  remedy: string,
];

/** What the user sees, what shows it, and the value it shows. */
export type Behaviour = readonly [sees: string, show: () => unknown, shown: unknown];

/** As plain JavaScript calls a decorator, or a function: without a look at types. */
export const untyped = <T>(value: unknown) => value as (...args: unknown[]) => T;

/** A decorator as compilers without a look at types run it. */
export type AnyDecorator = (...place: unknown[]) => void;

/** A server with these providers and options. */
export const serverOf = (providers: readonly unknown[], options: object = {}) =>
  new McpServer({ name: 'test', version: '1.0.0', ...options, providers: providers as Class[] });

/** Starts a server with these providers. */
export const start =
  (...providers: readonly unknown[]) =>
  () =>
    serverOf(providers);

/** A class `Shop` whose method, or field, has a decorator. */
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

/** The code of the error that something fails with at startup. */
export async function codeOf(run: () => unknown): Promise<unknown> {
  try {
    await run();
    return 'nothing failed';
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
}
