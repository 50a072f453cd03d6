/** Words that say nothing about what a tool does. */
const STOP_WORDS = new Set(
  (
    'a about all an and any are as at be been but by can could do does every for from has have how i if in into is it its ' +
    'let like me my need of on or our please should so some somebody someone something that the their them then there ' +
    'these they this those to us use using want was way we were what when where which who whose will with would you your'
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
  ['ation', 5],
  ['ion', 4],
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
