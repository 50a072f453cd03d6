/** Node 20's `fs` plus the one export that the conformance suite needs to start. */
export * from 'node:fs';
export { default } from 'node:fs';

/** Only the suite's `tier-check` command calls it. */
export function globSync() {
  throw new Error('fs.globSync needs Node 22 or newer.');
}
