import { EVERYDAY_WORDS } from './everyday-words.js';
import { stem, stemsOf } from './words.js';

/** Other stems for a stem, which count less. */
export type Synonyms = ReadonlyMap<string, readonly string[]>;

/** What a tool may do to a thing, and the verbs for it. The first verb names it. */
const ACTIONS: readonly string[] = [
  'get list show fetch view read see retrieve display find search look query check download',
  'create add make new insert open register submit publish write',
  'update edit change modify set replace rename',
  'delete remove erase destroy',
  'start begin run trigger launch dispatch',
  'stop cancel abort end',
  'enable activate',
  'disable deactivate',
];

/** Other words that mean about the same in the names of tools. */
const GROUPS: readonly string[] = [
  'list show get fetch view read see retrieve display',
  'find search look query',
  'create add make new insert',
  'open create',
  'register create',
  'publish create',
  'write create',
  'check verify test',
  'send post submit',
  'ask request',
  'repository repo',
  'organization org company',
  'configuration config',
  'environment env',
  'authentication auth',
  'information info detail',
  'document doc',
  'picture image photo',
  'person people user member',
  'license licence',
  'pull pr',
];

/** Questions for something that is there. `How do I …` and `when` may ask for anything. */
const ASKS = /\b(?:what|which|who|whose|where|how (?:many|much|often|long))\b/i;
/** Such a question from the start. Its verbs say what others do: `who can delete a branch` deletes nothing. */
const ONLY_ASKS = new RegExp(`^\\W*${ASKS.source}`, 'i');

/** Questions for people. */
const ASKS_WHO = /\b(?:who|whom|whose)\b/i;
const PEOPLE = 'user member people person participant contact';

const stemsIn = (group: string): readonly string[] => [...new Set(group.split(' ').map(stem))];

const ACTION_OF: ReadonlyMap<string, string> = new Map(
  ACTIONS.flatMap((group) => stemsIn(group).map((each) => [each, group.split(' ')[0] as string] as const)),
);

/** What the words say that is done: `get`, `create`, `update`, `delete`, `start` or `stop`. */
export const actionsIn = (stems: readonly string[]): ReadonlySet<string> =>
  new Set(stems.flatMap((each) => ACTION_OF.get(each) ?? []));

/** What a query wants done. Words that say it in no way of their own may have synonyms that do. */
export function actionsOf(query: string, stems: readonly string[], synonyms: Synonyms): ReadonlySet<string> {
  if (ONLY_ASKS.test(query)) return new Set(['get']);
  const said = stems.flatMap((each) => (ACTION_OF.has(each) ? [each] : (synonyms.get(each) ?? [])));
  return new Set([...actionsIn(said), ...(ASKS.test(query) ? ['get'] : [])]);
}

/** Stems that a query asks for without saying them: `who` is people, whatever a server calls them. */
export const impliedBy = (query: string): readonly string[] => (ASKS_WHO.test(query) ? stemsIn(PEOPLE) : []);

/** Our synonyms with those of a server. */
export function synonymsOf(own: Readonly<Record<string, readonly string[]>>): Synonyms {
  const synonyms = new Map<string, readonly string[]>();
  const add = (key: string, others: readonly string[]) =>
    synonyms.set(key, [...new Set([...(synonyms.get(key) ?? []), ...others.filter((other) => other !== key)])]);
  for (const stems of [...ACTIONS.slice(2), ...GROUPS].map(stemsIn)) for (const each of stems) add(each, stems);
  for (const [said, meant] of EVERYDAY_WORDS) for (const each of stemsIn(said)) add(each, stemsIn(meant));
  for (const [word, others] of Object.entries(own)) {
    const [key = ''] = stemsOf(word);
    add(key, others.flatMap(stemsOf));
  }
  return synonyms;
}
