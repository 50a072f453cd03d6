import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { expectNone, filesUnder, ROOT } from '../architecture/source.js';
import { PAGES, textOf } from './blocks.js';

const PICTURES = filesUnder('docs/pictures', '.svg');
/** Pictures in pages, with what they say to those who can't see them. */
const SHOWN = PAGES.flatMap((page) =>
  [...textOf(page).matchAll(/!\[(.*?)\]\((\S+?)\)/g)].map(([, says = '', file = '']) => ({
    page,
    says,
    file: join(page, '..', file),
  })),
);

describe('pictures', () => {
  it('are drawn from the figures and words of today', () => {
    expect(execFileSync(process.execPath, ['scripts/pictures.js', '--check'], { cwd: ROOT, encoding: 'utf8' })).toBe(
      '',
    );
  });

  it('stand on a page, with words for those who cannot see them', () => {
    const files = SHOWN.map(({ file }) => file);
    expectNone(
      'Show it, or delete it.',
      PICTURES.filter((file) => !files.includes(file)),
    );
    expectNone(
      'Say what there is to see.',
      SHOWN.filter(({ says }) => says.length < 20).map(({ page }) => page),
    );
  });
});
