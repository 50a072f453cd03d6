import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { CommandFailure, EXIT } from 'create-decorum';

import type { Change } from './compose.js';
import { shown } from './source.js';

/**
 * Writes all files, or none.
 * @throws {CommandFailure} if a file can't be written
 */
export function writeFiles(changes: readonly Change[]): void {
  const undo: (() => void)[] = [];
  // new files first: they can be undone without restoring anything
  const ordered = changes.toSorted((a, b) => Number(b.isNew) - Number(a.isNew));
  for (const { path, text, isNew } of ordered) {
    try {
      const created = isNew ? mkdirSync(dirname(path), { recursive: true }) : undefined;
      if (created !== undefined) undo.push(() => rmSync(created, { recursive: true }));
      // `wx` never overwrites
      writeFileSync(path, text, { flag: isNew ? 'wx' : 'w' });
      if (isNew) undo.push(() => rmSync(path));
    } catch (error) {
      for (const each of undo.reverse()) each();
      const reason = (error as Error).message;
      throw new CommandFailure(`${shown(path)} can't be written: ${reason}. Nothing was written.`, EXIT.environment);
    }
  }
}
