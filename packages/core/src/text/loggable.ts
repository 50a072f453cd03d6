import { inspect } from 'node:util';

/**
 * What JSON can say of a value, without stack traces and folders of this machine. Never throws: a value that JSON has no
 * text for is described.
 */
export function loggable(data: unknown): unknown {
  try {
    const json = JSON.stringify(data, errorsAsText);
    // what is sent is what was written: a value that writes itself differently the next time is not asked again
    if (json !== undefined) return JSON.parse(json);
  } catch {
    // a cycle, a bigint, or something that fails when it is read
  }
  return withoutInternals(inspect(data));
}

/** An error writes nothing of itself, or, where it is one of Node's or of a library, more than a client may see. */
function errorsAsText(this: unknown, key: string, item: unknown): unknown {
  const value = (this as Record<string, unknown>)[key];
  return value instanceof Error ? withoutInternals(`${value.name}: ${value.message}`) : item;
}

const STACK_FRAME = /\n\s+at [^\n]*/g;

/** The folders of an absolute path, on POSIX and Windows, also in a `file:` URL. */
const FOLDERS = /(?:file:\/\/|(?<![\w.@+~:/\\-]))(?:[A-Za-z]:)?[\\/](?:[\w.@+-]+[\\/])+(?=[\w.@+-])/g;

/** What a client can do without, and an attacker would like to know: where this runs. */
const withoutInternals = (text: string): string => text.replace(STACK_FRAME, '').replace(FOLDERS, '');
