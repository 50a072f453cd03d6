import { ToolError } from '@decorum/core';

// oxlint-disable-next-line no-control-regex -- they are what is refused
const CONTROL = /[\u0000-\u001F\u007F]/;
// oxlint-disable-next-line no-control-regex -- they are what is refused
const BREAKS = /[\u0000\r\n]/;
const MAX_DECODINGS = 5;

/** Decodes each escape of ASCII by itself: some servers leave those that they can't decode, and decode the others. */
const decoded = (text: string): string =>
  text.replaceAll(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** All readings of a text by servers that decode it again. */
function readings(text: string): string[] {
  const found = [text];
  for (let count = 0; count < MAX_DECODINGS; count += 1) found.push(decoded(found.at(-1) as string));
  return found;
}

const hasDots = (text: string): boolean => text.split(/[/\\]/).some((segment) => segment === '.' || segment === '..');

/**
 * Rejects a value that would change which resource a path names.
 * @param written the value as it is written in the path
 * @throws {ToolError}
 */
export function requirePathValue(argument: string, written: string): void {
  if (written === '') throw new ToolError(`${argument}: must not be empty, because it is part of the path`);
  const texts = readings(written);
  if (texts.some((text) => CONTROL.test(text))) throw new ToolError(`${argument}: must not contain control characters`);
  if (texts.some(hasDots)) throw new ToolError(`${argument}: must not contain the path segments "." and ".."`);
}

/**
 * Rejects a value that would end a header, or that headers can't carry.
 * @throws {ToolError}
 */
export function requireHeaderValue(argument: string, value: string): void {
  if (BREAKS.test(value) || CONTROL.test(value.replaceAll('\t', ''))) {
    throw new ToolError(`${argument}: must not contain line breaks or other control characters`);
  }
  if (/[\u0100-\uFFFF]/.test(value)) {
    throw new ToolError(`${argument}: has characters that headers can't carry. Use those of Latin-1`);
  }
}

/**
 * Rejects a number that has lost digits since its sender wrote it: it may be the id of something else.
 * @throws {ToolError}
 */
export function requireExactNumbers(argument: string, value: unknown): void {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) requireExactNumbers(argument, part);
  }
  // numbers beyond are written with an exponent, and thus not as ids
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value as number) < 1e21) {
    throw new ToolError(`${argument}: has a number with more digits than can be sent exactly`);
  }
}
