import type { MemberOptions } from '../metadata/member-options.js';
import type { MemberKind } from '../metadata/records.js';
import { memberWriter } from '../metadata/store.js';

/** A handler of any parameters and result. */
export type Method = (...args: never[]) => unknown;

/** A decorator for methods assignable to `M`, in the TC39 dialect and in that of `experimentalDecorators`. */
export interface MemberDecorator<M extends Method = Method> {
  <T extends M>(value: T, context: ClassMethodDecoratorContext): void;
  <T extends M>(target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<T>): void;
}

/** Makes the decorator that writes one record of `kind`. */
export function memberDecorator<Kind extends MemberKind, M extends Method>(
  kind: Kind,
  options: MemberOptions[Kind],
): MemberDecorator<M> {
  return memberWriter({ kind, options: { ...options } });
}
