import { inspect } from 'node:util';

import { type Class, McpServer, type StartupErrorCode } from '@decorum/core';
import { expect } from '@jest/globals';

/**
 * What the user wrote, one or more functions that do it, and the message of the error: it contains these parts,
 * separated by ` ... `, and ends with the last one and the code.
 */
export type Mistake = readonly [wrote: string, run: Run | readonly Run[], message: string];

/** Mistakes by the code of their error. */
export type Mistakes = { readonly [code in StartupErrorCode]?: readonly Mistake[] };

type Run = () => unknown;

/** A decorator or function without types, as plain JavaScript calls it. */
export const untyped = <T>(value: unknown) => value as (...args: unknown[]) => T;

/** A decorator as compilers that ignore types run it. */
export type AnyDecorator = (...place: unknown[]) => void;

/**
 * Mistakes in one place, whose rows have only the wrong values, or lists of them, and the message.
 * @param place what the user writes around the value, which takes the place of `…`
 */
export const wrong = (
  place: string,
  run: (given: never) => unknown,
  rows: readonly (readonly [given: unknown, message: string])[],
): Mistake[] =>
  rows.map(([given, message]) => {
    const all = [given].flat();
    const titles = all.map((each) => place.replace('…', () => inspect(each, { depth: 4, breakLength: Infinity })));
    return [titles.join(' or '), all.map((each) => () => run(each as never)), message];
  });

/** Expects that each function fails with this code and message. */
export async function expectMistake(
  runs: Run | readonly Run[],
  code: StartupErrorCode,
  message: string,
): Promise<void> {
  const parts = message.split(' ... ').map((part) => part.replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`));
  const expected = new RegExp(`${parts.join('[^]*')}\\. \\[${code}\\]$`);
  for (const run of [runs].flat()) {
    const error = await Promise.resolve()
      .then(run)
      .then(
        () => 'nothing failed',
        (failure: unknown) => failure,
      );
    expect(error).toHaveProperty('message', expect.stringMatching(expected));
    expect(error).toHaveProperty('code', code);
  }
}

/** A server with these providers and options. */
export const serverOf = (providers: readonly unknown[], options: object = {}) =>
  new McpServer({ name: 'test', version: '1.0.0', ...options, providers: providers as Class[] });

/** Starts a server with these providers. */
export const start =
  (...providers: readonly unknown[]) =>
  () =>
    serverOf(providers);

/** A class whose prototype has a method `search`, with this decorator. */
export function decorated(decorator: AnyDecorator) {
  class Shop {
    search() {
      return 'found';
    }
  }
  decorator(Shop.prototype, 'search', Object.getOwnPropertyDescriptor(Shop.prototype, 'search'));
  return Shop;
}
