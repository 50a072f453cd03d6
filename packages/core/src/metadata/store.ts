import { type Class, declaredRecords, recordWriter } from '@decorum/schema/internal';

import type { MemberRecord } from './records.js';

const MEMBERS = Symbol.for('decorum:members');

/** Creates a method decorator that writes a record. It throws for static, private and symbol-named members. */
export const memberWriter = (record: Pick<MemberRecord, 'kind' | 'options'>) => recordWriter(MEMBERS, record);

/** Records of the methods that a class itself declares, without inherited ones. */
export function declaredMembers(cls: Class): readonly MemberRecord[] {
  return declaredRecords(cls, MEMBERS) as readonly MemberRecord[];
}
