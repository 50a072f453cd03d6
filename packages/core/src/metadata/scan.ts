import { startupError } from '../protocol/errors.js';
import type { FieldFacts, MemberRecord } from './records.js';
import { type Class, declaredFields, declaredMembers, lineage } from './store.js';

/**
 * The decorated members of a class, those of its base classes first and each in order of declaration.
 * A subclass that decorates a member again refines it: its options win one by one. `@Hidden()` drops the member.
 * @throws {DecorumError} `DECORUM_DECORATED_TWICE`, `DECORUM_NOTHING_HIDDEN`
 */
export function scanMembers(cls: Class): MemberRecord[] {
  const merged = new Map<string, MemberRecord>();
  for (const ancestor of lineage(cls)) {
    const records = declaredMembers(ancestor);
    refuseRepeats(ancestor, records);
    for (const record of records) {
      const id = `${record.kind} ${record.key}`;
      const inherited = merged.get(id);
      merged.set(id, inherited ? refined(inherited, record) : record);
    }
    for (const { key } of records.filter(({ kind }) => kind === 'hidden')) dropMember(merged, ancestor, key);
  }
  return [...merged.values()];
}

/** Both are of one kind, which the compiler cannot see: the kind is part of the id. */
const refined = (inherited: MemberRecord, record: MemberRecord) =>
  ({ ...record, options: { ...inherited.options, ...record.options } }) as MemberRecord;

function dropMember(merged: Map<string, MemberRecord>, cls: Class, key: string): void {
  const dropped = [...merged].filter(([, record]) => record.key === key && record.kind !== 'hidden');
  if (dropped.length === 0) throw startupError('DECORUM_NOTHING_HIDDEN', `${cls.name}.${key}`);
  for (const [id, record] of merged) if (record.key === key) merged.delete(id);
}

function refuseRepeats(cls: Class, records: readonly MemberRecord[]): void {
  const seen = new Set<string>();
  for (const { kind, key } of records) {
    const id = `${kind} ${key}`;
    if (seen.has(id)) throw startupError('DECORUM_DECORATED_TWICE', `${cls.name}.${key}`, kind);
    seen.add(id);
  }
}

/** What decorators say of each field of a class, with ancestors merged in. */
export function scanFields(cls: Class): Map<string, FieldFacts> {
  const merged = new Map<string, FieldFacts>();
  for (const ancestor of lineage(cls)) {
    for (const { key, facts } of declaredFields(ancestor)) {
      merged.set(key, { ...merged.get(key), ...facts });
    }
  }
  return merged;
}
