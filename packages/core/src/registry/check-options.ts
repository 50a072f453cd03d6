import { ANNOTATION_NAMES, OPTION_NAMES } from '../metadata/member-options.js';
import type { MemberRecord } from '../metadata/records.js';
import { startupError } from '../protocol/errors.js';
import { requireKnown } from '../protocol/option-names.js';

const TEXTS = ['name', 'title', 'description', 'mimeType'];

/** The first option or tool hint with a wrong type. Strict clients would reject the whole list because of it. */
function unlistable(given: Readonly<Record<string, unknown>>): readonly [option: string, due: string] | undefined {
  const isText = (value: unknown) => value === undefined || typeof value === 'string';
  const text = TEXTS.find((name) => !isText(given[name]));
  if (text !== undefined) return [text, 'a string'];
  const hints = Object.entries((given['annotations'] ?? {}) as object).filter(([name]) => name.endsWith('Hint'));
  const hint = hints.find(([, value]) => value !== undefined && typeof value !== 'boolean');
  return hint && [`annotations.${hint[0]}`, 'true or false'];
}

const isNames = (value: unknown): boolean => [value].flat().every((name) => typeof name === 'string');

/**
 * Rejects unknown options, undefined schemas, and missing options that a decorator cannot work without.
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function checkOptions({ kind, options }: MemberRecord, where: string): void {
  const invalid = (option: string, problem: string) => startupError('DECORUM_INVALID_OPTION', where, option, problem);
  requireKnown(where, options, OPTION_NAMES[kind]);
  const given: Readonly<Record<string, unknown>> = { ...options };
  if ((kind === 'tool' || kind === 'resource') && given['annotations'] !== undefined) {
    requireKnown(`${where} (annotations)`, given['annotations'], ANNOTATION_NAMES[kind]);
  }
  const wrong = unlistable(given);
  if (wrong !== undefined) throw invalid(wrong[0], `must be ${wrong[1]}`);
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
