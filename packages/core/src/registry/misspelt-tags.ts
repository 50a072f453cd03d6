import { nearest } from '@decorum/schema/internal';

import type { Registry } from './registry.js';

/** Says which tags that a server hides look like slips of the pen. No member has them, but one has a similar tag. */
export function misspeltTags(hidden: readonly string[], { listed }: Registry): readonly string[] {
  const { tools, prompts, resources, templates } = listed;
  const members = [tools, prompts, resources, templates].flatMap(({ all }) => [...all]);
  const known = new Set(members.flatMap(({ tags = [] }) => tags));
  return hidden.flatMap((tag) => {
    const meant = known.has(tag) ? undefined : nearest(tag, [...known]);
    return meant === undefined
      ? []
      : [`\`hiddenTags\` has "${tag}", which no member has so far. If you mean "${meant}", correct it.`];
  });
}
