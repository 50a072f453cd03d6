// The order of the pages on the site, and what leads from old addresses to new ones. `npm run docs -- --check` looks at the
// built site.
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { nameFiles, slugOf, targetOf } from '../../docs/.vitepress/markdown.js';
import { DOCS, urlOf } from '../../docs/.vitepress/pages.js';
import { REDIRECTS } from '../../docs/.vitepress/redirects.js';
import { search } from '../../docs/.vitepress/search.js';
import { pagesOf, SECTIONS } from '../../docs/.vitepress/sidebar.js';
import { expectNone, filesUnder } from '../architecture/source.js';

const PAGES = filesUnder('docs', '.md').map((page) => page.slice('docs/'.length));
const LISTED = SECTIONS.flatMap(pagesOf).map((page) => `${page}.md`);

describe('the sidebar', () => {
  it('has every page, and each once', () => {
    const orphans = PAGES.filter((page) => page !== 'index.md' && !LISTED.includes(page));
    expectNone('Add the page to docs/.vitepress/sidebar.ts, where a reader looks for it.', orphans);
    expect(new Set(LISTED).size).toBe(LISTED.length);
  });

  it('has no page that does not exist', () => {
    expectNone(
      'Delete the line from docs/.vitepress/sidebar.ts, and add the page to redirects.ts.',
      LISTED.filter((page) => !PAGES.includes(page)),
    );
  });
});

describe('the redirects', () => {
  it('lead to pages, and hide none', () => {
    const urls = new Set(PAGES.map(urlOf));
    const wrong = Object.entries(REDIRECTS).filter(([from, to]) => urls.has(urlOf(from)) || !PAGES.includes(to));
    expectNone(
      'Correct docs/.vitepress/redirects.ts.',
      wrong.map(([from, to]) => `${from} → ${to}`),
    );
    expect(Object.keys(REDIRECTS).length).toBeGreaterThan(40);
  });
});

describe('links of pages', () => {
  it.each([
    ['tasks.md', { kind: 'page', page: 'guides/tasks.md', hash: '' }],
    ['../reference/index.md#members', { kind: 'page', page: 'reference/index.md', hash: '#members' }],
    ['../../examples/docs/src/main.ts', { kind: 'file', path: 'examples/docs/src/main.ts', hash: '' }],
    ['../../README.md#install', { kind: 'file', path: 'README.md', hash: '#install' }],
    ['#errors', { kind: 'other' }],
    ['https://example.com/tasks.md', { kind: 'other' }],
  ])('to %s lead to a page, a file of the repository, or elsewhere', (href, target) => {
    expect(targetOf('guides/handlers.md', href)).toEqual(target);
  });

  it.each([
    ['reference/index.md', '/reference/'],
    ['guides/tasks.md', '/guides/tasks/'],
    ['index.md', '/'],
  ])('to %s have an address that every static host serves', (page, url) => {
    expect(urlOf(page)).toBe(url);
  });

  it('name headings as on GitHub', () => {
    expect(slugOf('`ctx.memory`: what, when & how')).toBe('ctxmemory-what-when--how');
  });
});

describe('blocks of code', () => {
  const htmlOf = (info: string) => {
    const rules: Record<string, (...args: never[]) => string> = { fence: () => '<span class="lang">ts</span><pre>' };
    const md = { renderer: { rules }, utils: { escapeHtml: (text: string) => text } };
    nameFiles(md as never);
    return rules['fence']?.(...([[{ info }], 0, {}, {}, {}] as never[]));
  };

  it('show the name of their file, and others their language', () => {
    expect(htmlOf('ts file=src/bank.ts')).toBe('<span class="lang">src/bank.ts</span><pre>');
    expect(htmlOf('ts')).toBe('<span class="lang">ts</span><pre>');
  });
});

// `npm run docs -- --check` asks the search of the built site
describe('the search', () => {
  const { _render, miniSearch } = search;
  const textOf = async (page: string, source: string) =>
    await _render?.(source, { path: join(DOCS, page) } as never, { render: (text: string) => text } as never);

  it('has the parts of a member under the member, and the headings of pages as they are', async () => {
    const source = '## Variables\n\n### PORT\n\n#### Example\n\n`1`\n';
    expect(await textOf('reference/packages/core.md', source)).toBe('\n\n### PORT\n\n\n\n`1`\n');
    expect(await textOf('reference/publish.md', source)).toBe(source);
  });

  it('finds guides first, and references of packages last', () => {
    const { boostDocument } = (miniSearch?.searchOptions ?? {}) as { boostDocument: (address: string) => number };
    const pages = [
      '/base/guides/tasks/',
      '/operate/docker/',
      '/protocol/2025-06-18/',
      '/reference/packages/core/#tool',
    ];
    const boosts = pages.map(boostDocument);
    expect(boosts).toEqual([...boosts].sort((a, b) => b - a));
    expect(new Set(boosts).size).toBe(pages.length);
  });
});
