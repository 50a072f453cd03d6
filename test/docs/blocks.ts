// The code blocks of the documentation.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { filesUnder, PACKAGES, ROOT } from '../architecture/source.js';

/** A fenced code block of a page. */
export interface Block {
  readonly page: string;
  /** The number of its first line of code in the page, counted from 1. */
  readonly line: number;
  /** The first word after the fence. */
  readonly language: string;
  /** The file name that the page gives: `ts file=src/main.ts`. */
  readonly file: string | undefined;
  readonly text: string;
  /** The headings above it, the outermost first. */
  readonly section: readonly string[];
}

/** Every page whose code is checked. */
export const PAGES: readonly string[] = [
  'README.md',
  ...filesUnder('docs', '.md'),
  ...filesUnder('skills', '.md'),
  ...PACKAGES.map((name) => `packages/${name}/README.md`),
];

/** The text of a page. */
export const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

/** The code blocks of a page, in order. They may be indented, as in a list. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  const section: string[] = [];
  let open: { indent: string; language: string; info: string; line: number; code: string[] } | undefined;
  for (const [index, text] of textOf(page).split('\n').entries()) {
    const [, indent = '', language = '', info = ''] = /^( *)```(\w*) ?(.*)$/.exec(text) ?? [];
    const isFence = /^ *```/.test(text);
    const [, level, title] = /^(#+) (.+)$/.exec(text) ?? [];
    if (open === undefined && isFence) open = { indent, language, info, line: index + 2, code: [] };
    else if (open !== undefined && isFence) {
      const { line, code } = open;
      const file = /file=(\S+)/.exec(open.info)?.[1];
      const lines = code.map(
        (each) => `${each.startsWith(open?.indent ?? '') ? each.slice(open?.indent.length) : each}\n`,
      );
      blocks.push({ page, line, language: open.language, file, text: lines.join(''), section: [...section] });
      open = undefined;
    } else if (open !== undefined) open.code.push(text);
    else if (level !== undefined && title !== undefined) {
      section.length = Math.min(section.length, level.length - 1);
      while (section.length < level.length - 1) section.push('');
      section.push(title);
    }
  }
  return blocks;
}
