/** Control characters, escape sequences, and characters that reorder or hide what is printed. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** One line of text that a terminal shows as it is, whoever wrote it. */
export const plainLine = (value: unknown): string =>
  String(value ?? '').replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');

/** Text that a terminal shows as it is, whoever wrote it. Line breaks and tabs stay. */
export const plainText = (value: unknown): string =>
  String(value ?? '').replaceAll(UNPRINTABLE, (character) => (/[\n\t]/.test(character) ? character : ''));
