import { relative } from 'node:path';

/** A position in a source file. Lines and columns count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A syntax error in a source file. */
export interface SourceError extends SyntaxError, Place {
  /** The message without the position. */
  readonly reason: string;
  /** The lines around the mistake. */
  readonly frame: string;
}

/** Creates an error whose stack is only its position. It has no class, which would get lost between threads. */
export function sourceError(reason: string, source: string, place: Place): SourceError {
  const frame = frameOf(source, place);
  const error = new SyntaxError(`${printable(place)}  ${reason}\n\n${frame}`);
  error.stack = `SyntaxError: ${error.message}\n    at ${place.file}:${place.line}:${place.column}`;
  // not enumerable, or Node.js would print them below the frame
  for (const [name, value] of Object.entries({ ...place, frame, reason }))
    Object.defineProperty(error, name, { value });
  return error as SourceError;
}

/** Whether an error is a syntax error in a source file, as the loader throws it. */
export function isSourceError(error: unknown): error is SourceError {
  return error instanceof Error && 'frame' in error && 'reason' in error;
}

/** `src/weather.ts:14:3`, relative to the working directory if the file is inside it. */
export function printable({ file, line, column }: Place): string {
  const path = relative(process.cwd(), file);
  return `${path.startsWith('..') ? file : path}:${line}:${column}`;
}

/** The line and column of an offset in a text. */
export function placeAt(file: string, source: string, offset: number): Place {
  const before = source.slice(0, offset).split('\n');
  return { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Tabs and carriage returns would move the marker away from its column. */
const oneCell = (text: string) => text.replace(/[\t\r]/g, ' ');

function frameOf(source: string, { line, column }: Place): string {
  const lines = source.split('\n');
  const last = Math.min(lines.length, line + 1);
  const width = String(last).length;
  const frame: string[] = [];
  for (let number = Math.max(1, line - 2); number <= last; number += 1) {
    const text = oneCell(lines[number - 1] ?? '').trimEnd();
    frame.push(`${number === line ? '>' : ' '} ${String(number).padStart(width)} | ${text}`.trimEnd());
    if (number === line) frame.push(`  ${' '.repeat(width)} | ${' '.repeat(column - 1)}^`);
  }
  return frame.join('\n');
}
