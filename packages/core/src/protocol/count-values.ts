const [QUOTE, BACKSLASH, COMMA, COLON, SPACE] = [0x22, 0x5c, 0x2c, 0x3a, 0x20];
// the brackets of lists and objects differ in one bit
const [OPEN, CLOSE, BRACE] = [0x5b, 0x5d, 0x20];

/**
 * Whether a JSON text has more names, values and items than allowed, over all levels. It takes no
 * memory, and a few milliseconds for a mebibyte. For a text that isn't JSON, the result may be either.
 */
export function exceedsValues(text: string, allowed: number): boolean {
  let left = allowed;
  // a bracket has been opened, and nothing in it has been found yet
  let opened = false;
  for (let at = 0; at < text.length && left >= 0; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= SPACE) continue;
    if (code === COMMA || code === COLON) left -= 1;
    const bracket = code & ~BRACE;
    if (opened && bracket !== CLOSE) left -= 1;
    opened = bracket === OPEN;
    if (code === QUOTE) at = endOfString(text, at + 1);
  }
  return left < 0;
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
