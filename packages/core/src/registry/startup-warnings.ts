import { nearest } from '@decorum/schema/internal';

import { hasEnded } from './aliases.js';
import type { Registry } from './registry.js';

/**
 * What looks like an oversight when a server starts.
 * @param hidden the tags that the server hides
 */
export const startupWarnings = (registry: Registry, hidden: readonly string[]): readonly string[] => [
  ...misspeltTags(registry, hidden),
  ...endedAliases(registry),
];

/** Tags that no member has, although one has a similar tag. */
function misspeltTags({ all }: Registry, hidden: readonly string[]): readonly string[] {
  const known = new Set(all.flatMap(({ tags = [] }) => tags));
  return hidden.flatMap((tag) => {
    const meant = known.has(tag) ? undefined : nearest(tag, [...known]);
    return meant === undefined
      ? []
      : [`\`hiddenTags\` has "${tag}", which no member has so far. If you mean "${meant}", correct it.`];
  });
}

const endedAliases = ({ all }: Registry): readonly string[] =>
  all.flatMap(({ where, aliases = [] }) =>
    aliases
      .filter(hasEnded)
      .map(({ name, until }) => `${where}: the alias "${name}" was known until ${until}. Remove it from \`aliases\`.`),
  );
