import { startupError } from '../protocol/errors.js';
import { loadReflectMetadata } from './libraries.cjs';
import type { MemberOptions } from './member-options.js';
import type { FieldFacts, FieldRecord, MemberKind, MemberRecord } from './records.js';

// at once: the decorators of modules that import this one run next
loadReflectMetadata();

/** Anything that can be constructed. */
export type Class<T = object> = abstract new (...args: never[]) => T;

// Registered symbols: two copies of this package in one process read and write the same records.
const MEMBERS = Symbol.for('decorum:members');
const FIELDS = Symbol.for('decorum:fields');

// A TC39 decorator context carries `metadata` only where this symbol exists, and no Node release defines it.
const METADATA: symbol = (Symbol as { metadata?: symbol }).metadata ?? Symbol.for('Symbol.metadata');
(Symbol as { metadata?: symbol }).metadata ??= METADATA;

type Holder = object & { [slot: symbol]: unknown };
type Standard = ClassMethodDecoratorContext | ClassFieldDecoratorContext;

function isStandard(context: unknown): context is Standard {
  return typeof context === 'object' && context !== null && 'kind' in context && 'metadata' in context;
}

/** Only the class's own list is touched; ancestors are merged when reading. */
function append(holder: object, slot: symbol, record: object): void {
  if (!Object.hasOwn(holder, slot)) Object.defineProperty(holder, slot, { value: [] });
  ((holder as Holder)[slot] as object[]).push(Object.freeze(record));
}

function own(holder: object | undefined, slot: symbol): readonly unknown[] {
  return holder !== undefined && Object.hasOwn(holder, slot) ? ((holder as Holder)[slot] as unknown[]) : [];
}

function holderOf(target: unknown, context: unknown): { holder: object; key: string } {
  if (isStandard(context)) {
    const { name, metadata } = context;
    if (typeof name !== 'string' || context.static || context.private || !metadata) throw unsupported(name);
    return { holder: metadata, key: name };
  }
  if (typeof context !== 'string' || typeof target === 'function') throw unsupported(context);
  return { holder: (target as { constructor: object }).constructor, key: context };
}

const unsupported = (name: unknown) => startupError('DECORUM_UNSUPPORTED_MEMBER', String(name));

/**
 * Writes what a method decorator says, in either decorator dialect.
 * @throws {DecorumError} `DECORUM_UNSUPPORTED_MEMBER` for static, private and symbol-named members
 */
export function writeMember<Kind extends MemberKind>(
  { kind, options }: { readonly kind: Kind; readonly options: MemberOptions[Kind] },
  target: unknown,
  context: unknown,
): void {
  const { holder, key } = holderOf(target, context);
  append(holder, MEMBERS, { kind, key, options });
}

/** Writes what a decorator says of a field, in either decorator dialect. */
export function writeField(facts: FieldFacts, target: unknown, context: unknown): void {
  const { holder, key } = holderOf(target, context);
  append(holder, FIELDS, { key, facts });
}

function declared(cls: Class, slot: symbol): readonly unknown[] {
  const metadata = Object.hasOwn(cls, METADATA) ? ((cls as unknown as Holder)[METADATA] as object) : undefined;
  return [...own(cls, slot), ...own(metadata, slot)];
}

/** The method records a class itself declares, without those of its ancestors. */
export function declaredMembers(cls: Class): readonly MemberRecord[] {
  return declared(cls, MEMBERS) as readonly MemberRecord[];
}

/** The field records a class itself declares, without those of its ancestors. */
export function declaredFields(cls: Class): readonly FieldRecord[] {
  return declared(cls, FIELDS) as readonly FieldRecord[];
}

/** The classes of a method's parameters as TypeScript emitted them; undefined when it emitted none. */
export function parameterTypes(cls: Class, key: string): readonly unknown[] | undefined {
  const { getMetadata } = Reflect as unknown as {
    getMetadata(name: string, target: object, key: string): unknown[] | undefined;
  };
  return getMetadata('design:paramtypes', cls.prototype as object, key);
}

/** The class of a field as TypeScript emitted it, when it did. */
export function fieldType(cls: Class, key: string): unknown {
  const { getMetadata } = Reflect as unknown as { getMetadata(name: string, target: object, key: string): unknown };
  return getMetadata('design:type', cls.prototype as object, key);
}

/** A class and its ancestors, base class first. */
export function lineage(cls: Class): Class[] {
  const chain: Class[] = [];
  for (let c: unknown = cls; typeof c === 'function' && c !== Function.prototype; c = Object.getPrototypeOf(c)) {
    chain.unshift(c as Class);
  }
  return chain;
}
