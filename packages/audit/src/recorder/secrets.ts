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

/** Characters of a line that is a secret of its own. */
const MIN_LINE = 16;

/** Digits of a card within a text. */
const CARD = /(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-]|\.\d)/g;

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

  /** Adds a text that is a secret, and its long lines: each of them says much of a key. */
  add(text: string): void {
    const lines = text
      .split(/\r?\n|(?:\\r)?\\n/)
      .filter((line) => line.length >= MIN_LINE && !line.startsWith('-----'));
    for (const each of [text, ...lines]) if (!PLAIN.test(each)) this.texts.add(each);
    if (this.texts.size > MAX_SECRETS) throw new Unrecordable('It has too many secrets.');
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
      for (const item of value as readonly unknown[]) this.collect(item, isSecret, depth + 1);
      return;
    }
    for (const [name, item] of Object.entries(value)) {
      this.search(name, false, MAX_DEPTH);
      // a count of tokens is no secret
      const isCount = typeof item === 'number' && /tokens?$/i.test(name);
      this.collect(item, (isSecret || this.isName(name)) && !isCount, depth + 1);
    }
  }

  private search(text: string, isSecret: boolean, depth: number): void {
    if (isSecret) this.add(text.replace(/^(?:bearer|basic|token|digest) +/i, ''));
    for (const found of secretsIn(text)) this.addFound(found);
    for (const pattern of this.patterns)
      for (const [found] of text.matchAll(pattern)) if (pattern !== CARD || isCardNumber(found)) this.add(found);
    for (const found of this.redact.find?.(text) ?? []) this.add(String(found));
    const plain = depth < MAX_DEPTH && /%[\da-f]{2}/i.test(text) ? decoded(text) : text;
    if (plain !== text) this.search(plain, false, depth + 1);
    // the names within say more than the text
    if (depth < MAX_DEPTH && /^\s*[[{]/.test(text)) this.collect(parsed(text), isSecret, depth + 1);
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
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
