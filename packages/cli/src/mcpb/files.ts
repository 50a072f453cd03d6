import { cpSync, type Dirent, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';

import { zipSync } from 'fflate';

/** Files that only compilers and debuggers read. */
const FOR_TOOLS = /\.d\.[cm]?ts$|\.map$|\.tsbuildinfo$/;

/**
 * Copies a folder or a file, without `node_modules` and files that only tools read. Follows symlinks.
 * @param isExcluded decides which other paths to leave out
 */
export function copy(from: string, to: string, isExcluded: (path: string) => boolean = () => false): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, {
    recursive: true,
    dereference: true,
    filter: (path) =>
      !FOR_TOOLS.test(path) && (path === from || basename(path) !== 'node_modules') && !isExcluded(path),
  });
}

/** Creates a temporary folder for the files of a bundle. */
export const newFolder = (): string => mkdtempSync(join(tmpdir(), 'decorum-mcpb-'));

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry: Dirent) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** A fixed date, so that the same files give the same bundle. It is the oldest that zip files can have. */
const DATE = new Date(1980, 0, 1);

/** A zip file of all files below a folder. */
export function zip(folder: string): Uint8Array {
  const files = filesBelow(folder).toSorted();
  const modes = (path: string) => (statSync(path).mode & 0o111 ? 0o755 : 0o644);
  const content = files.map((path) => [
    relative(folder, path).replaceAll('\\', '/'),
    // the upper half of these attributes is the Unix mode
    [readFileSync(path), { mtime: DATE, os: 3, attrs: (0o100_000 | modes(path)) << 16 }],
  ]);
  return zipSync(Object.fromEntries(content) as Parameters<typeof zipSync>[0], { level: 6 });
}
