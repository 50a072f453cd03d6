import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path/posix';

import type { MarkdownRenderer } from 'vitepress';

import { DOCS, PACKAGES, REPOSITORY, ROOT, urlOf } from './pages.js';

type Token = ReturnType<MarkdownRenderer['parse']>[number];

/** The anchor of a heading, as on GitHub: links work in both places. */
export function slugOf(heading: string): string {
  const text = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, '');
  return text.trim().replaceAll(/\s/g, '-');
}

/** Where a link of a page leads: a page of the site, a file of the repository, or elsewhere. */
export type Target =
  | { readonly kind: 'page'; readonly page: string; readonly hash: string }
  | { readonly kind: 'file'; readonly path: string; readonly hash: string }
  | { readonly kind: 'other' };

/**
 * Resolves a link.
 * @param page the page that has it, as a path in `docs/`
 * @param href as written
 */
export function targetOf(page: string, href: string): Target {
  if (/^(?:[a-z][a-z+.-]*:|#|\/)/i.test(href)) return { kind: 'other' };
  const [path = '', anchor] = href.split('#');
  const hash = anchor === undefined ? '' : `#${anchor}`;
  const target = join('docs', dirname(page), path);
  return target.startsWith('docs/') && target.endsWith('.md')
    ? { kind: 'page', page: target.slice('docs/'.length), hash }
    : { kind: 'file', path: target, hash };
}

/** The URL of a file of the repository, or undefined while the repository has none. */
export function repositoryLink(path: string, hash: string): string | undefined {
  if (REPOSITORY === undefined) return undefined;
  const file = join(ROOT, path);
  const kind = existsSync(file) && statSync(file).isDirectory() ? 'tree' : 'blob';
  return `${REPOSITORY}/${kind}/main/${path.replace(/\/$/, '')}${hash}`;
}

/**
 * Makes the links of pages work on the site, and links the first mention of what a package exports to its reference.
 */
export function rewriteLinks(md: MarkdownRenderer): void {
  const names = exportedNames();
  md.core.ruler.push('decorum-links', (state) => {
    // `path` is where the page is on the site; only the search leaves out `realPath`, and has the source in `path`
    const { path = '', realPath = path } = state.env as { path?: string; realPath?: string };
    const page = relative(DOCS, realPath);
    const mentioned = new Set<string>();
    for (const block of state.tokens) {
      if (block.type !== 'inline' || block.children === null) continue;
      const linked = linksOf(page, block.children);
      block.children = page.startsWith(PACKAGES) ? linked : mentionsOf(linked, { names, mentioned });
    }
  });
}

/** The tokens of a paragraph, with links that work on the site. */
function linksOf(page: string, tokens: readonly Token[]): Token[] {
  let dropped = false;
  return tokens.filter((token) => {
    if (token.type === 'link_close' && dropped) return (dropped = false);
    if (token.type !== 'link_open') return true;
    const target = targetOf(page, token.attrGet('href') ?? '');
    if (target.kind === 'page') token.attrSet('href', `${urlOf(target.page)}${target.hash}`);
    if (target.kind !== 'file') return true;
    const url = repositoryLink(target.path, target.hash);
    dropped = url === undefined;
    if (url !== undefined) token.attrSet('href', url);
    return url !== undefined;
  });
}

/** Links names in code to the reference, unless they are linked already or were mentioned before. */
function mentionsOf(
  tokens: readonly Token[],
  { names, mentioned }: { names: ReadonlyMap<string, string>; mentioned: Set<string> },
): Token[] {
  let inLink = false;
  return tokens.flatMap((token) => {
    if (token.type === 'link_open') inLink = true;
    if (token.type === 'link_close') inLink = false;
    const name =
      token.type === 'code_inline' && !inLink ? token.content.replace(/(?:\(\)|(?:<.*>)?(?:\[\])?)$/, '') : '';
    const url = mentioned.has(name) ? undefined : (names.get(name) ?? names.get(name.replace(/^@/, '')));
    if (url === undefined) return [token];
    mentioned.add(name);
    const Kind = token.constructor as new (type: string, tag: string, nesting: -1 | 0 | 1) => Token;
    const open = new Kind('link_open', 'a', 1);
    open.attrSet('href', url);
    return [open, token, new Kind('link_close', 'a', -1)];
  });
}

/** Shows the name of the file that a block of code is, as in `ts file=src/main.ts`, instead of its language. */
export function nameFiles(md: MarkdownRenderer): void {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (...args) => {
    const [tokens, index] = args;
    const html = fence?.(...args) ?? '';
    const file = /\bfile=(\S+)/.exec(tokens[index]?.info ?? '')?.[1];
    if (file === undefined) return html;
    return html.replace(/(<span class="lang">)[^<]*/, (_found, open: string) => `${open}${md.utils.escapeHtml(file)}`);
  };
}

/** The URL of each name that a package exports, as `npm run docs` has found them; none before its first run. */
function exportedNames(): Map<string, string> {
  const file = join(DOCS, PACKAGES, 'names.json');
  return new Map(
    existsSync(file) ? Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : [],
  );
}
