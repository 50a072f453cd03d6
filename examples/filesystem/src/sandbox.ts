import { lstat, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Thrown if a path leads out of the allowed directories. */
export class AccessDenied extends Error {
  constructor(path: string, allowed: readonly string[]) {
    super(`Access denied: ${path} is outside the allowed directories (${allowed.join(', ') || 'there are none'}).`);
  }
}

/** The directories that a client may work in. Every path from a client goes through `resolve`. */
export class Sandbox {
  private constructor(readonly directories: readonly string[]) {}

  /**
   * Allows the directories among these paths and `file:` URIs, and skips the others. A directory behind a symbolic link
   * is allowed under both of its names.
   */
  static async of(places: readonly string[]): Promise<Sandbox> {
    const directories = await Promise.all(
      places.map(async (place) => {
        try {
          const path = resolve(expandHome(place.startsWith('file:') ? fileURLToPath(place) : place));
          if (!(await stat(path)).isDirectory()) throw new Error('It is not a directory.');
          return [path, await realpath(path)];
        } catch (error) {
          console.error(`Skipping ${place}: ${(error as Error).message}`);
          return [];
        }
      }),
    );
    return new Sandbox([...new Set(directories.flat())]);
  }

  /**
   * Finds the real path of a file or directory. The path doesn't have to exist yet, and neither do its directories.
   * @param path absolute, or relative to an allowed directory
   * @throws {AccessDenied} if the path or its link target isn't allowed
   */
  async resolve(path: string): Promise<string> {
    const candidates = this.directories.map((directory) => resolve(directory, expandHome(path)));
    const requested = candidates.find((candidate) => this.#allows(candidate));
    if (requested === undefined) throw new AccessDenied(path, this.directories);
    const real = await followLinks(requested);
    if (!this.#allows(real)) throw new AccessDenied(path, this.directories);
    return real;
  }

  #allows(path: string): boolean {
    if (path.includes('\0')) return false;
    return this.directories.some((directory) => {
      const inner = relative(directory, path);
      return inner.split(sep)[0] !== '..' && !isAbsolute(inner);
    });
  }
}

function expandHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
}

/** Resolves symbolic links, up to the first part of the path that doesn't exist. */
async function followLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    // A dangling symlink isn't a new file: writing to it would create its target, wherever that is.
    const isLink = await lstat(path).catch(() => false);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || isLink) throw error;
    return join(await followLinks(dirname(path)), basename(path));
  }
}
