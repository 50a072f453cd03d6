import { startupError } from '../errors.js';
import type { FieldFacts } from './records.js';
import { type Class, declaredFields, lineage } from './store.js';

/**
 * Facts from the field decorators of a class, merged with those of its base classes.
 * @throws {DecorumError} `DECORUM_INVALID_FIELD` for a field with two forms
 */
export function scanFields(cls: Class): Map<string, FieldFacts> {
  const merged = new Map<string, FieldFacts>();
  for (const ancestor of lineage(cls)) {
    const forms = new Map<string, string>();
    const described = new Set<string>();
    for (const { key, facts } of declaredFields(ancestor)) {
      if (facts.description !== undefined) {
        if (described.has(key)) throw startupError('DECORUM_DECORATED_TWICE', `${ancestor.name}.${key}`, 'Describe');
        described.add(key);
      }
      const [kind, other] = [facts.form?.kind, forms.get(key)];
      if (kind !== undefined && other !== undefined) {
        const problem = `@${kind} and @${other} both define the field`;
        throw startupError('DECORUM_INVALID_FIELD', `${ancestor.name}.${key}`, problem, 'Keep one of them.');
      }
      if (kind !== undefined) forms.set(key, kind);
      merged.set(key, { ...merged.get(key), ...facts });
    }
  }
  return merged;
}
