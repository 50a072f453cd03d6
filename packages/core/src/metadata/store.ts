import { startupError } from '../protocol/errors.js';
import { loadReflectMetadata } from './libraries.cjs';
import type { FieldFacts, FieldRecord, MemberRecord } from './records.js';

// at once: the decorators of modules that import this one run next
loadReflectMetadata();

/** Anything that can be constructed. */
export type Class<T = object> = abstract new (...args: never[]) => T;

// Registered symbols: two copies of this package in one process read and write the same records.
const MEMBERS = Symbol.for('decorum:members');
const FIELDS = Symbol.for('decorum:fields');

// A TC39 decorator context carries `metadata` only where this symbol exists, and no Node release defines it.
const METADATA: symbol = ((Symbol as { metadata?: symbol }).metadata ??= Symbol.for('Symbol.metadata'));

/** The second argument of a decorator: the key of the member, or the context of the TC39 dialect. */
type Place = string | symbol | ClassMethodDecoratorContext | ClassFieldDecoratorContext;

/** What an object itself has in a slot, without what it inherits. */
function own(holder: object, slot: symbol): unknown {
  return Object.hasOwn(holder, slot) ? (holder as Record<symbol, unknown>)[slot] : undefined;
}

function holderOf(target: unknown, context: Place): { holder: object; key: string } {
  if (typeof context === 'object') {
    const { name, metadata } = context;
    if (typeof name !== 'string' || context.static || context.private || !metadata) throw unsupported(String(name));
    return { holder: metadata, key: name };
  }
  const cls = typeof target === 'function' ? target : (target as object).constructor;
  if (typeof context !== 'string' || cls === target) throw unsupported(`${cls.name}.${String(context)}`);
  return { holder: cls, key: context };
}

const unsupported = (member: string) => startupError('DECORUM_UNSUPPORTED_MEMBER', member);

/** A decorator of either dialect. Only the class's own list is touched; ancestors are merged when reading. */
function writer(slot: symbol, said: object): (target: unknown, context: Place) => void {
  return (target, context) => {
    const { holder, key } = holderOf(target, context);
    if (!Object.hasOwn(holder, slot)) Object.defineProperty(holder, slot, { value: [] });
    (own(holder, slot) as object[]).push(Object.freeze({ key, ...said }));
  };
}

/** A decorator that writes what it says of a method. It throws for static, private and symbol-named members. */
export const memberWriter = (said: Pick<MemberRecord, 'kind' | 'options'>) => writer(MEMBERS, said);

/** A decorator that writes what it says of a field. It throws for static, private and symbol-named members. */
export const fieldWriter = (facts: FieldFacts) => writer(FIELDS, { facts });

function declared(cls: Class, slot: symbol): readonly unknown[] {
  const metadata = own(cls, METADATA) ?? {};
  return [cls, metadata].flatMap((holder) => own(holder, slot) ?? []);
}

/** The method records a class itself declares, without those of its ancestors. */
export function declaredMembers(cls: Class): readonly MemberRecord[] {
  return declared(cls, MEMBERS) as readonly MemberRecord[];
}

/** The field records a class itself declares, without those of its ancestors. */
export function declaredFields(cls: Class): readonly FieldRecord[] {
  return declared(cls, FIELDS) as readonly FieldRecord[];
}

/** What TypeScript emitted of the types of a member, when it did. */
function emitted(name: string, cls: Class, key: string): unknown {
  const { getMetadata } = Reflect as unknown as { getMetadata(name: string, target: object, key: string): unknown };
  return getMetadata(name, cls.prototype as object, key);
}

/** The classes of a method's parameters as TypeScript emitted them; undefined when it emitted none. */
export function parameterTypes(cls: Class, key: string): readonly unknown[] | undefined {
  return emitted('design:paramtypes', cls, key) as readonly unknown[] | undefined;
}

/** The class of a field as TypeScript emitted it, when it did. */
export function fieldType(cls: Class, key: string): unknown {
  return emitted('design:type', cls, key);
}

/** A class and its ancestors, base class first. */
export function lineage(cls: Class): Class[] {
  const chain: Class[] = [];
  for (let c: unknown = cls; typeof c === 'function' && c !== Function.prototype; c = Object.getPrototypeOf(c)) {
    chain.unshift(c as Class);
  }
  return chain;
}
