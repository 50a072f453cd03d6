import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

import { Minimatch } from 'minimatch';

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** Whether a path matches. It is relative to the folder that is searched. */
export type Matcher = (path: string) => boolean;

export interface TreeEntry {
  readonly name: string;
  readonly type: 'file' | 'directory';
  readonly children?: TreeEntry[];
}

export function matching(pattern: string): Matcher {
  const glob = new Minimatch(pattern, { dot: true });
  return (path) => glob.match(path);
}

/** Matches a path if one of the patterns does. A pattern without `*` matches at any depth. */
export function matchingAny(patterns: readonly string[]): Matcher {
  const matchers = patterns.map((pattern) => matching(pattern.includes('*') ? pattern : `**/${pattern}`));
  return (path) => matchers.some((matches) => matches(path));
}

/** Reads everything below a folder. Doesn't follow links. A subfolder that can't be read counts as empty. */
export async function treeOf(root: string, isExcluded: Matcher, folder = root): Promise<TreeEntry[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (folder === root) throw error;
    return [];
  });
  const included = entries.filter(({ name }) => !isExcluded(relative(root, join(folder, name))));
  return await Promise.all(
    included.map(async (entry): Promise<TreeEntry> => {
      const { name } = entry;
      if (!entry.isDirectory()) return { name, type: 'file' };
      return { name, type: 'directory', children: await treeOf(root, isExcluded, join(folder, name)) };
    }),
  );
}

/** The paths of a tree, each folder before its contents. */
export function pathsOf(tree: readonly TreeEntry[], folder = ''): string[] {
  return tree.flatMap(({ name, children = [] }) => [join(folder, name), ...pathsOf(children, join(folder, name))]);
}

/** Reads the entries of a folder, with their sizes. */
export async function sizesIn(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true });
  return await Promise.all(
    entries.map(async (entry) => {
      // the entry may be gone by now
      const stats = await lstat(join(folder, entry.name)).catch(() => undefined);
      return { name: entry.name, size: stats?.size ?? 0, isDirectory: entry.isDirectory() };
    }),
  );
}

export function formatSize(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(2)} ${UNITS[power]}`;
}
