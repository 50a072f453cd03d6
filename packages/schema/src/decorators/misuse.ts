import { startupError } from '../errors.js';

type Standard = Pick<ClassMethodDecoratorContext, 'name'> & { readonly kind: string };

/** Whether a value is the context that TC39 decorators receive as their second argument. */
function isStandard(context: unknown): context is Standard {
  return typeof context === 'object' && context !== null && 'kind' in context && 'metadata' in context;
}

const nameOf = (value: unknown): string => (value as { readonly name?: string } | undefined)?.name || 'the class';

/** `Class.member` where possible. TC39 decorators don't know the class. */
export function whereOf(target: unknown, context: unknown): string {
  if (isStandard(context)) return String(context.name);
  const cls = typeof target === 'function' ? target : (target as object | null)?.constructor;
  return context === undefined ? nameOf(cls) : `${nameOf(cls)}.${String(context)}`;
}

const misused = (place: readonly unknown[], decorator: string, problem: string) =>
  startupError('DECORUM_MISUSED_DECORATOR', whereOf(place[0], place[1]), decorator, problem);

/** How to use a decorator, for error messages: its name, an example, and where it belongs. */
export interface Usage {
  readonly decorator: string;
  /** For example `@Tool()`. */
  readonly example: string;
  /** An example with an argument, if `example` has none. */
  readonly full?: string;
  readonly place: 'method' | 'field';
  /** Whether its argument may be a class. */
  readonly takesClass?: boolean;
  /** Whether it has an `input` option. */
  readonly takesSchema?: boolean;
  /** The remedy for a field decorator on a method. */
  readonly onMethod?: string;
}

/**
 * Rejects a decorator without parentheses. Without this check, it would receive the decorated member as its first
 * argument and replace the method.
 * @param args the arguments of the decorator call
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR`
 */
export function rejectBare(
  { decorator, example, place, takesClass, takesSchema }: Usage,
  args: readonly unknown[],
): void {
  const [target, context] = args;
  const isHolder = typeof target === 'function' || (typeof target === 'object' && target !== null);
  const isKey = typeof context === 'string' || typeof context === 'symbol';
  const isMember = (isHolder && isKey) || isStandard(context);
  if (!isMember && (takesClass || typeof target !== 'function')) return;
  const isClass = isStandard(context) ? context.kind === 'class' : !isMember;
  // `@Tool(MyDto)` calls the decorator in the same way as `@Tool class MyDto {}`
  const mayBeGiven = takesSchema && context === undefined;
  const onClass = mayBeGiven ? ` (to name a schema, write @${decorator}({ input: MyDto }))` : '';
  const remedy = isClass
    ? `is on a class${onClass}. Write ${example} on each ${place}`
    : `needs parentheses. Write ${example}`;
  throw misused(isClass ? [target] : args, decorator, remedy);
}

/**
 * Rejects a decorator that would have no effect: one on a class or parameter, or a field decorator on a method.
 * @param args the arguments that the compiler passes to the decorator
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR`
 */
export function rejectPlace({ decorator, example, place, onMethod }: Usage, args: readonly unknown[]): void {
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
    throw misused(args, decorator, `is for DTO fields, but this is a method. ${remedy}`);
  }
}

/**
 * Rejects a missing or invalid decorator argument.
 * @param args the arguments that the compiler passes to the decorator
 * @throws {DecorumError} `DECORUM_MISUSED_DECORATOR`
 */
export function rejectArgument(
  { decorator, example, full = example }: Usage,
  args: readonly unknown[],
  problem: string,
): never {
  throw misused(args, decorator, `${problem}. Write ${full}`);
}
