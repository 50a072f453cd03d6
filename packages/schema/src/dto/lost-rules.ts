import { type Rule, ruleStore } from '../metadata/rule-store.js';
import { type Class, lineage } from '../metadata/store.js';
import { startupError } from '../errors.js';

interface Emitted {
  hasMetadata(...of: unknown[]): boolean;
  hasOwnMetadata(...of: unknown[]): boolean;
}
const emitted = Reflect as unknown as Emitted;

/** Whether a class has a decorated static member: its type is emitted. Without emitted types, whether it has one at all. */
function hasStatic(cls: Class, key: string, isEmitted: boolean): boolean {
  if (isEmitted) return emitted.hasOwnMetadata('design:type', cls, key);
  const isOwn = Object.hasOwn(cls, key) && !Object.hasOwn(class {}, key) && key !== 'name';
  return isOwn || emitted.hasOwnMetadata('design:type', cls, key);
}

/** class-validator files the rules of static members under the class of classes. */
const staticRules = (): readonly Rule[] =>
  ruleStore()
    ?.getTargetValidationMetadatas(Function as unknown as Class, '', false, false)
    .filter(({ target }) => target === Function) ?? [];

/**
 * Rejects rules on members that no instance of a class has, or that JSON can't name.
 * @param rules the rules of the class
 * @throws {DecorumError} `DECORUM_INVALID_FIELD`
 */
export function rejectLostRules(cls: Class, rules: Iterable<string | symbol>): void {
  // another class may have a rule on a static member with the same name
  let isEmitted = false;
  for (const key of rules) {
    isEmitted ||= emitted.hasMetadata('design:type', cls.prototype, key);
    if (typeof key === 'string') continue;
    const problem = 'its name is a symbol, and JSON has only names that are text';
    throw startupError('DECORUM_INVALID_FIELD', `${cls.name}.${String(key)}`, problem, 'Name it with a string.');
  }
  for (const { propertyName: key } of staticRules()) {
    const owner = lineage(cls).find((each) => hasStatic(each, key, isEmitted));
    if (owner === undefined) continue;
    const remedy = 'Remove `static`, or its rules.';
    throw startupError('DECORUM_INVALID_FIELD', `${owner.name}.${key}`, 'it is static, so no instance has it', remedy);
  }
}
