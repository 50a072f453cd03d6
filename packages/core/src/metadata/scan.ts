import { type Class, lineage } from '@decorum/schema/internal';

import { startupError } from '../protocol/errors.js';
import type { MemberRecord } from './records.js';
import { withDefaults } from './class-defaults.js';
import { declaredMembers } from './store.js';

/**
 * The decorated members of a class, base classes first, in order of declaration. Decorating a member again in a
 * subclass refines it: each option set in the subclass wins. `@Hidden()` removes the member. What neither sets comes from
 * the `@Defaults` of the class.
 * @throws {DecorumError} `DECORUM_DECORATED_TWICE`, `DECORUM_NOTHING_HIDDEN`
 */
export function scanMembers(cls: Class): MemberRecord[] {
  const merged = new Map<string, MemberRecord>();
  for (const ancestor of lineage(cls)) {
    const own = new Set<string>();
    const hidden: string[] = [];
    for (const record of declaredMembers(ancestor)) {
      const { kind, key } = record;
      const id = `${kind} ${key}`;
      if (own.has(id)) throw startupError('DECORUM_DECORATED_TWICE', `${ancestor.name}.${key}`, kind);
      own.add(id);
      if (kind === 'hidden') hidden.push(key);
      else merged.set(id, refined(merged.get(id), record));
    }
    for (const key of hidden) dropMembers(merged, ancestor, key);
  }
  return withDefaults(cls, [...merged.values()]);
}

/** Both records have the same kind, since the map's key includes it; the compiler cannot see that. */
const refined = (inherited: MemberRecord | undefined, record: MemberRecord) =>
  ({ ...record, options: { ...inherited?.options, ...record.options } }) as MemberRecord;

function dropMembers(merged: Map<string, MemberRecord>, cls: Class, key: string): void {
  const dropped = [...merged].filter(([, record]) => record.key === key);
  if (dropped.length === 0) throw startupError('DECORUM_NOTHING_HIDDEN', `${cls.name}.${key}`);
  for (const [id] of dropped) merged.delete(id);
}
