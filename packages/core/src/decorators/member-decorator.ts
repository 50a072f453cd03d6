import { type Jsonified, rejectArgument, rejectBare, rejectPlace, type Usage } from '@decorum/schema/internal';

import type { MemberOptions } from '../metadata/member-options.js';
import type { MemberKind } from '../metadata/records.js';
import { memberWriter } from '../metadata/store.js';

/** Any handler method. */
export type Method = (...args: never[]) => unknown;

/** A decorator for methods assignable to `M`, for both TC39 decorators and `experimentalDecorators`. */
export interface MemberDecorator<M extends Method = Method> {
  <T extends M>(value: T, context: ClassMethodDecoratorContext): void;
  <T extends M>(target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<T>): void;
}

/** A class with the method `By`. */
type Planner<By extends string> = { readonly [Name in By]: Method };

/** Nothing, if `ctx.plan` of a method has the type of the plan after a JSON round trip. */
type Planned<T extends Method, Plan> = Parameters<T>[1] extends { readonly plan: infer P }
  ? [Plan] extends [P]
    ? unknown
    : { readonly 'ctx.plan has another type than the plan': Plan }
  : unknown;

type PlanOf<C extends Planner<By>, By extends string> = Jsonified<Awaited<ReturnType<C[By]>>>;

/** A decorator for methods assignable to `M`, in classes with the method `By`, which makes their plans. */
interface PreviewDecorator<M extends Method, By extends string> {
  <T extends M, C extends Planner<By>>(
    value: T & Planned<T, PlanOf<C, By>>,
    context: ClassMethodDecoratorContext<C>,
  ): void;
  <T extends M, C extends Planner<By>>(
    target: C,
    key: string | symbol,
    descriptor: TypedPropertyDescriptor<T & Planned<T, PlanOf<C, By>>>,
  ): void;
}

/** The decorator of a tool. `By` is the method of its `preview`, or never. */
export type ToolDecorator<M extends Method, By extends string> = [By] extends [never]
  ? MemberDecorator<M>
  : string extends By
    ? MemberDecorator<M>
    : PreviewDecorator<M, By>;

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
 * Creates a decorator that writes one record of `kind`.
 * @param args all arguments of the call; without parentheses, the compiler passes the decorated member here
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR`
 */
export function memberDecorator<Kind extends MemberKind, M extends Method>(
  kind: Kind,
  options: MemberOptions[Kind],
  args: readonly unknown[],
): MemberDecorator<M> {
  const usage = USAGES[kind];
  rejectBare(usage, args);
  const write = memberWriter({ kind, options: { ...options } });
  return (...place: [...Parameters<typeof write>, extra?: unknown]) => {
    rejectPlace(usage, place);
    if (typeof options !== 'object' || options === null) rejectArgument(usage, place, 'takes an options object');
    if ('~standard' in options) rejectArgument(usage, place, 'takes a schema as the `input` option');
    write(place[0], place[1]);
  };
}
