import { dirname } from 'node:path';

import { compilerFor } from '../build/tsc.js';
import { projectOf } from '../loader/project.js';
import { findMistakes } from './mistakes.js';

/** A warning of a mistake in the source. */
export interface Warning {
  /** What is wrong, and what to change. It stays the same if the code moves. */
  readonly text: string;
  /** The text with the file, line and column. */
  readonly line: string;
}

/** Whether a file is in a project that TypeScript checks. Without types, nothing promises more than the rules. */
function isChecked(file: string): boolean {
  const tsconfig = projectOf(file).file;
  return tsconfig !== undefined && compilerFor(dirname(tsconfig)) !== undefined;
}

/** The warnings about some files and all files that they import. Never throws: a command must not fail because of it. */
export function warningsOf(files: readonly string[]): Warning[] {
  try {
    const mistakes = findMistakes(files.filter(isChecked));
    return mistakes.map(({ place, text }) => ({ text, line: `${place}  warning: ${text}` }));
  } catch (error) {
    const text = `The source was not checked: ${String(error)}`;
    return [{ text, line: text }];
  }
}
