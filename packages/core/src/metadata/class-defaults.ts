import { type Class, lineage, type OptionTypes } from '@decorum/schema/internal';

import type { MemberRecord } from './records.js';
import { OPTIONS } from './member-options.js';
import { POLICIES, type PolicyOptions } from './policy-options.js';

/** Options of `@Defaults`: options that all members of a class have unless they set their own. */
export interface DefaultsOptions extends PolicyOptions {
  /** Characters of text that a result may have. */
  readonly maxResultChars?: number | false;
}

/** All options with their types. */
export const DEFAULTS: OptionTypes<DefaultsOptions> = { ...POLICIES, maxResultChars: true };

const SLOT = Symbol.for('decorum:defaults');

type Holder = { [SLOT]?: DefaultsOptions };

/** Whether `@Defaults` is on this very class already. */
export const hasDefaults = (cls: Class): boolean => Object.hasOwn(cls, SLOT);

/** Records the options of a class. */
export function writeDefaults(cls: Class, options: DefaultsOptions): void {
  Object.defineProperty(cls, SLOT, { value: { ...options } });
}

/** What `@Defaults` says on a class and its base classes, base classes first. */
export const declaredDefaults = (cls: Class): readonly { readonly of: Class; readonly options: DefaultsOptions }[] =>
  lineage(cls).flatMap((of) => (Object.hasOwn(of, SLOT) ? [{ of, options: (of as Holder)[SLOT] ?? {} }] : []));

/** Options without those that are undefined, such as one that depends on a setting that is missing. */
const given = <T extends object>(options: T): Partial<T> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;

/** The defaults of a class: those of its base classes, refined by its own. Undefined if there are none. */
function defaultsOf(cls: Class): DefaultsOptions | undefined {
  const all = declaredDefaults(cls);
  return all.length === 0 ? undefined : Object.assign({}, ...all.map(({ options }) => given(options)));
}

/** Whether it is safe to call the member again: a tool says so, and other members only read. */
export function mayRepeat({ kind, options }: MemberRecord): boolean {
  const { readOnlyHint, idempotentHint } = (kind === 'tool' && options.annotations) || {};
  return kind !== 'tool' || readOnlyHint === true || idempotentHint === true;
}

/** Whether results may be kept: a tool says so, and other members only read. A plan has a ticket for one call. */
export const mayKeep = ({ kind, options }: MemberRecord): boolean =>
  kind !== 'tool' || (options.annotations?.readOnlyHint === true && options.preview === undefined);

/** The members of a class, with the class's defaults. What a member sets itself wins. */
export function withDefaults(cls: Class, records: readonly MemberRecord[]): MemberRecord[] {
  const defaults = defaultsOf(cls);
  if (defaults === undefined) return [...records];
  return records.map((record) => {
    const { retry, memoize, ...others } = defaults;
    const fitting = {
      ...others,
      ...(mayRepeat(record) && retry !== undefined && { retry }),
      ...(mayKeep(record) && memoize !== undefined && { memoize }),
    };
    const own: DefaultsOptions = record.options as object;
    const known = Object.entries(fitting).filter(
      ([name]) => name in OPTIONS[record.kind] && own[name as keyof DefaultsOptions] === undefined,
    );
    return { ...record, options: { ...record.options, ...Object.fromEntries(known) } } as MemberRecord;
  });
}
