import { readFileSync } from 'node:fs';

/** Where the package's own file is, seen from the bundle or from this file. */
const PLACES = ['../package.json', '../../package.json'];

/** The version of Decorum; `unknown` within a bundle of the user's. */
export function decorumVersion(): string {
  for (const place of PLACES) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as {
        readonly name?: unknown;
        readonly version?: unknown;
      };
      if (name === '@decorum/audit' && typeof version === 'string') return version;
    } catch {
      // not there
    }
  }
  return 'unknown';
}
