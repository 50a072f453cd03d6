/** Longer text would push the facts about a client out of sight. */
const MAX_NAME = 80;

/** Line breaks and other white space. */
const SPACES = /[\s\p{Zl}\p{Zp}]+/gu;

/**
 * Control characters, bidirectional marks, zero-width and other invisible characters, halves of surrogate pairs, and
 * characters that each font shows differently. U+2800 looks like a space, but isn't one.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** A pile of marks would cover the lines around it. No language needs more than four on a letter. */
const PILES = /(\p{M}{4})\p{M}+/gu;

/** Removes what could hide or reorder text on a page. */
export function cleanText(text: string): string {
  return text.replace(SPACES, ' ').replace(UNSEEN, '').replace(PILES, '$1').replace(/ +/g, ' ').trim();
}

/**
 * The name of a client or account as a page may show it: without what could hide or reorder text, and not too long.
 * @param max the number of characters that are shown
 * @returns an empty string if nothing can be seen
 */
export function cleanName(name: string, max = MAX_NAME): string {
  // cut first: the rules need not read a name of megabytes
  const characters = [...cleanText(name.slice(0, max * 16))];
  return characters.length <= max
    ? characters.join('')
    : `${characters
        .slice(0, max - 1)
        .join('')
        .trim()}…`;
}
