import type { MemberOptions } from '../metadata/member-options.js';
import type { MemberKind } from '../metadata/records.js';
import { writeMember } from '../metadata/store.js';
import { refuseBare, refusePlace, type Usage } from './misuse.js';

/** A handler of any parameters and result. */
export type Method = (...args: never[]) => unknown;

/** A decorator for methods assignable to `M`, in the TC39 dialect and in that of `experimentalDecorators`. */
export interface MemberDecorator<M extends Method = Method> {
  <T extends M>(value: T, context: ClassMethodDecoratorContext): void;
  <T extends M>(target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<T>): void;
}

const method = (decorator: string, example: string): Usage => ({ decorator, example, place: 'method' });

const USAGES: Readonly<Record<MemberKind, Usage>> = {
  tool: method('Tool', '@Tool()'),
  resource: method('Resource', "@Resource('docs://readme')"),
  prompt: method('Prompt', '@Prompt()'),
  completion: method('Completion', "@Completion({ for: 'method', argument: 'name' })"),
  hidden: method('Hidden', '@Hidden()'),
};

/**
 * Makes the decorator that writes one record of `kind`.
 * @param args everything that the user's call passed: without parentheses, the compiler calls
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR`
 */
export function memberDecorator<Kind extends MemberKind, M extends Method>(
  kind: Kind,
  options: MemberOptions[Kind],
  args: readonly unknown[],
): MemberDecorator<M> {
  const usage = USAGES[kind];
  refuseBare(usage, args);
  // anything but an object is refused at startup, when the class is known
  const record = { kind, options: typeof options === 'object' && options !== null ? { ...options } : options };
  return (...place: [target: unknown, context: unknown, extra?: unknown]) => {
    refusePlace(usage, place);
    writeMember(record, place[0], place[1]);
  };
}
