import { join } from 'node:path';

import { type DefaultTheme, defineConfigWithTheme } from 'vitepress';

import { accessibleTheme } from './accessible-theme.js';
import { writeFiles } from './files.js';
import { nameFiles, rewriteLinks, slugOf } from './markdown.js';
import { DOCS, packagePages, PACKAGES, REPOSITORY, ROOT, titleOf, urlOf, VERSION } from './pages.js';
import { search } from './search.js';
import { pagesOf, SECTIONS } from './sidebar.js';

/** The path under which the site is served, such as `/decorum/`. */
const base = process.env['DOCS_BASE'] ?? '/';

const itemOf = (page: string): DefaultTheme.SidebarItem => ({ text: titleOf(page), link: urlOf(page) });

const sidebar = SECTIONS.map((section): DefaultTheme.SidebarItem => {
  const items = pagesOf(section).map((page) => itemOf(`${page}.md`));
  const packages = section.folder === 'reference' ? packagePages() : [];
  if (packages.length > 0)
    items.push({ ...itemOf(`${PACKAGES}/index.md`), collapsed: true, items: packages.map(itemOf) });
  return { text: section.title, collapsed: section.folder !== 'start', items };
});

const nav = SECTIONS.map((section) => ({
  text: section.title,
  link: urlOf(`${pagesOf(section)[0]}.md`),
  activeMatch: `^/${section.folder}/`,
}));

/** A drawn letter, so that browsers don't ask for `/favicon.ico`. */
const ICON =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='6' fill='%231f5f8b'/>" +
  "<path d='M10 7h6a9 9 0 0 1 0 18h-6z' fill='none' stroke='white' stroke-width='4'/></svg>";

export default defineConfigWithTheme<DefaultTheme.Config & { version: string }>({
  lang: 'en',
  title: 'Decorum',
  description: 'A TypeScript framework for MCP servers',
  base,
  outDir: process.env['DOCS_OUT'] ?? join(ROOT, '.site'),
  cacheDir: join(DOCS, '.vitepress/cache'),
  cleanUrls: true,
  rewrites: (page: string) => page.replace(/(^|\/)(?!index\.md$)([^/]+)\.md$/, '$1$2/index.md'),
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${ICON}` }]],
  vite: { plugins: [accessibleTheme] },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: slugOf },
    headers: { slugify: slugOf },
    config: (md) => {
      rewriteLinks(md);
      nameFiles(md);
    },
  },
  themeConfig: {
    version: VERSION,
    nav,
    sidebar,
    outline: [2, 3],
    search: { provider: 'local', options: search },
    externalLinkIcon: true,
    ...(REPOSITORY === undefined
      ? {}
      : { editLink: { pattern: `${REPOSITORY}/edit/main/docs/:path`, text: 'Edit this page' } }),
  },
  transformPageData: ({ relativePath }) =>
    relativePath === 'index.md' ? { frontmatter: { pageClass: 'front', sidebar: false, aside: false } } : undefined,
  buildEnd: ({ outDir, pages }) => writeFiles(outDir, pages),
});
