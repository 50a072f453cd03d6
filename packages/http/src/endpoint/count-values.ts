const [QUOTE, BACKSLASH, COMMA, COLON, SPACE] = [0x22, 0x5c, 0x2c, 0x3a, 0x20];
// the brackets of lists and objects differ in one bit
const [OPEN, CLOSE, BRACE] = [0x5b, 0x5d, 0x20];

/** A name that is new to the runtime takes far longer to parse than any other value. */
const VALUES_PER_NAME = 8;

/** This many different names are always allowed. */
const FEW_NAMES = 1000;

/** How many different names a text may have, given how many values it may have. */
export function allowedNames(values: number): number {
  return Math.max(FEW_NAMES, Math.floor(values / VALUES_PER_NAME));
}

/**
 * Whether a JSON text has more names, values and items than allowed, over all levels, or too many different names.
 * Takes kilobytes of memory, and a few milliseconds per mebibyte. It may miss one name in ten, and every name beyond
 * 65,536. For text that isn't JSON, the result is arbitrary.
 */
export function exceedsValues(text: string, allowed: number): boolean {
  let left = allowed;
  let namesLeft = allowedNames(allowed);
  const seen = new Uint32Array(SLOTS / 32);
  // whether a bracket was opened, and nothing has been found in it yet
  let opened = false;
  let [begin, end] = [0, 0];
  for (let at = 0; at < text.length && left >= 0 && namesLeft >= 0; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= SPACE) continue;
    if (code === COMMA || code === COLON) left -= 1;
    if (code === COLON && isNew(slotOf(text, begin, end), seen)) namesLeft -= 1;
    const bracket = code & ~BRACE;
    if (opened && bracket !== CLOSE) left -= 1;
    opened = bracket === OPEN;
    if (code !== QUOTE) continue;
    begin = at + 1;
    at = end = endOfString(text, begin);
  }
  return left < 0 || namesLeft < 0;
}

/** Position of the quote that ends a string. */
function endOfString(text: string, begin: number): number {
  let at = begin;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return text.length;
    let before = quote - 1;
    while (before >= at && text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) return quote;
    at = quote + 1;
  }
}

/** Names that share a slot count as one. */
const SLOTS = 1 << 16;

/** Random, so that clients can't choose names that share a slot. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/** The slot of a name: an FNV-1a hash. */
function slotOf(text: string, begin: number, end: number): number {
  let hash = SEED;
  for (let at = begin; at < end; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 16;
}

/** Whether a slot was empty. Marks it as taken. */
function isNew(slot: number, seen: Uint32Array): boolean {
  const [word, bit] = [slot >>> 5, 1 << (slot & 31)];
  const before = seen[word] as number;
  seen[word] = before | bit;
  return (before & bit) === 0;
}
