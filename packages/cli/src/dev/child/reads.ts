import fs, { type PathLike } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What a card is made of. */
const PART = /\.(?:html?|css|m?js|svg)$/i;

/** The absolute path of a file in the project that may be part of a card. */
function partOf(path: unknown, root: string): string | undefined {
  if (typeof path !== 'string' && !(path instanceof URL)) return undefined;
  if (path instanceof URL && path.protocol !== 'file:') return undefined;
  const file = typeof path === 'string' ? resolve(path) : fileURLToPath(path);
  const isOwn = file.startsWith(root + sep) && !file.includes(`${sep}node_modules${sep}`);
  return isOwn && PART.test(file) ? file : undefined;
}

/**
 * Reports the files that the program reads, and that a card may be made of: they aren't modules, so nothing else would
 * tell that the program depends on them. Only the functions that read a whole file are watched.
 */
export function watchReads(root: string, report: (file: string) => void): void {
  const seen = new Set<string>();
  const see = (path: unknown) => {
    const file = partOf(path, root);
    if (file === undefined || seen.has(file)) return;
    seen.add(file);
    report(file);
  };
  watchCalls(fs, 'readFile', see);
  watchCalls(fs, 'readFileSync', see);
  watchCalls(fs.promises, 'readFile', see);
  syncBuiltinESMExports();
}

type Read = (path: PathLike, ...rest: unknown[]) => unknown;

function watchCalls<K extends string>(on: { [key in K]: unknown }, name: K, see: (path: unknown) => void): void {
  const read = on[name] as Read;
  const watched: Read = function watched(this: unknown, path, ...rest) {
    see(path);
    return read.call(this, path, ...rest);
  };
  // such as the promise of `util.promisify`
  on[name] = Object.assign(watched, read);
}
