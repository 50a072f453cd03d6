import { invalidOption, type OptionTypes, requireExtensible, requireOptions } from '@decorum/schema/internal';

import { ANNOTATIONS, OPTIONS } from '../metadata/member-options.js';
import type { MemberKind, MemberRecord } from '../metadata/records.js';

const isNames = (value: unknown): boolean =>
  value !== '' && [value].flat().length > 0 && [value].flat().every((name) => typeof name === 'string');

/** Options that extensions add to members, by kind. */
export type AddedOptions = Readonly<Partial<Record<MemberKind, OptionTypes>>>;

const isExtensible = (kind: MemberKind) => kind === 'tool' || kind === 'resource';

/** Options that other packages add, and what lets a server have them: forgetting the plugin is the usual mistake. */
const PLUGINS: Readonly<Record<string, string>> = {
  task: '`tasks()` of @decorum/tasks',
  ui: '`apps()` of @decorum/apps',
  app: '`apps()` of @decorum/apps',
};

/** Whether a kind of member has an option of its own with this name. */
export const isOption = (kind: MemberKind, name: string): boolean => name in OPTIONS[kind];

/**
 * Rejects unknown options, undefined schemas, and missing required options.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkOptions({ kind, options }: MemberRecord, where: string, added: AddedOptions = {}): void {
  const invalid = (option: string, problem: string) => invalidOption(where, option, problem);
  const hint = isExtensible(kind) ? 'If it belongs to an extension, list its plugin in `plugins`' : '';
  const known = { ...OPTIONS[kind], ...added[kind] };
  const given: Readonly<Record<string, unknown>> = { ...options };
  const lonely = Object.keys(PLUGINS).find((name) => name in given && !(name in known));
  if (lonely !== undefined && isExtensible(kind))
    throw invalid(lonely, `needs a plugin. Add ${PLUGINS[lonely]} to \`plugins\``);
  requireExtensible(where, options, { known, hint });
  if ((kind === 'tool' || kind === 'resource') && given['annotations'] !== undefined) {
    requireOptions(`${where} (annotations)`, given['annotations'], ANNOTATIONS[kind]);
  }
  const absent = ['input', 'output'].find((name) => name in given && (given[name] ?? undefined) === undefined);
  if (absent !== undefined) {
    const cause = `is ${given[absent]}, often because two modules import each other`;
    throw invalid(absent, `${cause}. Move the class to a module of its own, or remove \`${absent}\``);
  }
  if (kind === 'resource' && typeof given['uri'] !== 'string') {
    throw invalid('uri', "is not a string. Write @Resource('docs://readme')");
  }
  if (kind === 'completion' && !(isNames(given['for']) && typeof given['argument'] === 'string')) {
    throw invalid('for', "and `argument` are missing. Write @Completion({ for: 'method', argument: 'name' })");
  }
}
