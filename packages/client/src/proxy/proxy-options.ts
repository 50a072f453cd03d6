import type { PromptEntry, ResourceEntry, ResourceTemplateEntry, ToolEntry, Transform } from '@decorum/core';
import { revisionOf, REVISIONS } from '@decorum/core/internal';
import {
  type AddMembersOptions,
  type OptionTypes,
  requireOptions,
  type SourceOptions,
  startupError,
} from '@decorum/core/plugin';

import type { ConnectTarget } from '../target.js';
import type { CatalogLimits } from './catalog.js';
import type { EntryOf, Kind } from './entries.js';
import { filterOf, type NameFilter, type Takes } from './name-filter.js';
import { isProgram } from './target-name.js';
import type { UpstreamOptions } from './upstream/upstream-options.js';

/** Which members of an upstream to serve. Without a filter, all of a kind. */
export interface ProxyFilter {
  /** Names of tools, such as `['locate', 'route_*']`, or a function. */
  readonly tools?: NameFilter<ToolEntry>;
  /** Names of prompts. */
  readonly prompts?: NameFilter<PromptEntry>;
  /** URIs of resources. With this filter, clients can't read URIs that are on no list. */
  readonly resources?: NameFilter<ResourceEntry>;
  /** Texts of resource templates. */
  readonly templates?: NameFilter<ResourceTemplateEntry>;
}

/** Caps on what an upstream may send. */
export interface ProxyLimits {
  /** Entries of each list. Defaults to 1000. */
  readonly members?: number;
  /** Bytes of each entry, with its schemas and description. Defaults to 65,536. */
  readonly memberBytes?: number;
  /** Bytes of one message, such as a result. Defaults to 4 MiB. */
  readonly messageBytes?: number;
  /** Sessions with the upstream at a time. Defaults to 100; 10 for programs. */
  readonly sessions?: number;
  /** Calls at a time in each session. Defaults to 100. */
  readonly calls?: number;
}

/** Options of `proxy`. */
export interface ProxyOptions
  extends
    SourceOptions,
    Pick<UpstreamOptions, 'headers' | 'process' | 'forward' | 'revision' | 'timeoutMs' | 'onStderr'> {
  /** How clients are told of the upstream, in errors and forwarded questions. Defaults to `prefix`, or else `upstream`. */
  readonly name?: string;
  readonly filter?: ProxyFilter;
  /**
   * Whose lists clients see: those that the upstream shows this server, or (`caller`) those that it shows the caller,
   * with the caller's `headers`. Defaults to `shared`.
   */
  readonly lists?: 'shared' | 'caller';
  /** What becomes of the lists while the upstream is down. Defaults to `keep`. */
  readonly whenDown?: 'keep' | 'empty';
  /**
   * Refuses members that have changed: compared with the contract when the server started (`digest`), or with the one
   * that `contractDigest` returned.
   */
  readonly pin?: string;
  /** Whether the upstream's instructions for models are added to the server's. Defaults to false. */
  readonly instructions?: boolean;
  readonly limits?: ProxyLimits;
}

const OPTIONS: OptionTypes<ProxyOptions> = {
  prefix: 'string',
  separator: 'string',
  uriPrefix: 'string',
  name: 'string',
  filter: { tools: true, prompts: true, resources: true, templates: true },
  lists: 'string',
  headers: 'function',
  process: 'string',
  forward: { sampling: 'boolean', roots: 'boolean' },
  revision: 'string',
  timeoutMs: [1, 2 ** 31 - 1],
  onStderr: 'function',
  whenDown: 'string',
  pin: 'string',
  instructions: 'boolean',
  limits: {
    members: [1, 100_000],
    memberBytes: [256, 2 ** 30],
    messageBytes: [1024, 2 ** 30],
    sessions: [1, 100_000],
    calls: [1, 100_000],
  },
  access: 'function',
  scopes: 'array',
  tags: true,
  transform: true,
};

const CHOICES = {
  lists: ['shared', 'caller'],
  process: ['shared', 'session'],
  whenDown: ['keep', 'empty'],
} as const;

