import { BREAKING_INPUTS } from './breaking-inputs.js';
import { BREAKING_ANNOTATIONS, BREAKING_NAMES, BREAKING_REVISIONS } from './breaking-members.js';
import { BREAKING_OUTPUTS } from './breaking-outputs.js';
import type { SeededChange } from './seeded-change.js';

/**
 * Changes that break somebody: a call that was valid is refused, a result no longer matches the schema that the client
 * knows, or a promise about side effects is withdrawn. Inputs refuse unknown arguments, outputs may have further fields.
 */
export const BREAKING: readonly SeededChange[] = [
  ...BREAKING_INPUTS,
  ...BREAKING_OUTPUTS,
  ...BREAKING_NAMES,
  ...BREAKING_ANNOTATIONS,
  ...BREAKING_REVISIONS,
];
