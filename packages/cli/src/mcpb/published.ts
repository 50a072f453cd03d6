/** Evaluates the `files` of a package.json: paths and globs, with a leading `!` to leave files out. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The paths that a package publishes, relative to its folder. */
export interface Published {
  readonly paths: readonly string[];
  readonly isExcluded: (path: string) => boolean;
}

const WILDCARDS: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };

const escaped = (text: string) => text.replace(/[.+^$()|[\]\\{}*?]/g, '\\$&');

/** The expression for a pattern. It also matches everything in the folders that the pattern matches. */
function expression(pattern: string): RegExp {
  const source = trimmed(pattern).replace(/\*\*\/|\*\*|\{[^}]*\}|[^]/g, (part) => {
    const choices = /^\{(.+)\}$/.exec(part)?.[1]?.split(',').map(escaped);
    return choices ? `(?:${choices.join('|')})` : (WILDCARDS[part] ?? escaped(part));
  });
  return new RegExp(`^${source}(?:/|$)`);
}

const trimmed = (pattern: string) => pattern.replace(/^(?:\.?\/)+|\/+$/g, '');

function pathsBelow(folder: string, prefix = ''): readonly string[] {
  return readdirSync(join(folder, prefix), { withFileTypes: true }).flatMap((entry) => {
    const path = prefix + entry.name;
    if (entry.isDirectory()) return /^(?:node_modules|\.git)$/.test(entry.name) ? [] : pathsBelow(folder, `${path}/`);
    return [path];
  });
}

/**
 * Reads the `files` of a package.json.
 * @param folder the package's folder
 */
export function published(folder: string, files: readonly string[]): Published {
  const excluded = files.filter((each) => each.startsWith('!')).map((each) => expression(each.slice(1)));
  const paths = files
    .filter((each) => !each.startsWith('!'))
    .flatMap((each) => {
      if (!/[*?{]/.test(each)) return existsSync(join(folder, each)) ? [trimmed(each)] : [];
      const isMeant = expression(each);
      return pathsBelow(folder).filter((path) => isMeant.test(path));
    });
  const isExcluded = (path: string) => excluded.some((each) => each.test(path));
  return { paths: paths.filter((path) => !isExcluded(path)), isExcluded };
}
