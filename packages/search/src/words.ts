/** Words that say nothing about what a tool does. */
const STOP_WORDS = new Set(
  (
    'a about again ain all already also am an and any anybody anyone anything are as at be because been being both but by ' +
    'can could did do does doing done down each else every everybody everyone everything few for from had has have having ' +
    'he her here him his how i if in into is it its itself just let like may me might more most must my need needs of off ' +
    'ok on only onto or other our out over own please same several shall she should so some somebody someone something ' +
    'such than that the their them themselves then there these they thing things this those through to too under until up ' +
    'us use used uses using very via want wants was way we were what when where whether which while who whom whose why ' +
    'will with within would yes yet you your'
  ).split(' '),
);

/** Longer words are cut: names of tools may be long, but no word is. */
const MAX_WORD = 40;

/** Splits text into lower-case words, also at the humps of `camelCase`. */
function split(text: string): readonly string[] {
  return text
    .normalize('NFKC')
    .replaceAll(/(\p{Ll}|\d)(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$2 ')
    .toLowerCase()
    .replaceAll(/['’]s?\b/g, '')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.slice(0, MAX_WORD));
}

const ENDINGS: readonly (readonly [ending: RegExp, stem: string, least: number])[] = [
  [/ies$/, 'y', 3],
  [/(ss|sh|ch|x|z)es$/, '$1', 3],
  [/([^su])s$/, '$1', 3],
];

const SUFFIXES: readonly (readonly [suffix: string, least: number])[] = [
  ['ability', 4],
  ['ibility', 4],
  ['able', 5],
  ['ation', 5],
  ['ment', 5],
  ['ion', 4],
  ['or', 6],
  ['ing', 3],
  ['ed', 3],
];

/** The stem of an English word, more or less: words that mean the same should have the same. */
export function stem(word: string): string {
  if (word.length < 4) return word;
  let stemmed = word;
  for (const [ending, replacement, least] of ENDINGS) {
    const shorter = stemmed.replace(ending, replacement);
    if (shorter !== stemmed && shorter.length >= least) {
      stemmed = shorter;
      break;
    }
  }
  for (const [suffix, least] of SUFFIXES) {
    if (!stemmed.endsWith(suffix) || stemmed.length - suffix.length < least) continue;
    const rest = stemmed.slice(0, -suffix.length);
    if (/[aeiouy]/.test(rest)) return rest.replace(/([bdgmnprt])\1$/, '$1').replace(/e$/, '');
  }
  return stemmed.length > 4 ? stemmed.replace(/e$/, '') : stemmed;
}

/** The stems of the words of a text, without those that say nothing. */
export function stemsOf(text: string): readonly string[] {
  const words = split(text);
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  return (telling.length > 0 ? telling : words).map(stem);
}
