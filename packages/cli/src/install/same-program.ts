/** Recognizes a program that an entry of a project starts in other words, with paths from the project's folder. */
import { isAbsolute, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { ENTRIES } from '../entry.js';
import { isFile } from '../loader/resolve.js';
import type { Value } from './formats/format.js';

type Entry = Readonly<Record<string, unknown>>;

const isNode = (command: unknown): boolean => typeof command === 'string' && /(?:^|[\\/])node(?:\.exe)?$/.test(command);

/** Arguments with paths from a folder, and without what `decorum` takes by default there. */
function fromFolder(given: unknown, folder: string): readonly string[] {
  const args = Array.isArray(given) ? given.map(String) : [];
  const at = args.indexOf('--cwd');
  if (args[at + 1] === folder && at !== -1) args.splice(at, 2);
  const paths = args.map((each) => (isAbsolute(each) ? relative(folder, each).replaceAll('\\', '/') : each));
  const usual = ENTRIES.find((each) => isFile(join(folder, each)));
  return paths.filter((each) => each !== usual);
}

/**
 * Whether two entries start the same program by Node.js, if the client starts it in this folder.
 * @param folder folder of the project
 */
export function startSame(one: Value, other: Value, folder: string): boolean {
  const [a, b] = [Object(one) as Entry, Object(other) as Entry];
  if (!isNode(a['command']) || !isNode(b['command'])) return false;
  const [env, otherEnv] = [a['env'] ?? {}, b['env'] ?? {}];
  const args = fromFolder(a['args'], folder);
  return isDeepStrictEqual(args, fromFolder(b['args'], folder)) && isDeepStrictEqual(env, otherEnv);
}
