import { startupError } from '../errors.js';
import { loadReflectMetadata } from './libraries.cjs';
import type { FieldFacts, FieldRecord } from './records.js';

// load it right away: decorators of modules that import this one run next
const METADATA = prepared();

/** Any class. */
export type Class<T = object> = abstract new (...args: never[]) => T;

// A registered symbol, so two copies of this package in one process read and write the same records.
const FIELDS = Symbol.for('decorum:fields');

/** Adds what decorators of both kinds need to `Reflect` and `Symbol`. Returns `Symbol.metadata`. */
function prepared(): symbol {
  try {
    loadReflectMetadata();
    // Compilers set `metadata` in a TC39 decorator context only if this symbol exists. No Node release defines it.
    return ((Symbol as { metadata?: symbol }).metadata ??= Symbol.for('Symbol.metadata'));
  } catch (error) {
    if (Object.isExtensible(Reflect) && Object.isExtensible(Symbol)) throw error;
    const remedy = 'This runtime has frozen `Reflect`. Import Decorum before it is, and omit `--frozen-intrinsics`';
    throw startupError('DECORUM_MISSING_LIBRARY', 'Decorum', 'reflect-metadata', remedy);
  }
}

/** The second argument of a decorator: the member's key, or the TC39 context. */
type Place = string | symbol | ClassMethodDecoratorContext | ClassFieldDecoratorContext;

/** Reads an own property, ignoring inherited ones. */
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

/**
 * Creates a decorator, for both TC39 decorators and `experimentalDecorators`. It writes only to the class's own list;
 * readers merge the lists of base classes. It throws for static, private and symbol-named members.
 * @param slot the symbol of the list. Use a registered one: two copies of a package then share the list
 */
export function recordWriter(slot: symbol, record: object): (target: unknown, context: Place) => void {
  return (target, context) => {
    const { holder, key } = holderOf(target, context);
    if (!Object.hasOwn(holder, slot)) Object.defineProperty(holder, slot, { value: [] });
    (own(holder, slot) as object[]).push(Object.freeze({ key, ...record }));
  };
}

/** Creates a field decorator that writes a record. It throws for static, private and symbol-named members. */
export const fieldWriter = (facts: FieldFacts) => recordWriter(FIELDS, { facts });

/** The records in a list of a class itself, without those of its base classes. */
export function declaredRecords(cls: Class, slot: symbol): readonly unknown[] {
  const metadata = own(cls, METADATA) ?? {};
  return [cls, metadata].flatMap((holder) => own(holder, slot) ?? []);
}

/** Records of the fields that a class itself declares, without inherited ones. */
export function declaredFields(cls: Class): readonly FieldRecord[] {
  return declaredRecords(cls, FIELDS) as readonly FieldRecord[];
}

/** Type metadata that TypeScript emitted for a member, if any. */
function emitted(name: string, cls: Class, key: string): unknown {
  const { getMetadata } = Reflect as unknown as { getMetadata(name: string, target: object, key: string): unknown };
  return getMetadata(name, cls.prototype as object, key);
}

/** Classes of a method's parameters, if TypeScript emitted them. */
export function parameterTypes(cls: Class, key: string): readonly unknown[] | undefined {
  return emitted('design:paramtypes', cls, key) as readonly unknown[] | undefined;
}

/** Class of a field, if TypeScript emitted it. */
export function fieldType(cls: Class, key: string): unknown {
  return emitted('design:type', cls, key);
}

/** A class and its base classes, base class first. */
export function lineage(cls: Class): Class[] {
  const chain: Class[] = [];
  for (let c: unknown = cls; typeof c === 'function' && c !== Function.prototype; c = Object.getPrototypeOf(c)) {
    chain.unshift(c as Class);
  }
  return chain;
}