/** The part of a proxy's options that decides what is taken from the upstream. */
export interface Taken {
  readonly limits: CatalogLimits;
  readonly filters: { readonly [K in Kind]: Takes<EntryOf[K]> };
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
export function requireProxyOptions(where: string, target: ConnectTarget, options: ProxyOptions): void {
  requireOptions(where, options, OPTIONS);
  const wrong = (option: string, problem: string) => startupError('DECORUM_INVALID_OPTION', where, option, problem);
  for (const [option, choices] of Object.entries(CHOICES)) {
    const given = options[option as keyof typeof CHOICES];
    if (given === undefined || (choices as readonly string[]).includes(given)) continue;
    throw wrong(option, `is '${given}', but must be ${choices.map((choice) => `'${choice}'`).join(' or ')}`);
  }
  for (const option of ['prefix', 'separator'] as const) {
    if (/^[A-Za-z0-9_.-]{0,64}$/.test(options[option] ?? '')) continue;
    throw wrong(option, 'must be up to 64 characters from A–Z, a–z, 0–9, "_", "-" and "."');
  }
  const { revision, pin, lists, name } = options;
  if (revision !== undefined && revisionOf(revision) === undefined) {
    throw wrong('revision', `is '${revision}'. Pass one of ${REVISIONS.map(({ id }) => `'${id}'`).join(', ')}`);
  }
  if (name !== undefined && !/^[^\p{Cc}]{1,64}$/u.test(name))
    throw wrong('name', 'must be a text of 1 to 64 characters');
  if (pin !== undefined && pin !== 'digest' && !/^sha256-[\w-]{43}$/.test(pin)) {
    throw wrong('pin', "must be 'digest', or what `contractDigest` returns");
  }
  if (lists !== 'caller') return requireFit(target, options, wrong);
  for (const option of ['pin', 'whenDown', 'instructions'] as const) {
    if (options[option] === undefined) continue;
    throw wrong(option, "has no effect on the lists of callers. Remove it, or `lists: 'caller'`");
  }
  requireFit(target, options, wrong);
}

/** Rejects options that have no effect on the target. */
function requireFit(
  target: ConnectTarget,
  { headers, process, onStderr }: ProxyOptions,
  wrong: (option: string, problem: string) => Error,
): void {
  const isUrl = typeof target === 'string' || target instanceof URL;
  if (headers !== undefined && !isUrl) throw wrong('headers', 'is for URLs. Pass credentials in `env` of a program');
  if (isProgram(target)) return;
  if (process !== undefined) throw wrong('process', 'is for programs. Remove it');
  if (onStderr !== undefined) throw wrong('onStderr', 'is for programs. Remove it');
}

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` */
export function takenBy(where: string, { filter = {}, limits = {} }: ProxyOptions): Taken {
  const named = (option: string) => ({ where, option: `filter.${option}` });
  return {
    limits: { members: limits.members ?? 1000, memberBytes: limits.memberBytes ?? 65_536 },
    filters: {
      tool: filterOf(filter.tools, ({ name }) => name, named('tools')),
      prompt: filterOf(filter.prompts, ({ name }) => name, named('prompts')),
      resource: filterOf(filter.resources, ({ uri }) => uri, named('resources')),
      template: filterOf(filter.templates, ({ uriTemplate }) => uriTemplate, named('templates')),
    },
  };
}

/** How callers know the upstream. */
export const nameOf = ({ name, prefix }: ProxyOptions): string => name ?? (prefix || 'upstream');

/** The record form as a function: a name that the upstream does not list now may be on its list later. */
function byName(changes: Exclude<Transform, (...args: never[]) => unknown>): Transform {
  return ({ name }) => (Object.hasOwn(changes, name) ? changes[name] : undefined);
}

/** The options that `server.addMembers` takes. */
export function addingOptions(where: string, options: ProxyOptions): AddMembersOptions {
  const { prefix, separator, uriPrefix, access, scopes, tags, transform } = options;
  return {
    source: where,
    ...(prefix !== undefined && { prefix }),
    ...(separator !== undefined && { separator }),
    ...(uriPrefix !== undefined && { uriPrefix }),
    ...(access && { access }),
    ...(scopes && { scopes }),
    ...(tags && { tags }),
    ...(transform !== undefined && { transform: typeof transform === 'object' ? byName(transform) : transform }),
  };
}

/** The options of the connection to the upstream. */
export function upstreamOptions(target: ConnectTarget, options: ProxyOptions): UpstreamOptions {
  const { headers, process, forward, revision, timeoutMs, onStderr, limits = {} } = options;
  return {
    target,
    name: nameOf(options),
    ...(headers && { headers }),
    ...(process && { process }),
    ...(forward && { forward }),
    ...(revision !== undefined && { revision }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(onStderr && { onStderr }),
    ...(limits.messageBytes !== undefined && { maxMessageBytes: limits.messageBytes }),
    ...(limits.sessions !== undefined && { maxSessions: limits.sessions }),
    ...(limits.calls !== undefined && { maxCalls: limits.calls }),
  };
}
