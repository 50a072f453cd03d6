import { cpSync, type Dirent, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';

import { zipSync } from 'fflate';

/** What only compilers and debuggers read. */
const FOR_TOOLS = /\.d\.[cm]?ts$|\.map$|\.tsbuildinfo$/;

/**
 * Copies a folder or a file without what only tools read. Links are followed.
 * @param isExcluded for more paths to leave out
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

/** A new folder to put a bundle together in. */
export const newFolder = (): string => mkdtempSync(join(tmpdir(), 'decorum-mcpb-'));

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry: Dirent) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

/** The oldest date that zip files can have: the same files give the same bundle. */
const DATE = new Date(1980, 0, 1);

/** A zip file of all files below a folder. */
export function zip(folder: string): Uint8Array {
  const files = filesBelow(folder).toSorted();
  const modes = (path: string) => (statSync(path).mode & 0o111 ? 0o755 : 0o644);
  const content = files.map((path) => [
    relative(folder, path).replaceAll('\\', '/'),
    // the upper half of these attributes is the mode on Unix
    [readFileSync(path), { mtime: DATE, os: 3, attrs: (0o100_000 | modes(path)) << 16 }],
  ]);
  return zipSync(Object.fromEntries(content) as Parameters<typeof zipSync>[0], { level: 6 });
}
