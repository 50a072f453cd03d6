/** The path of Node.js for a configuration, which outlives an update of Node.js if there is such a path. */
import { isFile } from '../loader/resolve.js';

/**
 * A path that stays the same after an update: Homebrew links the current version.
 * @param path absolute path of the Node.js that runs
 */
export function lastingNode(path: string, isThere: (path: string) => boolean = isFile): string {
  const linked = path.replace(/\/Cellar\/([^/]+)\/[^/]+\//, '/opt/$1/');
  return isThere(linked) ? linked : path;
}

/** A folder of one version, as nvm, fnm, Volta, asdf, mise and Nix have them. */
const VERSION = /[\\/](?:[^\\/]*[-@])?v?\d+\.\d+\.\d+[^\\/]*[\\/]/;

/** What to know about a path that goes away with its version of Node.js; undefined for other paths. */
export const versionNote = (path: string): string | undefined =>
  VERSION.test(path)
    ? `The client will run ${path}. Install the server again before you remove this version of Node.js.`
    : undefined;
