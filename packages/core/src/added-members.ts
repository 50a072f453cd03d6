import { type Class, invalidOption, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import type { MemberRecord, RelayedRecord } from './metadata/records.js';
import type { Access } from './protocol/wire.js';
import { type Provider, requireScopes } from './registry/plan.js';
import { requireTags } from './registry/tags.js';

/** A member that is added from outside: what a decorator writes down, or the list entry of another server. */
export type AddedMember = MemberRecord<'tool' | 'prompt' | 'resource' | 'completion'> | RelayedRecord;

/** The functions that members call, by the members' keys. */
export type Handlers = Readonly<Record<string, (input: never, context: never) => unknown>>;

/** Options of `server.addMembers`. */
export interface AddMembersOptions {
  /** What errors call the source of the members, such as `openapi(petstore.yaml)`. Defaults to `addMembers`. */
  readonly source?: string;
  /** Put before the names of tools, prompts and resources: `billing` makes `billing_pay` of `pay`. */
  readonly prefix?: string;
  /** Between the prefix and the name. Defaults to `_`. */
  readonly separator?: string;
  /** Inserted after the scheme of URIs: `billing` makes `notes://billing/7` of `notes://7`. Defaults to `prefix`. */
  readonly uriPrefix?: string;
  /** Decides who may see and use the members, besides each member's own `access`. */
  readonly access?: Access;
  /** Scopes that callers need for each of the members, in addition to the member's own. */
  readonly scopes?: readonly string[];
  /** Tags of each of the members, in addition to the member's own. */
  readonly tags?: readonly string[];
}

const OPTIONS: OptionTypes<AddMembersOptions> = {
  source: 'string',
  prefix: 'string',
  separator: 'string',
  uriPrefix: 'string',
  access: 'function',
  scopes: 'array',
  tags: true,
};

/**
 * The provider of members that are added from outside.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
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
    access,
    tags = [],
  } = options;
  requireScopes(scopes, source);
  requireTags(tags, source);
  const unhandled = records.find(({ key }) => typeof handlers[key] !== 'function');
  if (unhandled) throw invalidOption(source, 'handlers', `has no function for "${unhandled.key}". Add it`);
  // errors name the class of a provider
  const cls = Object.defineProperty(class {}, 'name', { value: source }) as unknown as Class;
  return {
    cls,
    instance: handlers,
    prefix: prefix === '' ? '' : prefix + separator,
    uriPrefix: '',
    uriSegment: uriPrefix === '' ? undefined : uriPrefix,
    access,
    scopes,
    tags,
    records: records.flatMap((record) => ('entry' in record ? [] : [record])),
    relayed: records.flatMap((record) => ('entry' in record ? [record] : [])),
  };
}
