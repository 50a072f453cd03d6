// The links of the built site, as `npm run docs -- --check` sees them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, describe, expect, it } from '@jest/globals';

import { deadLinks } from '../../scripts/docs/links.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The dead links of a site with a front page, a page about tasks, and their Markdown. */
function deadLinksOf(link: string, markdown = ''): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'decorum-links-'));
  folders.push(folder);
  const files = {
    'index.html': `<main><a class="link" href="${link}">Tasks</a></main>`,
    'guides/tasks/index.html': '<h2 id="stores">Stores</h2>',
    'guides/tasks.md': `# Tasks\n\n${markdown}\n`,
    'llms.txt': '- [Tasks](guides/tasks.md)\n',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return deadLinks(folder, '/decorum/');
}

describe('a link of the built site', () => {
  it.each([
    '/decorum/guides/tasks/',
    '/decorum/guides/tasks/#stores',
    'guides/tasks/',
    '#',
    'https://example.com/none',
  ])('to %s is fine', (link) => expect(deadLinksOf(link)).toEqual([]));

  it.each([
    ['/decorum/guides/none/', 'leads nowhere'],
    ['/decorum/guides/tasks', 'leads nowhere'],
    ['/decorum/guides/tasks/#gone', 'names no heading'],
    ['/guides/tasks/', 'is outside of the site'],
  ])('to %s %s', (link, problem) => {
    expect(deadLinksOf(link)).toEqual([`index.html: ${link} ${problem}`]);
  });

  it('is found in the Markdown of a page, but not in its code', () => {
    const markdown = '[Gone](gone.md), `[code](none.md)`';
    expect(deadLinksOf('#', markdown)).toEqual(['guides/tasks.md: gone.md leads nowhere']);
  });
});
