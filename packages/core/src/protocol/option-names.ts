import { startupError } from './errors.js';

/** Number of letters to add, remove or replace to turn one name into another (Levenshtein distance). */
function distance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [row, letter] of [...from].entries()) {
    const current = [row + 1];
    for (let column = 0; column < to.length; column++) {
      const replaced = (previous[column] as number) + (letter === to[column] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] as number) + 1, (current[column] as number) + 1));
    }
    previous = current;
  }
  return previous[to.length] as number;
}

const lettersOf = (name: string): string => [...name].sort().join('');

/** The known name that was most likely meant; undefined if none is close. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const given = name.toLowerCase();
  const [found] = known
    .map((candidate) => {
      const letters = candidate.toLowerCase();
      return { candidate, far: lettersOf(given) === lettersOf(letters) ? 1 : distance(given, letters) };
    })
    .filter(({ candidate, far }) => far <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((a, b) => a.far - b.far);
  return found?.candidate;
}

/**
 * Rejects unknown options: a misspelt one would have no effect.
 * @param where where the options are set, such as `McpServer` or `Shop.search`
 * @param known an object with the options' names as keys
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`, with the nearest known name
 */
export function requireKnown(where: string, options: unknown, known: object): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw startupError('DECORUM_INVALID_OPTION', where, 'options', 'must be an object. Pass { … }');
  }
  const names = Object.keys(known);
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const meant = nearest(unknown, names);
  const remedy = meant === undefined ? `Remove it, or use one of ${names.join(', ')}` : `Write \`${meant}\``;
  throw startupError('DECORUM_INVALID_OPTION', where, unknown, `is not an option. ${remedy}`);
}
