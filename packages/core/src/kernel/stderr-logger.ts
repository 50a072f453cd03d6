import { inspect } from 'node:util';

import type { Logger } from './logger.js';

// not JSON: errors have causes, and any value may be thrown
const inOneLine = (details: object) => inspect(details, { breakLength: Infinity, depth: 6 });

/** Cap on the characters of a log entry. An error may quote a client's entire message. */
const MAX_ENTRY_CHARS = 16_384;

/**
 * Characters that a terminal or viewer would act on, except line feeds and tabs: controls, line separators, and
 * characters that change the text direction (Unicode Bidirectional Algorithm).
 */
// oxlint-disable-next-line no-control-regex -- matches control characters on purpose
const ACTIVE = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (active: string) => {
  const code = active.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`;
};

/** The text of an entry: escapes a text, and truncates it before and after: escaping may make it six times as long. */
export function entryOf(text: string): string {
  const shown = text.slice(0, MAX_ENTRY_CHARS).replaceAll(ACTIVE, escaped);
  return Math.max(text.length, shown.length) > MAX_ENTRY_CHARS ? `${shown.slice(0, MAX_ENTRY_CHARS)}…` : shown;
}

/** Formats details for people: the error below its message, with its stack. */
function readable({ err, ...details }: { readonly err?: unknown }): string {
  const known = Object.keys(details).length > 0 ? inspect(details, { breakLength: Infinity }) : '';
  const stack = err === undefined ? '' : `\n${inspect(err)}`;
  return (known + stack).replaceAll('\r\n', '\n');
}

function write(level: string, [details, message]: readonly [details: object, message: string], isLong: boolean): void {
  const text = `${level} ${message} ${isLong ? readable(details) : inOneLine(details)}`;
  process.stderr.write(`${entryOf(isLong ? text : text.replaceAll('\n', '\\n'))}\n`);
}

const loggerTo = (isLong: () => boolean): Logger => ({
  warn: (...entry) => write('warn', entry, isLong()),
  error: (...entry) => write('error', entry, isLong()),
});

/** Logs to stderr, one line per event; on a terminal, with the stack traces of errors. */
export const STDERR_LOGGER = loggerTo(() => process.stderr.isTTY);

/** The same, always with stack traces, for the output of tests. */
export const LONG_STDERR_LOGGER = loggerTo(() => true);
