import { lstat, readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';

import { ToolError } from '@decorum/core';

import { type Matcher, matchingAny } from './globs.js';

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** Cap on what a call lists. */
const MAX_ENTRIES = 100_000;

export interface TreeEntry {
  readonly name: string;
  readonly type: 'file' | 'directory';
  readonly children?: TreeEntry[];
}

/** Matches a path if one of the patterns does. A pattern without `*` matches at any depth. */
export function excluding(patterns: readonly string[]): Matcher {
  return matchingAny(patterns.map((pattern) => (pattern.includes('*') ? pattern : `**/${pattern}`)));
}

/**
 * Reads everything below a folder, one folder after the other. Doesn't follow links. A subfolder that can't be read
 * counts as empty.
 * @throws {ToolError} if there is too much
 */
export async function treeOf(root: string, isExcluded: Matcher): Promise<TreeEntry[]> {
  const tree: TreeEntry[] = [];
  const pending = [{ folder: root, into: tree }];
  let count = 0;
  for (const { folder, into } of pending) {
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      if (folder === root) throw error;
      return [];
    });
    count += entries.length;
    if (count > MAX_ENTRIES) throw tooManyIn(root, 'Exclude some, or send a subdirectory.');
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (isExcluded(relative(root, path))) continue;
      const children: TreeEntry[] | undefined = entry.isDirectory() ? [] : undefined;
      into.push({ name: entry.name, type: children ? 'directory' : 'file', ...(children && { children }) });
      if (children) pending.push({ folder: path, into: children });
    }
  }
  return tree;
}

const tooManyIn = (folder: string, remedy: string) =>
  new ToolError(`${folder} has more than ${MAX_ENTRIES} entries. ${remedy}`);

/** The paths of a tree, each folder before its contents. */
export function pathsOf(tree: readonly TreeEntry[], folder = ''): string[] {
  return tree.flatMap(({ name, children = [] }) => [join(folder, name), ...pathsOf(children, join(folder, name))]);
}

/** Reads the entries of a folder, with their sizes. */
export async function sizesIn(folder: string) {
  const entries = await readdir(folder, { withFileTypes: true });
  if (entries.length > MAX_ENTRIES) throw tooManyIn(folder, 'Call list_directory, or search_files.');
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
