import { type Class, invalidOption, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import type { MemberRecord, RelayedRecord } from './metadata/records.js';
import { type Offered, type Provider, requireScopes } from './registry/plan.js';
import { requireTags } from './registry/tags.js';
import { requireTransform } from './registry/transforms.js';
import { SOURCE_OPTIONS, type SourceOptions } from './source-options.js';

/** A member that is added from outside: what a decorator writes down, or the list entry of another server. */
export type AddedMember = MemberRecord<'tool' | 'prompt' | 'resource' | 'completion'> | RelayedRecord;

/** The functions that members call, by the members' keys. */
export type Handlers = Readonly<Record<string, (input: never, context: never) => unknown>>;

/** Options of `server.addMembers`. */
export interface AddMembersOptions extends SourceOptions {
  /** What errors call the source of the members, such as `openapi(petstore.yaml)`. Defaults to `addMembers`. */
  readonly source?: string;
  /** What to declare to clients even while there is no such member, because members may come later. */
  readonly offers?: readonly Offered[];
  /**
   * Told of each entry of another server that is invalid or whose name is taken, which is left out then. By default, one
   * such entry is an error, and nothing is added.
   */
  onInvalid?(error: Error): void;
}

const OPTIONS: OptionTypes<AddMembersOptions> = {
  ...SOURCE_OPTIONS,
  source: 'string',
  offers: 'array',
  onInvalid: 'function',
};

/**
 * The provider of members that are added from outside.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` for a wrong option, or a record without a handler
 */
export function addedMembers(
  records: readonly AddedMember[],
  handlers: Handlers,
  options: AddMembersOptions = {},
): Provider {
  requireOptions('addMembers', options, OPTIONS);
  const {
    source = 'addMembers',
    prefix = '',
    separator = '_',
    uriPrefix = prefix,
    scopes = [],
    tags = [],
    transform,
  } = options;
  requireScopes(scopes, source);
  requireTags(tags, source);
  requireTransform(transform, source);
  if (!/^[\w.~-]*$/.test(uriPrefix)) {
    const problem = `is "${uriPrefix}", but must be letters, digits, "-", ".", "_" and "~". Correct it`;
    throw invalidOption(source, 'uriPrefix', problem);
  }
  if (!Array.isArray(records))
    throw invalidOption(source, 'records', 'is not an array. Pass `[{ kind, key, options }]`');
  // not inherited, because somebody else may choose the keys
  const unhandled = records.find(({ key }) => !Object.hasOwn(handlers, key) || typeof handlers[key] !== 'function');
  if (unhandled) throw invalidOption(source, 'handlers', `has no function for "${unhandled.key}". Add it`);
  // errors name the class of a provider
  const cls = Object.defineProperty(class {}, 'name', { value: source }) as unknown as Class;
  return {
    cls,
    instance: handlers,
    prefix: prefix === '' ? '' : prefix + separator,
    uriPrefix: '',
    uriSegment: uriPrefix === '' ? undefined : uriPrefix,
    access: options.access,
    scopes,
    tags,
    transform,
    offers: options.offers,
    onInvalid: options.onInvalid,
    records: records.flatMap((record) => ('entry' in record ? [] : [record])),
    relayed: records.flatMap((record) => ('entry' in record ? [record] : [])),
  };
}
