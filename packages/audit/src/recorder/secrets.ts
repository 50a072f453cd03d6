import { isSecretName, secretsIn } from '@decorum/core/plugin';

import { isCardNumber } from './placeholders.js';

/** What users add to the secrets that a recorder finds. */
export interface RedactOptions {
  /** More names of members whose values are secrets, in any case, or patterns of names: `['ssn', /^customer/i]`. */
  readonly names?: readonly (string | RegExp)[];
  /** More patterns of secrets within texts: `[/\bCUST-\d+/]`. */
  readonly patterns?: readonly RegExp[];
  /** Returns more secrets that a text has, as they stand in it. */
  readonly find?: (text: string) => readonly string[];
}

/** Data nested deeper is not recorded. */
const MAX_DEPTH = 100;

/** With more, it takes too long to replace them. */
const MAX_SECRETS = 500;

/** Characters of all secrets. With more, it takes too long to look for them. */
const MAX_CHARS = 65_536;

/** Characters of a line that is a secret of its own. */
const MIN_LINE = 16;

/** Digits of a card within a text. */
const CARD = /(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)/g;

/** A name and a value within a text, as on command lines and in XML. */
const PAIRS = [
  /(?<![\w-])--?([A-Za-z][\w-]*)[ \t]+(?!-)["']?([^\s"']+)/g,
  /<([\w.:-]+)(?:\s[^<>]*)?>\s*([^<>\s][^<>]*)<\//g,
];

/** A token in place of a user in a URL. */
const USER = /:\/\/(?=[^\s/?#:@"'<>]*\d)([^\s/?#:@"'<>]{16,})@/g;

/** Values that are never a secret. */
const PLAIN = /^(?:|none|null|undefined|true|false|bearer|basic)$/i;

/** A recording that can't be made. */
export class Unrecordable extends Error {}

/** The secrets of one recording. */
export class Secrets {
  /** Parts of texts. */
  readonly texts = new Set<string>();
  /** Whole numbers and others. */
  readonly numbers = new Set<number>();
  private chars = 0;
  private readonly names: (name: string) => boolean;
  private readonly patterns: readonly RegExp[];

  constructor(private readonly redact: RedactOptions = {}) {
    const { names = [], patterns = [] } = redact;
    const exact = new Set(names.flatMap((each) => (typeof each === 'string' ? [each.toLowerCase()] : [])));
    const more = names.flatMap((each) => (typeof each === 'string' ? [] : [stateless(each)]));
    this.names = (name) =>
      exact.has(name.toLowerCase()) || isSecretName(name) || more.some((pattern) => pattern.test(name));
    this.patterns = [CARD, ...patterns.map(stateless).map((each) => new RegExp(each.source, `${each.flags}g`))];
  }

  /** Whether the name of a value implies that it is a secret. */
  isName(name: string): boolean {
    return this.names(name);
  }

  /** Whether the value of a member is a secret: `{ password: '…' }`, `{ name: 'password', value: '…' }`. */
  isMember(object: object, name: string): boolean {
    if (this.isName(name)) return true;
    if (!/^value$/i.test(name)) return false;
    return Object.entries(object).some(
      ([other, named]) => /^(?:name|key)$/i.test(other) && typeof named === 'string' && this.isName(named),
    );
  }

  /**
   * Adds a text that is a secret, also without the white space around it, and its long lines: each of them says much of a
   * key.
   */
  add(text: string): void {
    const lines = text
      .split(/\r?\n|(?:\\r)?\\n/)
      .filter((line) => line.length >= MIN_LINE && !line.startsWith('-----'));
    for (const each of [text, text.trim(), ...lines]) {
      if (PLAIN.test(each) || this.texts.has(each)) continue;
      this.texts.add(each);
      this.chars += each.length;
    }
    if (this.texts.size > MAX_SECRETS || this.chars > MAX_CHARS) throw new Unrecordable('It has too many secrets.');
  }

  /**
   * Finds the secrets in a value.
   * @param isSecret whether the name of an enclosing member implies a secret
   * @throws {Unrecordable} for data that is nested too deeply, or has too many secrets
   */
  collect(value: unknown, isSecret = false, depth = 0): void {
    if (depth > MAX_DEPTH) throw new Unrecordable('It is nested too deeply.');
    if (typeof value === 'string') return this.search(value, isSecret, depth);
    if (typeof value === 'number') return this.searchNumber(value, isSecret);
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) this.collect(item, isSecret || this.isItem(value, at), depth + 1);
      for (const item of value as readonly unknown[])
        if (isPair(item) && this.isName(item[0])) this.collect(item[1], true, depth + 2);
      return;
    }
    for (const [name, item] of Object.entries(value)) {
      this.search(name, isSecret && isKey(name), MAX_DEPTH);
      // a count of tokens is no secret
      const isCount = typeof item === 'number' && /tokens?$/i.test(name);
      this.collect(item, (isSecret || this.isMember(value, name)) && !isCount, depth + 1);
    }
  }

  /** Whether an item of a command line is a secret: `['--password', '…']`. */
  private isItem(items: readonly unknown[], at: number): boolean {
    const before = items[at - 1];
    return typeof before === 'string' && before.startsWith('-') && this.isName(before);
  }

  private search(text: string, isSecret: boolean, depth: number): void {
    if (isSecret) this.add(text.replace(/^(?:bearer|basic|token|digest) +/i, ''));
    for (const found of secretsIn(text)) this.addFound(found);
    for (const pattern of this.patterns)
      for (const [found] of text.matchAll(pattern)) if (pattern !== CARD || isCardNumber(found)) this.add(found);
    for (const pair of PAIRS)
      for (const [, name = '', found = ''] of text.matchAll(pair)) if (this.isName(name)) this.add(found.trim());
    for (const [, found = ''] of text.matchAll(USER)) this.add(found);
    for (const found of this.foundBy(text)) this.add(String(found));
    const plain = depth < MAX_DEPTH && /%[\da-f]{2}/i.test(text) ? decoded(text) : text;
    if (plain !== text) this.search(plain, false, depth + 1);
    // the names within say more than the text
    if (depth < MAX_DEPTH && /^\s*[[{]/.test(text)) this.collect(parsed(text), isSecret, depth + 1);
  }

  /** What the function of the user finds. */
  private foundBy(text: string): readonly unknown[] {
    const found: unknown = this.redact.find?.(text) ?? [];
    if (found instanceof Promise) found.catch(() => undefined);
    if (!Array.isArray(found)) throw new TypeError('`find` of `redact` must return an array of texts.');
    return found as readonly unknown[];
  }

  /** Adds what looks like a secret, and the password if it is a user with a password, as in a URL. */
  private addFound(found: string): void {
    this.add(found);
    const [, password] = /^[^:\s]*:(\S{4,})$/.exec(found) ?? [];
    if (password === undefined) return;
    this.add(password);
    this.add(decoded(password));
  }

  private searchNumber(value: number, isSecret: boolean): void {
    if (!isSecret && !isCardNumber(String(value))) return;
    this.numbers.add(value);
    this.add(String(value));
  }
}

/** Whether the name of a member looks like a key itself, as in `tokens: { a8f3e1…: 'ada' }`. */
const isKey = (name: string): boolean => name.length >= MIN_LINE && /\d/.test(name);

/** A name and a value: `['x-api-key', '…']`. */
const isPair = (item: unknown): item is [string, unknown] =>
  Array.isArray(item) && item.length === 2 && typeof item[0] === 'string';

/** The same pattern without a position. */
const stateless = (pattern: RegExp): RegExp => new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, ''));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.trim()) as unknown;
  } catch {
    return undefined;
  }
}
