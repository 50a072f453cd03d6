import { invalidOption, NoInput } from '@decorum/schema/internal';

import { type AddedMember, addedMembers } from './added-members.js';
import { startupError } from './protocol/errors.js';
import type { Provider } from './registry/plan.js';

/** Options with a name, which decorators take from the method. */
export type Named<T> = T & { readonly name: string };

/** A function that is added as a tool. */
export type Handler = (...args: never[]) => unknown;

/**
 * The provider of a function that is added as a tool.
 * @throws {DecorumError} for a mistake in the options
 */
export function addedTool(options: Named<{ readonly input?: unknown }>, handler: Handler): Provider {
  const { name } = options ?? {};
  if (typeof name !== 'string' || typeof handler !== 'function') {
    const problem = "or the handler is missing. Write `addTool({ name: 'lookup' }, (input, ctx) => …)`";
    throw invalidOption('addTool', 'name', problem);
  }
  if (/^class\b/.test(Function.prototype.toString.call(handler))) {
    const problem = 'is a class, which cannot be called. Pass a function, or list the class in `providers`';
    throw invalidOption(`addTool.${name}`, 'handler', problem);
  }
  if (!('input' in options) && handler.length === 1) {
    const problem =
      'functions have no emitted types. Name the schema: `input: MyDto`. Without arguments, write `() => …` or `(_, ctx) => …`';
    throw startupError('DECORUM_MISSING_INPUT', `addTool.${name}`, problem);
  }
  const record: AddedMember = { kind: 'tool', key: name, options: { input: NoInput, ...options } };
  return addedMembers([record], { [name]: handler }, { source: 'addTool' });
}
