import type { JsonObject } from '@decorum/core';

/** Whether a value is an object with named members. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A member of a value; undefined if the value is no object, or inherits the member. */
export const own = (holder: unknown, key: string): unknown =>
  isObject(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined;

/** The members of a value; none if it is no object. */
export const entriesOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  isObject(value) ? Object.entries(value) : [];

// control characters except tabs and line breaks, and characters that turn the direction of text or hide in it
const UNSEEN = /(?![\t\n\r])\p{Cc}|[\u200E\u200F\u202A-\u202E\u2066-\u2069]|[\u{E0000}-\u{E007F}]/gu;

/** A text without control characters. Undefined for other values, and if nothing is left. */
export function cleanText(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.replaceAll(UNSEEN, '').trim() : '';
  return text === '' ? undefined : text;
}

/** A text that can be encoded: half a character becomes U+FFFD. */
export const wellFormed = (text: string): string => text.replaceAll(/[\uD800-\uDFFF]/gu, '\uFFFD');
