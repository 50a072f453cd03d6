/** Node 20's `fs` with the one name it lacks for the conformance suite to start. */
export * from 'node:fs';
export { default } from 'node:fs';

/** Only the suite's `tier-check` command calls it. */
export function globSync() {
  throw new Error('fs.globSync needs Node 22 or newer.');
}
