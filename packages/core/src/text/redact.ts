/** Replaces a secret. */
const REDACTED = '[redacted]';

/** Names of fields that forms must not ask for. */
export const SECRET_FIELD =
  /passw|passphrase|pwd|secret|token(?!i[sz])|(?:api|private)[\s_.-]?key|credit[\s_.-]?card|card[\s_.-]?number|cvv|cvc/i;

/** Word boundaries in a name: `dbPass`, `DBPass`, `db_pass`. */
const WORD_END = /(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+/g;

/** Names of members with secrets, as lower-case words joined by dashes. */
const SECRET_NAME =
  /(?:pass-?(?:w(?:or)?d|phrase|code)|secret|token|(?:api|auth|private|access|signing|encryption|license)-?key|credit-?card|card-?number|authori[sz]ation|cookie|credential|session-?(?:id|key)|bearer|connection-?string|code-?verifier|client-?assertion|mnemonic)s?\d*(?:-|$)|(?:^|-)(?:pass|pwd|cvv|cvc|otp|dsn)\d*$|^-?(?:auth|sid|jwt)$/;

/** Exceptions that look similar: facts about a secret, and pagination tokens. */
const HARMLESS_NAME =
  /(?:(?:page|next|sync|skip|continuation|progress)-?token|-(?:type|url|uri|endpoint|name|path|count|limit))s?$/;

/**
 * Whether the name of a value implies a secret: `password`, `apiKey`, `authorization`, but not `nextPageToken`.
 * @param name of a member, in any case: `dbPass`, `DB_PASS`
 * @example isSecretName('clientSecret'); // true
 */
export function isSecretName(name: string): boolean {
  const words = name.replace(WORD_END, '-').toLowerCase();
  return SECRET_NAME.test(words) && !HARMLESS_NAME.test(words);
}

/** Data nested deeper is redacted without being searched. */
const MAX_DEPTH = 100;

/**
 * Redacts secrets: strings in members whose name implies a secret (`password`, `apiKey`, `authorization` …), and parts
 * of strings that look like credentials. Numbers and booleans are kept, such as `tokens: 12`. Secrets that no pattern
 * can recognize are kept too, such as a password in the middle of a sentence.
 * @param value JSON-like data, possibly with cycles. Only arrays, plain objects and instances of your classes are
 *   searched, not instances of built-in classes such as `Error` and `Map`
 * @returns the same value if it contains no secret, otherwise a copy
 */
export function redactSecrets(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  const redaction = new Redaction();
  const copy = redaction.of(value, false, 0);
  return redaction.changed ? copy : value;
}

/** Copies a value, and records whether the copy differs. */
class Redaction {
  changed = false;
  private readonly copies = { secret: new Map<object, unknown>(), open: new Map<object, unknown>() };

  /** @param isSecret whether the name of an enclosing member implies a secret */
  of(value: unknown, isSecret: boolean, depth: number): unknown {
    if (typeof value === 'string') return this.changes(value, isSecret ? REDACTED : redactText(value));
    if (typeof value !== 'object' || value === null) return value;
    const copies = isSecret ? this.copies.secret : this.copies.open;
    if (copies.has(value)) return copies.get(value);
    if (depth > MAX_DEPTH) return this.changes(value, REDACTED);
    if (Array.isArray(value)) {
      const copy: unknown[] = [];
      copies.set(value, copy);
      for (const item of value as readonly unknown[]) copy.push(this.of(item, isSecret, depth + 1));
      return copy;
    }
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (typeof toJSON === 'function') return this.of(toJSON.call(value), isSecret, depth + 1);
    // built-in classes don't keep their content in properties
    if (Object.prototype.toString.call(value) !== '[object Object]')
      return isSecret ? this.changes(value, REDACTED) : value;
    const copy = {};
    copies.set(value, copy);
    for (const [name, item] of Object.entries(value)) {
      const member = this.of(item, isSecret || isSecretName(name), depth + 1);
      // don't assign: a member called "__proto__" would set the prototype
      Object.defineProperty(copy, name, { value: member, enumerable: true, configurable: true, writable: true });
    }
    return copy;
  }

  private changes(value: unknown, shown: unknown): unknown {
    if (shown !== value) this.changed = true;
    return shown;
  }
}

const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g;

/** Credentials after the name of a scheme, but not ordinary words: "Basic authentication". */
const SCHEME = /\b([Bb]earer|BEARER|[Bb]asic|BASIC) +(?![A-Za-z][a-z]{0,19}(?![\w~+/=-]|\.\w))([\w.~+/-]+=*)/g;

const JSON_WEB_TOKEN = /(?<![\w-])eyJ[\w-]+(?:\.[\w-]*){2,4}/g;

/** User name and password in a URL. */
const USER_OF_URL = /:\/\/[^\s/?#:@"'<>]*:[^\s/?#"'<>]*@/g;

/** Keys with a prefix that identifies their issuer. */
const KNOWN_KEY =
  /(?<![A-Za-z0-9])(?:sk-|[sr]k_(?:live|test)_|whsec_|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|xapp-|AKIA|ASIA|AIza|npm_|hf_|ya29\.|dop_v1_|SG\.|pypi-)(?=[\w-]{0,64}\d)[\w.-]{12}[\w.-]*/g;

/**
 * Redacts text that looks like a credential. Each pattern runs in linear time: it can start only at the start of a
 * word, or its repetitions are bounded.
 */
function redactText(text: string, hide: Hide = () => REDACTED): string {
  return redactPairs(text.replace(PRIVATE_KEY, hide), hide)
    .replace(SCHEME, (_, scheme: string, secret: string) => `${scheme} ${hide(secret)}`)
    .replace(JSON_WEB_TOKEN, hide)
    .replace(USER_OF_URL, (match) => `://${hide(match.slice(3, -1))}@`)
    .replace(KNOWN_KEY, hide);
}

/** Returns what stands in place of a secret. */
type Hide = (secret: string) => string;

/**
 * Finds the parts of a text that look like credentials: private keys, tokens, the values of `password=…`, and so on.
 * Secrets that no pattern can recognize are not found.
 * @returns the parts, as they stand in the text
 * @example secretsIn('Sent with Bearer a8f3e1'); // ['a8f3e1']
 */
export function secretsIn(text: string): readonly string[] {
  const found: string[] = [];
  collect(text, found, MAX_NESTED);
  return found;
}

/** How often a header that was found is searched for parts of its own. */
const MAX_NESTED = 3;

function collect(text: string, found: string[], left: number): void {
  redactText(text, (secret) => {
    // a header may have parts that were found before
    for (const part of secret.replace(/^(?:bearer|basic|token|digest) +/i, '').split(REDACTED))
      if (/[\p{L}\p{N}]/u.test(part)) found.push(part);
    if (left > 0 && secret.length < text.length && /\s/.test(secret)) collect(secret, found, left - 1);
    return REDACTED;
  });
}

/** A name and the text before its value or list: `password=`, `"tokens": ["`, and the same within JSON text. */
const NAME = /(?<![\w.-])([\w.-]+)\\*["']?\]?[ \t]*(?:[:!=]?=[=>]?|:|%3D)[ \t]*((?!\[redacted)\[\s*)?(\\*["'])?/gi;
const NEXT_ITEM = /\\*["']?\s*,\s*(\\*["'])?/y;
const WORD = /\[redacted\]|(?![[{])[^\s"'\\&,;)}\]<>]+/y;
const IN_ESCAPED_QUOTES = /[^"'\\]*/y;
const QUOTES = /\\*["']/g;
/** End of the line, or of the quoted text around the header, but not a quote inside the header: `a="b"`. */
const END_OF_HEADER = /(?<!\\)\\*["'](?!\w)(?<!=\\*"(?:[^"'\r\n]*")?)|[\r\n]|$/g;
/** Words that are never a secret. */
const WORDLESS = /^(?:an?|the|is|no|not|none|null|undefined|true|false)?$/i;
const COUNT = /^\d{1,9}(?:\.\d{1,9})?k?$/;

/** Redacts the values of pairs such as `password=hunter2`, if the name implies a secret. */
function redactPairs(text: string, hide: Hide): string {
  let shown = '';
  let end = 0;
  for (const { 0: pair, 1: name = '', 2: list, 3: quote, index } of text.matchAll(NAME)) {
    if (index < end || !isSecretName(name)) continue;
    let start = index + pair.length;
    let item: RegExpExecArray | null = null;
    do {
      const value = text.slice(start, endOfValue(text, start, (item === null ? quote : item[1]) ?? name));
      const stays = WORDLESS.test(value) || (COUNT.test(value) && /tokens$|^pass$/i.test(name));
      shown += text.slice(end, start) + (stays ? value : hide(value));
      // advance past kept values too, so nothing is read twice
      end = start + value.length;
      NEXT_ITEM.lastIndex = end;
      item = list === undefined ? null : NEXT_ITEM.exec(text);
      start = NEXT_ITEM.lastIndex;
    } while (item !== null);
  }
  return shown + text.slice(end);
}

/** @param before the quote before the value, or else the name of the pair */
function endOfValue(text: string, start: number, before: string): number {
  if (before === '"' || before === "'") return endOfQuoted(text, start, before);
  const isHeader = /cookie|authori[sz]ation/i.test(before);
  if (before.startsWith('\\')) return endOfEscaped(text, start, before.length);
  const pattern = isHeader ? END_OF_HEADER : WORD;
  pattern.lastIndex = start;
  const found = pattern.exec(text);
  return found === null ? start : found.index + (isHeader ? 0 : found[0].length);
}

/** @param length of the quote before the value: quotes within the value have more backslashes */
function endOfEscaped(text: string, start: number, length: number): number {
  QUOTES.lastIndex = start;
  for (let found = QUOTES.exec(text); found !== null; found = QUOTES.exec(text))
    if (found[0].length <= length) return found.index;
  IN_ESCAPED_QUOTES.lastIndex = start;
  return start + (IN_ESCAPED_QUOTES.exec(text)?.[0].length ?? 0);
}

/** Not a regular expression, because its stack would grow with the length of the text. */
function endOfQuoted(text: string, start: number, quote: string): number {
  let at = start;
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1;
  return Math.min(at, text.length);
}
