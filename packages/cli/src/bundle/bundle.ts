/** `decorum build --bundle`: one file with the program and the packages that it needs. */
import { CommandFailure } from 'create-decorum';

import type { Built } from '../build/build.js';

/** What to bundle. */
export interface BundleOptions {
  /** The built program. */
  readonly built: Built;
  /** Names of packages that must not be in the bundle, besides those that can't be. */
  readonly external?: readonly string[];
}

/** A bundle that was written. */
export interface Bundled {
  /** Absolute path of the program: `dist/bundle/main.js`. */
  readonly file: string;
  /** Names of the packages that are beside the bundle, in its `node_modules`. */
  readonly outside: readonly string[];
  /** Size of the program. */
  readonly bytes: number;
}

/**
 * Bundles a built program. The folder of the bundle can be copied alone.
 * @throws {CommandFailure} if rolldown is missing, or the program can't be bundled
 */
export async function bundle(_options: BundleOptions): Promise<Bundled> {
  return await Promise.reject(new CommandFailure('--bundle is not available yet.'));
}
