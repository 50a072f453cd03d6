import { startupError } from '../protocol/errors.js';

type Standard = Pick<ClassMethodDecoratorContext, 'name'> & { readonly kind: string };

/** Whether a value is what standard (TC39) decorators get as their second argument. */
function isStandard(context: unknown): context is Standard {
  return typeof context === 'object' && context !== null && 'kind' in context && 'metadata' in context;
}

const nameOf = (value: unknown): string => (value as { readonly name?: string } | undefined)?.name || 'the class';

/** `Class.member` as far as the dialect tells: standard decorators don't know the class. */
export function whereOf(target: unknown, context: unknown): string {
  if (isStandard(context)) return String(context.name);
  const cls = typeof target === 'function' ? target : (target as object | null)?.constructor;
  return context === undefined ? nameOf(cls) : `${nameOf(cls)}.${String(context)}`;
}

const misused = (place: readonly unknown[], decorator: string, problem: string) =>
  startupError('DECORUM_MISUSED_DECORATOR', whereOf(place[0], place[1]), decorator, problem);

/** One use of a decorator: its name, an example of it, and what it belongs on. */
export interface Usage {
  readonly decorator: string;
  /** Such as `@Tool()`. */
  readonly example: string;
  /** An example with an argument, where the first has none. */
  readonly full?: string;
  readonly place: 'method' | 'field';
  /** Its argument may be a class. */
  readonly takesClass?: boolean;
  /** It has an option `input`. */
  readonly takesSchema?: boolean;
  /** What to write where a decorator for fields is on a method. */
  readonly onMethod?: string;
}

/**
 * Refuses a decorator without parentheses: it gets the decorated member where its own arguments should be, and would
 * replace the method.
 * @param args what the decorator was called with
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR`
 */
export function refuseBare(
  { decorator, example, place, takesClass, takesSchema }: Usage,
  args: readonly unknown[],
): void {
  const [target, context] = args;
  const isHolder = typeof target === 'function' || (typeof target === 'object' && target !== null);
  const isKey = typeof context === 'string' || typeof context === 'symbol';
  const isMember = (isHolder && isKey) || isStandard(context);
  if (!isMember && (takesClass || typeof target !== 'function')) return;
  const isClass = isStandard(context) ? context.kind === 'class' : !isMember;
  // `@Tool(MyDto)` calls as `@Tool class MyDto {}` does
  const mayBeGiven = takesSchema && context === undefined;
  const onClass = mayBeGiven ? ` (to name a schema, write @${decorator}({ input: MyDto }))` : '';
  const remedy = isClass
    ? `is on a class${onClass}. Write ${example} on each ${place}`
    : `needs parentheses. Write ${example}`;
  throw misused(isClass ? [target] : args, decorator, remedy);
}

/**
 * Refuses a decorator on a class or a parameter, and one for fields on a method: it would have no effect.
 * @param args what the compiler passes to the decorator
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR`
 */
export function refusePlace({ decorator, example, place, onMethod }: Usage, args: readonly unknown[]): void {
  const [target, context, extra] = args;
  const kind = isStandard(context) ? context.kind : undefined;
  if (typeof extra === 'number') {
    const fields = place === 'field' ? ' of its class' : '';
    throw misused(args, decorator, `is on a parameter. Write ${example} on the ${place}${fields}`);
  }
  if (kind === 'class' || (context === undefined && typeof target === 'function')) {
    throw misused([target], decorator, `is on a class. Write ${example} on each ${place}`);
  }
  const isMethod = kind === 'method' || typeof (extra as PropertyDescriptor | undefined)?.value === 'function';
  if (place === 'field' && isMethod) {
    const remedy = onMethod ?? `Write ${example} on each field`;
    throw misused(args, decorator, `is for fields of DTO classes, and this is a method. ${remedy}`);
  }
}

/**
 * Refuses an argument of a decorator that is missing, or of another kind.
 * @param args what the compiler passes to the decorator
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR`
 */
export function refuseArgument(
  { decorator, example, full = example }: Usage,
  args: readonly unknown[],
  problem: string,
): never {
  throw misused(args, decorator, `${problem}. Write ${full}`);
}
