import type { MatcherContext } from './matcher.js';

const MAX_LENGTH = 1000;

const clip = (text: string): string => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);

interface Asymmetric {
  asymmetricMatch(other: unknown): boolean;
  toAsymmetricMatcher?(): string;
}

/** Whether a value is an asymmetric matcher of the runner, such as `expect.stringContaining('snow')`. */
export function isAsymmetric(value: unknown): value is Asymmetric {
  return (
    typeof value === 'object' &&
    value !== null &&
    'asymmetricMatch' in value &&
    typeof value.asymmetricMatch === 'function'
  );
}

/** Formats a value for a message: as JSON, as a pattern, or as the runner describes its matchers. */
export function show(value: unknown): string {
  if (value instanceof RegExp) return String(value);
  if (isAsymmetric(value)) return value.toAsymmetricMatcher?.() ?? String(value);
  const text = JSON.stringify(value, (_key, member: unknown) =>
    member instanceof RegExp || isAsymmetric(member) ? show(member) : member,
  ) as string | undefined;
  return clip(text ?? String(value));
}

/** Indents the lines of a list under the preceding sentence. */
export function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`).join('\n');
}

/** Whether a text is the expected one, or matches the expected pattern. */
export function isText(context: MatcherContext, expected: unknown, text: string): boolean {
  return expected instanceof RegExp ? new RegExp(expected).test(text) : context.equals(text, expected);
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !(value instanceof RegExp) && !isAsymmetric(value);

/**
 * Lists the differences between a value and the expected one. Objects may have additional members, but lists must have
 * the same length. Patterns match texts.
 * @param at the value and its path, which is empty for the whole value
 */
export function differences(context: MatcherContext, expected: unknown, at: At): string[] {
  const { value, path } = at;
  const where = path === '' ? 'it' : path;
  if (!isPlain(expected)) {
    const fits = typeof value === 'string' ? isText(context, expected, value) : context.equals(value, expected);
    if (fits) return [];
    return [
      value === undefined ? `${where} is missing` : `${where}: expected ${show(expected)}, but it is ${show(value)}`,
    ];
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(expected)) {
    return [
      value === undefined ? `${where} is missing` : `${where}: expected ${show(expected)}, but it is ${show(value)}`,
    ];
  }
  if (Array.isArray(value) && value.length !== (expected as unknown as unknown[]).length) {
    return [`${where}: expected ${show(expected)}, but it is ${show(value)}`];
  }
  return Object.entries(expected).flatMap(([key, member]) => {
    const joined = Array.isArray(value) ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    return differences(context, member, { value: (value as Record<string, unknown>)[key], path: joined });
  });
}

/** A value and its path. */
export interface At {
  readonly value: unknown;
  readonly path: string;
}
