import { numberFor, placeholderOf } from './placeholders.js';
import { type Secrets, Unrecordable } from './secrets.js';
import { inBase64, writingsOf } from './writings.js';

/** Shorter secrets are replaced only as whole words: they may be part of anything. */
const MIN_PART = 6;

/** Shorter secrets are replaced only where their name tells that they are secrets. */
const MIN_WORD = 3;

/** Characters that are compared for one recording. With more, calls of other clients would wait. */
const MAX_COMPARED = 3e7;

/** Names that may be those of arguments, although a secret is spelled like them. */
const IDENTIFIER = /^[A-Za-z_-]{1,20}$/;

/** Whether a number is hardly the same by chance. */
const isLong = (value: number): boolean => String(value).length >= MIN_PART;

const isInWord = (text: string, at: number): boolean => /[\p{L}\p{N}]/u.test(text[at] ?? '');

/** Replaces the secrets of a recording by placeholders. Equal secrets have equal placeholders. */
export class Scrubber {
  private readonly placeholders = new Map<string, string>();
  private readonly numbers = new Map<number, number>();
  /** Writings of secrets by how they begin, the longest first. */
  private readonly byStart = new Map<string, string[]>();
  private compared = 0;

  constructor(private readonly secrets: Secrets) {
    for (const number of secrets.numbers) {
      const other = numberFor(number);
      this.numbers.set(number, other);
      this.placeholders.set(String(number), String(other));
    }
    // a secret within another one must not be replaced first
    for (const secret of [...secrets.texts].sort((a, b) => b.length - a.length)) this.add(secret);
    for (const writings of this.byStart.values()) writings.sort((a, b) => b.length - a.length);
  }

  /** How many secrets have a placeholder. */
  get count(): number {
    return this.secrets.texts.size;
  }

  private add(secret: string): void {
    const placeholder = this.placeholders.get(secret) ?? placeholderOf(secret);
    this.placeholders.set(secret, placeholder);
    if (secret.length < MIN_WORD) return;
    for (const write of writingsOf(secret)) this.addWriting(write(secret), write(placeholder));
    for (const encoded of inBase64(secret)) {
      this.addWriting(encoded, placeholderOf(encoded));
      const safe = encoded.replaceAll('+', '-').replaceAll('/', '_');
      if (safe !== encoded) this.addWriting(safe, placeholderOf(safe));
    }
  }

  private addWriting(written: string, placeholder: string): void {
    if (!this.placeholders.has(written)) this.placeholders.set(written, placeholder);
    const start = written.slice(0, MIN_PART);
    const same = this.byStart.get(start) ?? [];
    if (!same.includes(written)) same.push(written);
    this.byStart.set(start, same);
  }

  /**
   * A copy of a value without the secrets.
   * @throws {Unrecordable} if it takes too long
   */
  scrub(value: unknown, isSecret = false): unknown {
    if (typeof value === 'string') return this.text(value, isSecret);
    if (typeof value === 'number') return (isSecret || isLong(value) ? this.numbers.get(value) : undefined) ?? value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.scrub(item, isSecret));
    // `fromEntries` takes "__proto__" for an ordinary name
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        this.name(name),
        this.scrub(item, isSecret || this.secrets.isMember(value, name)),
      ]),
    );
  }

  /** A text without the secrets. */
  text(text: string, isSecret = false): string {
    const whole = isSecret ? this.placeholders.get(text) : undefined;
    if (whole !== undefined || this.byStart.size === 0) return whole ?? text;
    let shown = '';
    let end = 0;
    for (let at = 0; at < text.length; at++) {
      const found = this.find(text, at);
      if (found === undefined) continue;
      shown += text.slice(end, at) + (this.placeholders.get(found) as string);
      end = at + found.length;
      at = end - 1;
    }
    return shown + text.slice(end);
  }

  /** The secret that begins at a place of a text. */
  private find(text: string, at: number): string | undefined {
    const long = this.byStart.get(text.slice(at, at + MIN_PART))?.find((each) => this.isAt(text, at, each));
    if (long !== undefined && long.length >= MIN_PART) return long;
    if (isInWord(text, at - 1)) return undefined;
    for (let length = MIN_PART - 1; length >= MIN_WORD; length--) {
      const word = text.slice(at, at + length);
      if (this.byStart.get(word)?.includes(word) && !isInWord(text, at + length)) return word;
    }
    return undefined;
  }

  private isAt(text: string, at: number, secret: string): boolean {
    this.compared += secret.length;
    if (this.compared > MAX_COMPARED) throw new Unrecordable('It takes too long to replace its secrets.');
    return text.startsWith(secret, at);
  }

  private name(name: string): string {
    return IDENTIFIER.test(name) ? name : this.text(name);
  }
}
