/** What stands in place of a secret. */
const REDACTED = '[redacted]';

/** Names of what a form must not ask for. */
export const SECRET_FIELD =
  /passw|passphrase|pwd|secret|token(?!i[sz])|(?:api|private)[_-]?key|credit[_-]?card|card[_-]?number|cvv|cvc/i;

/** Where a word of a name ends: `dbPass`, `DBPass`, `db_pass`. */
const WORD_END = /(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+/g;

/** Names of what is not shown to anybody, their words in lower case with dashes between. */
const SECRET_NAME =
  /(?:pass-?(?:w(?:or)?d|phrase|code)|secret|token|(?:api|private|access|signing|encryption)-?key|credit-?card|card-?number|authori[sz]ation|cookie|credential|session-?(?:id|key))s?\d*(?:-|$)|(?:^|-)(?:pass|pwd|cvv|cvc)\d*$|^-?(?:auth|sid|jwt)$/;

/** Names that sound like it: of something about a secret, and of what leads to the next page. */
const HARMLESS_NAME =
  /(?:(?:page|next|sync|skip|continuation|progress)-?token|-(?:type|url|uri|endpoint|name|path|count|limit))s?$/;

function isSecretName(name: string): boolean {
  const words = name.replace(WORD_END, '-').toLowerCase();
  return SECRET_NAME.test(words) && !HARMLESS_NAME.test(words);
}

/** Deeper data is not looked through, and so not shown. */
const MAX_DEPTH = 100;

/**
 * Takes out what must not be seen: texts in members whose name says that they are secret (`password`, `apiKey`,
 * `authorization` …), and the parts of texts that look like credentials. Numbers and booleans stay, so that counts such
 * as `tokens: 12` do. What a pattern cannot know, such as a password in the middle of a sentence, stays too.
 * @param value JSON-like data, also with cycles; of other objects than arrays, plain ones and those of your classes (an
 * `Error`, a `Map`) nothing is looked at
 * @returns the same value where nothing is secret, else a copy
 */
export function redactSecrets(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  const redaction = new Redaction();
  const copy = redaction.of(value, false, 0);
  return redaction.changed ? copy : value;
}

/** Copies one value, and remembers whether the copy differs. */
class Redaction {
  changed = false;
  private readonly copies = { secret: new Map<object, unknown>(), open: new Map<object, unknown>() };

  /** @param isSecret whether the name of a member on the way here says so */
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
    // what a class of the platform holds is not in its fields
    if (Object.prototype.toString.call(value) !== '[object Object]')
      return isSecret ? this.changes(value, REDACTED) : value;
    const copy = {};
    copies.set(value, copy);
    for (const [name, item] of Object.entries(value)) {
      const member = this.of(item, isSecret || isSecretName(name), depth + 1);
      // assigned, a member called "__proto__" would become the prototype
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

/** What comes after the name of a scheme, unless it is an ordinary word: "Basic authentication". */
const SCHEME = /\b([Bb]earer|BEARER|[Bb]asic|BASIC) +(?![A-Za-z][a-z]{0,19}(?![\w~+/=-]|\.\w))[\w.~+/-]+=*/g;

const JSON_WEB_TOKEN = /(?<![\w-])eyJ[\w-]+(?:\.[\w-]*){2,4}/g;

/** The name and password of a URL. */
const USER_OF_URL = /:\/\/[^\s/?#:@"'<>]*:[^\s/?#"'<>]*@/g;

/** Keys that say by their beginning whose they are. */
const KNOWN_KEY =
  /(?<![A-Za-z0-9])(?:sk-|[sr]k_(?:live|test)_|whsec_|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|xapp-|AKIA|ASIA|AIza|npm_|hf_|ya29\.|dop_v1_|SG\.|pypi-)(?=[\w-]{0,64}\d)[\w.-]{12}[\w.-]*/g;

/**
 * A text without what looks like a credential. Each pattern reads a text in time proportional to its length: it starts
 * only where a word does, or its repetitions are limited.
 */
function redactText(text: string): string {
  return redactPairs(text.replace(PRIVATE_KEY, REDACTED))
    .replace(SCHEME, `$1 ${REDACTED}`)
    .replace(JSON_WEB_TOKEN, REDACTED)
    .replace(USER_OF_URL, `://${REDACTED}@`)
    .replace(KNOWN_KEY, REDACTED);
}

/** A name, and what stands before its value or list: `password=`, `"tokens": ["`, and the same within a JSON text. */
const NAME = /(?<![\w.-])([\w.-]+)\\*["']?\]?[ \t]*(?:[:!=]?=[=>]?|:|%3D)[ \t]*((?!\[redacted)\[\s*)?(\\*["'])?/gi;
const NEXT_ITEM = /\\*["']?\s*,\s*(\\*["'])?/y;
const WORD = /\[redacted\]|(?![[{])[^\s"'\\&,;)}\]<>]+/y;
const IN_ESCAPED_QUOTES = /[^"'\\]+/y;
/** The end of the line, or of the text in quotes that the header is in; not a quote of its own: `a="b"`. */
const END_OF_HEADER = /(?<!\\)\\*["'](?!\w)(?<!=\\*"(?:[^"'\r\n]*")?)|[\r\n]|$/g;
/** What nobody has for a secret. */
const WORDLESS = /^(?:an?|the|is|no|not|none|null|undefined|true|false)?$/i;
const COUNT = /^\d{1,9}(?:\.\d{1,9})?k?$/;

/** Takes the values out of pairs such as `password=hunter2`, whose name is a secret's. */
function redactPairs(text: string): string {
  let shown = '';
  let end = 0;
  for (const { 0: pair, 1: name = '', 2: list, 3: quote, index } of text.matchAll(NAME)) {
    if (index < end || !isSecretName(name)) continue;
    let start = index + pair.length;
    let item: RegExpExecArray | null = null;
    do {
      const value = text.slice(start, endOfValue(text, start, (item === null ? quote : item[1]) ?? name));
      const stays = WORDLESS.test(value) || (COUNT.test(value) && /tokens$|^pass$/i.test(name));
      shown += text.slice(end, start) + (stays ? value : REDACTED);
      // also past what stays: nothing is read twice
      end = start + value.length;
      NEXT_ITEM.lastIndex = end;
      item = list === undefined ? null : NEXT_ITEM.exec(text);
      start = NEXT_ITEM.lastIndex;
    } while (item !== null);
  }
  return shown + text.slice(end);
}

/** @param before the quote that the value begins with, else the name it belongs to */
function endOfValue(text: string, start: number, before: string): number {
  if (before === '"' || before === "'") return endOfQuoted(text, start, before);
  const isHeader = /cookie|authori[sz]ation/i.test(before);
  const pattern = before.startsWith('\\') ? IN_ESCAPED_QUOTES : isHeader ? END_OF_HEADER : WORD;
  pattern.lastIndex = start;
  const found = pattern.exec(text);
  return found === null ? start : found.index + (isHeader ? 0 : found[0].length);
}

/** By hand: the expression for it needs a stack as high as the text is long. */
function endOfQuoted(text: string, start: number, quote: string): number {
  let at = start;
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1;
  return Math.min(at, text.length);
}
