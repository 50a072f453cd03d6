import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach } from '@jest/globals';

const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Writes files. Their folders are created. */
export function write(root: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

/** Creates a folder with files, which is removed after the test. */
export function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = mkdtempSync(join(tmpdir(), 'decorum-skills-'));
  made.push(root);
  write(root, files);
  return root;
}

/** The text of a `SKILL.md`. */
export const skillText = (name: string, more = ''): string =>
  `---\nname: ${name}\ndescription: What ${name} does\n${more}---\n\n# ${name}\n`;
