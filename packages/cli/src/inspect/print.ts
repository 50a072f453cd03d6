import { EXIT, plainText } from 'create-decorum';

import type { Answer } from './answer.js';
import { saveMedia } from './save.js';

/** Prints a line beside the result. */
export const say = (text: string): void => void process.stderr.write(`${plainText(text)}\n`);

const escaped = (text: string): string =>
  text.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** JSON without characters that a terminal obeys. */
export const jsonText = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replaceAll(/[\u007f-\u009f\p{Cf}\u2028\u2029]/gu, escaped);

/** How to print an answer. */
export interface PrintOptions {
  readonly json: boolean;
  /** Where to save images, audio and bytes. */
  readonly save: string | undefined;
}

/**
 * Prints an answer, and sets the exit code.
 * @throws {CommandFailure} if something can't be saved
 */
export function printAnswer({ json, text, media = [], isError = false }: Answer, options: PrintOptions): void {
  if (options.json) process.stdout.write(`${jsonText(json, 2)}\n`);
  else if (isError) say(text);
  else if (text !== '') process.stdout.write(`${plainText(text)}\n`);
  if (isError) process.exitCode = EXIT.toolError;
  if (options.save === undefined) return;
  const files = saveMedia(media, options.save);
  say(files.length === 0 ? 'There is nothing to save: no image, audio or bytes.' : `Saved ${files.join(', ')}`);
}
