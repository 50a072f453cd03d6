/** What stands in place of a secret. */
export const REDACTED = '[redacted]';

const ASKED = 'passw|passphrase|secret|token(?!i[sz])|(?:api|private)[_-]?key|credit[_-]?card|card[_-]?number|cvv|cvc';

/** Names of what a form must not ask for. */
export const SECRET_FIELD = new RegExp(ASKED, 'i');

/** Names of what is not shown to anybody. */
const SECRET_NAME = new RegExp(
  `${ASKED}|\\bpwd|(?:access|secret|signing|encryption)[_-]?key|authori[sz]ation|cookie|credential|session[_-]?(?:id|key)|` +
    '^(?:auth|sid|jwt)$',
  'i',
);

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
  const copy = redaction.of(value, { isSecret: false, depth: 0 });
  return redaction.changed ? copy : value;
}

interface Place {
  /** The name of a member on the way here says so. */
  readonly isSecret: boolean;
  readonly depth: number;
}

/** Copies one value, and remembers whether the copy differs. */
class Redaction {
  changed = false;
  private readonly copies = { secret: new Map<object, unknown>(), open: new Map<object, unknown>() };

  of(value: unknown, { isSecret, depth }: Place): unknown {
    if (typeof value === 'string') return this.changes(value, isSecret ? REDACTED : redactText(value));
    if (typeof value !== 'object' || value === null) return value;
    const copies = isSecret ? this.copies.secret : this.copies.open;
    if (copies.has(value)) return copies.get(value);
    if (depth > MAX_DEPTH) return this.changes(value, REDACTED);
    const deeper = { isSecret, depth: depth + 1 };
    if (Array.isArray(value)) {
      const copy: unknown[] = [];
      copies.set(value, copy);
      for (const item of value as readonly unknown[]) copy.push(this.of(item, deeper));
      return copy;
    }
    const written = (value as { readonly toJSON?: unknown }).toJSON;
    if (typeof written === 'function') return this.of((written as () => unknown).call(value), deeper);
    // what a class of the platform holds is not in its fields
    if (Object.prototype.toString.call(value) !== '[object Object]')
      return isSecret ? this.changes(value, REDACTED) : value;
    return this.members(value, deeper);
  }

  private members(value: object, { isSecret, depth }: Place): object {
    const copy: Record<string, unknown> = {};
    (isSecret ? this.copies.secret : this.copies.open).set(value, copy);
    for (const [name, item] of Object.entries(value)) {
      const member = this.of(item, { isSecret: isSecret || SECRET_NAME.test(name), depth });
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
  /(?<![a-z0-9])(?:sk-|[sr]k_(?:live|test)_|whsec_|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|xapp-|AKIA|ASIA|AIza|npm_|hf_|ya29\.|dop_v1_|SG\.|pypi-)(?=[\w-]{0,64}\d)[\w.-]{12}[\w.-]*/gi;

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

/** A name, and what stands between it and its value: `password=`, `"token": "`, and the same within a JSON text. */
const NAME = /(?<![\w.-])([\w.-]+)\\*["']?[ \t]*(?:[:=]|=>|%3D)[ \t]*(\\*["'])?/gi;
const REST_OF_LINE = /[^\r\n"']+/y;
const WORD = /[^\s"'\\&,;)}\]<>]+/y;
const IN_ESCAPED_QUOTES = /[^"'\\]+/y;
const COUNT = /^\d{1,9}$/;

/** Takes the values out of pairs such as `password=hunter2`, whose name is a secret's. */
function redactPairs(text: string): string {
  let shown = '';
  let end = 0;
  for (const { 0: pair, 1: name = '', 2: quote, index } of text.matchAll(NAME)) {
    const start = index + pair.length;
    if (index < end || !SECRET_NAME.test(name)) continue;
    const value = text.slice(start, endOfValue(text, start, quote ?? name));
    if (value === '' || value.startsWith(REDACTED.slice(0, -1))) continue;
    if (COUNT.test(value) && /tokens$/i.test(name)) continue;
    shown += text.slice(end, start) + REDACTED;
    end = start + value.length;
  }
  return shown + text.slice(end);
}

/** @param before the quote that the value begins with, else the name it belongs to */
function endOfValue(text: string, start: number, before: string): number {
  if (before === '"' || before === "'") return endOfQuoted(text, start, before);
  const header = /cookie|authori[sz]ation/i.test(before) ? REST_OF_LINE : WORD;
  const pattern = before.startsWith('\\') ? IN_ESCAPED_QUOTES : header;
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : start;
}

/** By hand: the expression for it needs a stack as high as the text is long. */
function endOfQuoted(text: string, start: number, quote: string): number {
  let at = start;
  while (at < text.length && text[at] !== quote) at += text[at] === '\\' ? 2 : 1;
  return Math.min(at, text.length);
}
