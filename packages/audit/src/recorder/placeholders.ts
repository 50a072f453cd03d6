import { randomBytes } from 'node:crypto';

/** Parts with a meaning of their own: escapes of JSON and URLs, and the lines around keys. */
const PART = /\\u[\da-f]{4}|\\[nrtbf"\\/]|%[\da-f]{2}|-----(?:BEGIN|END) [A-Z ]{0,40}-----|[^]/gi;

/** The beginnings of keys, by which their issuers know them. */
const PREFIX =
  /^(?:sk-|[sr]k_(?:live|test)_|whsec_|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|AKIA|ASIA|AIza|npm_|hf_|eyJ)(?=.{8})/;

const UUID = /^[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/i;

const HEX = /^(?=.*\d)(?=.{6})[\da-f-]+$/i;

const between = (first: string, count: number, byte: number): string =>
  String.fromCharCode(first.charCodeAt(0) + (byte % count));

/** A random character of the same kind. */
function alike(char: string, byte: number, isHex: boolean): string {
  if (/\d/.test(char)) return between('0', 10, byte);
  if (/[a-z]/.test(char)) return between('a', isHex ? 6 : 26, byte);
  if (/[A-Z]/.test(char)) return between('A', isHex ? 6 : 26, byte);
  return /[\p{L}\p{N}]/u.test(char) ? between('a', 26, byte) : char;
}

/** What stands for a part of a secret. An escaped character becomes another one. */
function standIn(part: string, byte: number, isHex: boolean): string {
  if (part.length === 1) return alike(part, byte, isHex);
  if (part.startsWith('%')) return `%4${between('1', 9, byte)}`;
  return /^\\u/i.test(part) ? `\\u004${between('1', 9, byte)}` : part;
}

/** A random text of the same length and kind: digits for digits, and everything else than letters as it is. */
function shaped(secret: string): string {
  const isHex = HEX.test(secret);
  const prefix = PREFIX.exec(secret)?.[0] ?? '';
  const rest = secret.slice(prefix.length);
  const bytes = randomBytes(rest.length);
  let text = prefix;
  for (const { 0: part, index } of rest.matchAll(PART)) text += standIn(part, bytes[index] as number, isHex);
  // the version of an id is no secret, and is checked
  return UUID.test(secret) ? text.slice(0, 14) + secret[14] + text.slice(15, 19) + secret[19] + text.slice(20) : text;
}

const digitsOf = (text: string): readonly number[] => [...text.replaceAll(/\D/g, '')].map(Number);

/** The sum of Luhn's formula, which is a multiple of ten for the numbers of cards. */
const luhn = (digits: readonly number[]): number =>
  digits.reduceRight((sum, digit, at) => {
    const isDoubled = (digits.length - at) % 2 === 0;
    return sum + (isDoubled ? digit * 2 - (digit > 4 ? 9 : 0) : digit);
  }, 0);

/** Whether a text has the digits of a card, with nothing but spaces and dashes between them. */
export function isCardNumber(text: string): boolean {
  const digits = digitsOf(text);
  return digits.length >= 13 && digits.length <= 19 && /^[\d -]+$/.test(text) && luhn(digits) % 10 === 0;
}

/** The number of a card of the same kind, with its last digit corrected. */
function cardFor(secret: string): string {
  // the first digits tell the kind
  const text = secret.slice(0, 2) + shaped(secret.slice(2));
  const digits = digitsOf(text);
  const last = digits.length - 1;
  const wrong = luhn(digits.with(last, 0)) % 10;
  return text.replace(/\d(?=\D*$)/, String((10 - wrong) % 10));
}

/**
 * A random text that stands for a secret. It has its length and shape, so that it passes the checks that the secret has
 * passed. It is not computed from the secret, so nobody can find out the secret from it by trying.
 */
export function placeholderOf(secret: string): string {
  for (let attempt = 0; attempt < 10; attempt++) {
    const text = isCardNumber(secret) ? cardFor(secret) : shaped(secret);
    if (text !== secret) return text;
  }
  // only marks, or one character
  return 'x'.repeat(secret.length);
}

/** A random number with as many digits, none more after the point, and the same exponent. */
export function numberFor(secret: number): number {
  const [text = '', exponent = '0'] = String(Math.abs(secret)).split('e');
  const most = Math.max(Number.MAX_SAFE_INTEGER, 10 * Math.abs(secret));
  for (let attempt = 0; attempt < 20; attempt++) {
    const first = text.startsWith('0') ? '0' : String(1 + ((randomBytes(1)[0] as number) % 9));
    const random = first + shaped(text).slice(1);
    const number = Number(`${isCardNumber(text) ? cardFor(text) : random}e${exponent}`);
    if (number !== Math.abs(secret) && number <= most) return Math.sign(secret) * number;
  }
  return 0;
}
