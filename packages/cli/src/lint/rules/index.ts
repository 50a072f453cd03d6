import type { Rule } from '../rule.js';
import { DESCRIPTIONS } from './descriptions.js';
import { GEMINI } from './gemini.js';
import { NAMES } from './names.js';
import { SCHEMAS } from './schemas.js';
import { SIZES } from './sizes.js';

/** All rules of `decorum lint`. docs/reference/lint.md lists them. */
export const RULES: readonly Rule[] = [...DESCRIPTIONS, ...NAMES, ...SIZES, ...SCHEMAS, ...GEMINI];
