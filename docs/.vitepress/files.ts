import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { repositoryLink, targetOf } from './markdown.js';
import { markdownOf, packagePages, titleOf, urlOf } from './pages.js';
import { REDIRECTS } from './redirects.js';
import { pagesOf, SECTIONS } from './sidebar.js';

/** Everything in the built site that isn't a page: the Markdown of each page, texts for models, and redirects. */
export function writeFiles(folder: string, pages: readonly string[]): void {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const page of pages) write(page, rawOf(page));
  write('llms.txt', contents());
  write(
    'llms-full.txt',
    ordered()
      .map((page) => `<!-- ${page} -->\n\n${rawOf(page).trim()}\n`)
      .join('\n'),
  );
  for (const [from, to] of Object.entries(REDIRECTS)) write(join(urlOf(from), 'index.html'), redirect(from, to));
}

/** All pages that are written by hand, in order. */
const ordered = (): string[] => ['index.md', ...SECTIONS.flatMap(pagesOf).map((page) => `${page}.md`)];

/** The Markdown of a page. Links to other pages work beside it; those to files of the repository are URLs, or text. */
function rawOf(page: string): string {
  const parts = markdownOf(page).split(/(^```[^]*?^```)/m);
  return parts.map((part) => (part.startsWith('```') ? part : part.replaceAll(LINK, link))).join('');

  function link(whole: string, text: string, href: string): string {
    const target = targetOf(page, href);
    if (target.kind !== 'file') return whole;
    const url = repositoryLink(target.path, target.hash);
    return url === undefined ? text : `[${text}](${url})`;
  }
}

const LINK = /\[((?:[^[\]]|\[[^[\]]*\])+)\]\(([^)\s]+)\)/g;

/** `llms.txt`: what there is to read, with the first sentence of each page. */
function contents(): string {
  const entry = (page: string): string => {
    const about = firstSentence(page);
    return `- [${titleOf(page)}](${page})${about === '' ? '' : `: ${about}`}`;
  };
  const sections = SECTIONS.map((section) =>
    [`## ${section.title}`, '', ...pagesOf(section).map((page) => entry(`${page}.md`))].join('\n'),
  );
  const packages = ['## Optional', '', ...packagePages().map((page) => `- [${titleOf(page)}](${page})`)].join('\n');
  const head = `# Decorum\n\n> ${firstSentence('index.md')}\n\nAll pages in one file: [llms-full.txt](llms-full.txt)`;
  return `${[head, ...sections, packages].join('\n\n')}\n`;
}

function firstSentence(page: string): string {
  const paragraphs = rawOf(page)
    .replaceAll(/^```[^]*?^```/gm, '')
    .split(/\n{2,}/);
  const prose = paragraphs.find((text) => /^[\p{L}`[*"“(]/u.test(text)) ?? '';
  const plain = prose.replaceAll(LINK, '$1').replaceAll(/\s+/g, ' ');
  return /^.*?[.:!?](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain;
}

/** A page that leads to another one, also to a heading of it. Relative, so it works under every base. */
function redirect(from: string, to: string): string {
  const up = urlOf(from)
    .replace(/^\//, '')
    .replaceAll(/[^/]+\//g, '../');
  const url = `${up}${urlOf(to).slice(1)}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Moved</title>
<meta http-equiv="refresh" content="0; url=${url}">
<link rel="canonical" href="${url}">
<script>location.replace('${url}' + location.hash)</script>
<p>This page is now <a href="${url}">${titleOf(to)}</a>.</p>
</html>
`;
}
