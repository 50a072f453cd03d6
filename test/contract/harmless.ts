import { HARMLESS_INPUTS } from './harmless-inputs.js';
import { HARMLESS_ENTRIES, HARMLESS_MEMBERS } from './harmless-members.js';
import { HARMLESS_OUTPUTS } from './harmless-outputs.js';
import { HARMLESS_SPELLINGS } from './harmless-spellings.js';
import type { SeededChange } from './seeded-change.js';

/**
 * Changes that break nobody: every call that was valid is still accepted, and every result still matches the schema
 * that the client knows. Inputs refuse unknown arguments, outputs may have further fields.
 */
export const HARMLESS: readonly SeededChange[] = [
  ...HARMLESS_SPELLINGS,
  ...HARMLESS_INPUTS,
  ...HARMLESS_OUTPUTS,
  ...HARMLESS_MEMBERS,
  ...HARMLESS_ENTRIES,
];
