import { invalidOption, type OptionTypes, requireOptions } from '@decorum/schema/internal';

import { ANNOTATIONS } from '../metadata/member-options.js';
import type { Change, TransformedMember } from './change.js';
import { requireScopes } from './plan.js';
import { requireTags } from './tags.js';

const OPTIONS: OptionTypes<Change> = {
  name: 'string',
  aliases: 'array',
  listed: 'boolean',
  title: 'string',
  description: 'string',
  annotations: 'object',
  outputSchema: true,
  fix: 'object',
  access: 'function',
  scopes: true,
  tags: true,
  result: 'function',
};

/** Options that only some kinds of members have. */
const KINDS: Readonly<Record<string, readonly TransformedMember['kind'][]>> = {
  aliases: ['tool', 'prompt'],
  annotations: ['tool', 'resource', 'template'],
  outputSchema: ['tool'],
  fix: ['tool', 'prompt', 'template'],
};

/** @throws {DecorumError} `DECORUM_INVALID_OPTION` for a change that the member can't have */
export function requireChange(change: Change, kind: TransformedMember['kind'], where: string): void {
  requireOptions(where, change, OPTIONS);
  for (const [option, kinds] of Object.entries(KINDS)) {
    if (!(option in change) || kinds.includes(kind)) continue;
    throw invalidOption(where, option, `is not for a ${kind}. Remove it`);
  }
  const { annotations, scopes, tags } = change;
  if (annotations !== undefined) {
    requireOptions(`${where} (annotations)`, annotations, ANNOTATIONS[kind === 'tool' ? 'tool' : 'resource']);
  }
  if (scopes !== undefined) requireScopes(scopes, where);
  if (tags !== undefined) requireTags(tags, where);
}
