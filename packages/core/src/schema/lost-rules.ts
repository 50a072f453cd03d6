import { type Rule, ruleStore } from '../metadata/rule-store.js';
import { type Class, lineage } from '../metadata/store.js';
import { startupError } from '../protocol/errors.js';

/** Whether a class has a decorated static member: its type is emitted. Without emitted types, whether it has one at all. */
function hasStatic(cls: Class, key: string): boolean {
  const { hasOwnMetadata } = Reflect as unknown as { hasOwnMetadata(...of: unknown[]): boolean };
  return (
    hasOwnMetadata('design:type', cls, key) ||
    (Object.hasOwn(cls, key) && !Object.hasOwn(class {}, key) && key !== 'name')
  );
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
  for (const key of rules) {
    if (typeof key === 'string') continue;
    const problem = 'its name is a symbol, and JSON has only names that are text';
    throw startupError('DECORUM_INVALID_FIELD', `${cls.name}.${String(key)}`, problem, 'Name it with a string.');
  }
  for (const { propertyName: key } of staticRules()) {
    const owner = lineage(cls).find((each) => hasStatic(each, key));
    if (owner === undefined) continue;
    const remedy = 'Remove `static`, or its rules.';
    throw startupError('DECORUM_INVALID_FIELD', `${owner.name}.${key}`, 'it is static, so no instance has it', remedy);
  }
}
