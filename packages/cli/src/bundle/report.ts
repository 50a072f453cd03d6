import { shown } from '../entry.js';
import type { Bundled } from './bundle.js';

/** What `decorum build --bundle` says about a bundle: its size, and what isn't in it. */
export function reportOf({ file, outside, missing, reads, asking, bytes }: Bundled): readonly string[] {
  return [
    `${shown(file)}   ${(bytes / 1_000_000).toFixed(1)} MB`,
    ...(outside.length > 0 ? [`  beside it, in node_modules: ${outside.join(', ')}`] : []),
    ...(missing.length > 0 ? [`  not installed, so not in it: ${missing.join(', ')}`] : []),
    ...(reads.length > 0 ? [`  it reads, so keep beside \`dist\`: ${reads.join(', ')}`] : []),
    ...(asking.length > 0 ? [`  may read files beside: ${asking.join(', ')}`] : []),
  ];
}
