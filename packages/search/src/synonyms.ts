import { stem, stemsOf } from './words.js';

/** Other stems for a stem, which count less. */
export type Synonyms = ReadonlyMap<string, readonly string[]>;

/** Words that mean about the same in the names of tools. */
const GROUPS: readonly string[] = [
  'delete remove erase destroy',
  'list show get fetch view read see retrieve display',
  'find search look query',
  'create add make new insert',
  'update edit change modify set replace',
  'start begin run trigger launch dispatch',
  'stop cancel abort end',
  'check verify test',
  'enable activate allow',
  'disable deactivate',
  'send post submit',
  'repository repo',
  'organization org',
  'configuration config setting',
  'environment env',
  'authentication auth',
  'information info detail',
  'document doc',
  'picture image photo',
  'person people user member',
];

function grouped(): Map<string, readonly string[]> {
  const synonyms = new Map<string, readonly string[]>();
  for (const group of GROUPS) {
    const stems = [...new Set(group.split(' ').map(stem))];
    for (const each of stems) {
      const others = stems.filter((other) => other !== each);
      synonyms.set(each, [...new Set([...(synonyms.get(each) ?? []), ...others])]);
    }
  }
  return synonyms;
}

/** Our synonyms with those of a server. */
export function synonymsOf(own: Readonly<Record<string, readonly string[]>>): Synonyms {
  const synonyms = grouped();
  for (const [word, others] of Object.entries(own)) {
    const [key = ''] = stemsOf(word);
    synonyms.set(key, [...new Set([...(synonyms.get(key) ?? []), ...others.flatMap((other) => stemsOf(other))])]);
  }
  return synonyms;
}
