import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { filesUnder, ROOT } from '../architecture/source.js';

const PAGES = ['README.md', ...filesUnder('docs', '.md'), ...filesUnder('packages', 'README.md')];

const EXPLANATION = 'docs/revisions.md#sessions-and-stateless-requests';
const TERMS = /\b(?:sessions?|stateful|stateless|eras?)\b/i;

/** The prose of a page, by sections: without code, and without the targets of links. */
const sectionsOf = (page: string) =>
  readFileSync(join(ROOT, page), 'utf8')
    .replaceAll(/^```[^]*?^```/gm, '')
    .split(/^(?=#)/m)
    .map((text) => ({ text, prose: text.replaceAll(/`[^`\n]*`|\]\([^)]*\)/g, '') }));

/** Where a link of a page leads, from the root. */
const targetsIn = (page: string, text: string) =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) =>
    target.startsWith('#') ? `${page}${target}` : join(page, '..', target),
  );

describe('sessions and stateless requests', () => {
  it.each(PAGES)('are explained, or a link leads to the explanation, where %s first speaks of them', (page) => {
    const first = sectionsOf(page).find(({ prose }) => TERMS.test(prose));
    if (first !== undefined) expect(targetsIn(page, first.text)).toContain(EXPLANATION);
  });
});
