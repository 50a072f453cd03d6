import { startupError } from '@decorum/core/plugin';

/** Chooses members: a list of names, in which `*` stands for any characters, or a function. */
export type NameFilter<Entry> = readonly string[] | ((entry: Entry) => boolean);

/** Whether an entry is taken. */
export type Takes<Entry> = ((entry: Entry) => boolean) & {
  /** The names and patterns of a filter that is a list. */
  readonly patterns?: readonly string[];
};

/**
 * Creates the test for a filter.
 * @param textOf what the names are compared with
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 */
export function filterOf<Entry>(
  filter: NameFilter<Entry> | undefined,
  textOf: (entry: Entry) => string,
  { where, option }: { readonly where: string; readonly option: string },
): Takes<Entry> {
  if (filter === undefined) return () => true;
  if (typeof filter === 'function') return filter;
  if (!Array.isArray(filter) || !filter.every((name) => typeof name === 'string' && name !== '')) {
    const problem = "must be a list of names, or a function. Write ['locate', 'route_*'], for example";
    throw startupError('DECORUM_INVALID_OPTION', where, option, problem);
  }
  const patterns = filter as readonly string[];
  return Object.assign((entry: Entry) => patterns.some((pattern) => fits(textOf(entry), pattern)), { patterns });
}

/** Whether a text fits a pattern. Not a regular expression: the texts are the upstream's, and may be long. */
export function fits(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() as string;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
