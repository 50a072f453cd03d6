import type { MemberOptions } from '../metadata/member-options.js';
import type { MemberKind } from '../metadata/records.js';
import { memberWriter } from '../metadata/store.js';
import { refuseArgument, refuseBare, refusePlace, type Usage } from './misuse.js';

/** A handler of any parameters and result. */
export type Method = (...args: never[]) => unknown;

/** A decorator for methods assignable to `M`, in the TC39 dialect and in that of `experimentalDecorators`. */
export interface MemberDecorator<M extends Method = Method> {
  <T extends M>(value: T, context: ClassMethodDecoratorContext): void;
  <T extends M>(target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<T>): void;
}

const method = (decorator: string, example: string): Usage => ({ decorator, example, place: 'method' });

const USAGES: Readonly<Record<MemberKind, Usage>> = {
  tool: { ...method('Tool', '@Tool()'), full: "@Tool({ description: '…' })", takesSchema: true },
  resource: {
    ...method('Resource', "@Resource('docs://readme')"),
    full: "@Resource('docs://readme', { mimeType: 'text/markdown' })",
  },
  prompt: { ...method('Prompt', '@Prompt()'), full: "@Prompt({ description: '…' })", takesSchema: true },
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
  const write = memberWriter({ kind, options: { ...options } });
  return (...place: [...Parameters<typeof write>, extra?: unknown]) => {
    refusePlace(usage, place);
    if (typeof options !== 'object' || options === null) refuseArgument(usage, place, 'takes an object of options');
    if ('~standard' in options) refuseArgument(usage, place, 'takes a schema as the option `input`');
    write(place[0], place[1]);
  };
}
