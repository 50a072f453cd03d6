import { circularAdvice } from './circular.js';
import { pathsAdvice } from './paths.js';

/** Where an error comes from. */
interface Origin {
  /** Absolute path of the file that threw it. */
  readonly file: string | undefined;
  /** The files of the program that are known. */
  readonly sources: Iterable<string>;
}

/** An error's message and, if Node.js names only the symptom, what to change. */
export function advised(message: string, { file, sources }: Origin): string {
  const advice = pathsAdvice(message) ?? (file && circularAdvice(message, file, sources));
  // the rest of a message is the stack of `require`
  return advice ? `${message.split('\n')[0]}. ${advice}` : message;
}
