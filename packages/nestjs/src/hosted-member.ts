import type { Provider, scanMembers } from '@decorum/core/internal';
import { placedUri, type RelayedRecord } from '@decorum/core/plugin';

import type { McpMember } from './execution-context.js';

/** What a decorator writes down, or a member of another server. */
type AnyRecord = ReturnType<typeof scanMembers>[number] | RelayedRecord;

/** A member, with the options of its decorator that its host needs. */
export interface HostedMember extends McpMember {
  readonly input?: unknown;
  /** The method that lists a template's resources. */
  readonly list?: unknown;
  readonly memoize?: unknown;
  /** The method that makes the plans of a tool. */
  readonly preview?: string | undefined;
  /** The method that is called in place of the member's own. */
  readonly calls?: string | undefined;
}

/** Prefixes for the names and URIs of members. */
type Prefixes = Pick<Provider, 'prefix' | 'uriPrefix' | 'uriSegment'>;

/** The members for decorators' records. */
export const membersOf = (records: readonly AnyRecord[], prefixes?: Prefixes): readonly HostedMember[] =>
  records.map((record) => memberOf(record, prefixes));

function memberOf(record: AnyRecord, prefixes: Prefixes = NO_PREFIXES): HostedMember {
  const { kind, key } = record;
  const options = 'entry' in record ? record.entry : record.options;
  const {
    name = key,
    argument,
    input,
    list,
    memoize,
    preview,
    uriTemplate,
    uri = uriTemplate,
  } = options as Readonly<Record<string, unknown>>;
  const called =
    uri === undefined ? (argument ?? `${prefixes.prefix}${String(name)}`) : placedUri(String(uri), prefixes);
  const plans = typeof preview === 'object' && preview !== null && 'by' in preview ? preview.by : preview;
  const shared = { kind: kind as McpMember['kind'], key, name: String(called), input, list, memoize };
  return typeof plans === 'string' ? { ...shared, preview: plans } : shared;
}

const NO_PREFIXES: Prefixes = { prefix: '', uriPrefix: '' };

/** The members, and for each tool with a `preview` one that makes its plans. */
export const withPlanners = (members: readonly HostedMember[]): readonly HostedMember[] =>
  members.flatMap((member) =>
    member.preview === undefined ? [member] : [member, { ...member, calls: member.preview }],
  );

/** Tells the members of a provider apart. */
export const idOf = ({ kind, key, calls = '' }: Pick<HostedMember, 'kind' | 'key' | 'calls'>): string =>
  `${kind} ${key} ${calls}`;

/** What guards and interceptors learn of a member. */
export const publicPart = ({ kind, key, name }: HostedMember): McpMember => ({ kind, key, name });
