/** Where prose may end, the best first: before a blank line, a line break, the space after a sentence, or any space. */
const PROSE = [/\r?\n\r?\n/g, /\r?\n/g, /(?<=[.!?…]["')\]]?)\s|(?<=[。！？])/g, /\s/g];

/** Where JSON may end: before a line break, or after an element. */
const DATA = [/\r?\n/g, /(?<=[}\]],)/g, /(?<=,)/g];

/** How far before the maximum a good place to end is looked for, in characters. */
const REACH = 2000;

/** Characters around a place that tell whether it is inside of what a reader takes for one character. */
const AROUND = 100;

let segmenter: Intl.Segmenter | undefined;

/**
 * The beginning of a text, up to the end of a paragraph, line, sentence or word, or of an element if it looks like JSON.
 * Never ends inside of what a reader takes for one character.
 * @param max its length at most, in UTF-16 code units
 */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  // as for everything after a text that was cut, which may be very many blocks
  if (max === 0) return '';
  const from = Math.max(Math.floor(max / 2), max - REACH);
  // a line break that begins right at the end counts
  const near = text.slice(from, max + 4);
  for (const places of /^\s*[[{]/.test(text) ? DATA : PROSE) {
    let found = -1;
    for (const { index } of near.matchAll(places)) if (from + index <= max) found = from + index;
    if (found > from) return text.slice(0, wholeCharacters(text, found)).trimEnd();
  }
  return text.slice(0, wholeCharacters(text, max));
}

/** The place itself, or else the beginning of the character that it is inside of. */
function wholeCharacters(text: string, end: number): number {
  const from = beforeFlags(text, Math.max(0, end - AROUND));
  segmenter ??= new Intl.Segmenter();
  const within = segmenter.segment(text.slice(from, end + AROUND)).containing(end - from)?.index ?? end - from;
  if (within > 0 || from === 0) return from + within;
  // more marks on one character than anybody could read
  return /[\uDC00-\uDFFF]/.test(text.charAt(end)) ? end - 1 : end;
}

/** The place itself, or the beginning of the flags that it is among: each is a pair, which only the beginning tells. */
function beforeFlags(text: string, place: number): number {
  let from = /[\uDC00-\uDFFF]/.test(text.charAt(place)) ? Math.max(0, place - 1) : place;
  while (/^\uD83C[\uDDE6-\uDDFF]$/.test(text.slice(Math.max(0, from - 2), from))) from -= 2;
  return from;
}
