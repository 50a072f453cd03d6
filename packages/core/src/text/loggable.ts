import { inspect } from 'node:util';

/**
 * The JSON form of a value, without stack traces and local directories. Never throws: a value that JSON cannot
 * represent becomes text, formatted by Node's `inspect`.
 */
export function loggable(data: unknown): unknown {
  try {
    const json = JSON.stringify(data, errorsAsText);
    // parse this JSON, because toJSON may return something else the next time
    if (json !== undefined) return JSON.parse(json);
  } catch {
    // a cycle, a bigint, or a property that throws
  }
  return withoutInternals(inspect(data));
}

/** Errors serialize as `{}`, and an error's own `toJSON` may reveal more than clients should see. */
function errorsAsText(this: unknown, key: string, item: unknown): unknown {
  const value = (this as Record<string, unknown>)[key];
  // JSON would have null
  if (typeof item === 'number' && !Number.isFinite(item)) return String(item);
  return value instanceof Error ? withoutInternals(`${value.name}: ${value.message}`) : item;
}

const STACK_FRAME = /\n\s+at [^\n]*/g;

/** The directories of an absolute path, on POSIX and Windows, including `file:` URLs. */
const FOLDERS = /(?:file:\/\/|(?<![\w.@+~:/\\-]))(?:[A-Za-z]:)?[\\/](?:[\w.@+-]+[\\/])+(?=[\w.@+-])/g;

/** Removes stack frames and directories, which would only help an attacker. */
const withoutInternals = (text: string): string => text.replace(STACK_FRAME, '').replace(FOLDERS, '');
