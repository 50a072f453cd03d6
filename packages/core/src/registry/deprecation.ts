import { invalidOption, type JsonObject } from '@decorum/schema/internal';

/** The key of `_meta` under which clients find what to use in place of a deprecated member. */
const DEPRECATED = 'dev.decorum/deprecated';

interface Described {
  readonly description?: string;
  readonly _meta?: JsonObject;
}

/**
 * What to use in place of a member; undefined if it isn't deprecated.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for anything but text or `false`
 */
export function deprecationOf(deprecated: unknown = false, where: string): string | undefined {
  if (deprecated === false) return undefined;
  if (typeof deprecated === 'string' && deprecated.trim() !== '') return deprecated;
  const remedy = "Write what to use in its place, as in `deprecated: 'Use search_invoices.'`";
  throw invalidOption(where, 'deprecated', `is no text. ${remedy}`);
}

/** A description that says so first if the member is deprecated, because clients cut long ones at their end. */
export function noticing(description: string | undefined, deprecated: string | undefined): string | undefined {
  if (deprecated === undefined) return description;
  const notice = `Deprecated: ${deprecated}`;
  return description === undefined ? notice : `${notice}\n\n${description}`;
}

/** An entry that says so if it is deprecated. */
export function deprecating<E extends Described>(entry: E, deprecated: string | undefined): E {
  if (deprecated === undefined) return entry;
  const { description, _meta } = entry;
  return {
    ...entry,
    description: noticing(description, deprecated),
    _meta: { ..._meta, [DEPRECATED]: deprecated },
  };
}
