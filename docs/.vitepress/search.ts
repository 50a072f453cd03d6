/** What the search finds first, and what it leaves out. */
import { relative } from 'node:path/posix';

import type { DefaultTheme, MarkdownEnv } from 'vitepress';

import { DOCS, PACKAGES } from './pages.js';

/**
 * Headings that every page of a package has. They say nothing of what is below them, so a search for "variables" would
 * lead to dozens of lists.
 */
const GENERIC =
  /^#{2,6} (?:Accessors|Call Signature|Classes|Constructors?|Enumerations|Events|Examples?|Exten(?:ds|ded by)|Functions|Get Signature|Implement(?:s|ation of)|Inherited from|Interfaces|Methods|Overrides|Parameters|Properties|Returns|See|Throws|Type (?:Aliases|Declaration|Parameters)|Variables)$/gm;

interface Renderer {
  render(source: string, env: MarkdownEnv): string;
}

/** The text of a page for the search: the parts of a member belong to the member. */
function renderForSearch(source: string, env: MarkdownEnv, md: Renderer): string {
  const page = relative(DOCS, env.path);
  const text = page.startsWith(PACKAGES) ? source.replaceAll(GENERIC, '') : source;
  return md.render(text, env);
}

/**
 * Explanations come before what looks things up. The browser evaluates this function, so it must not use anything outside
 * of it.
 */
function boostDocument(address: string): number {
  if (address.includes('/reference/packages/')) return 0.15;
  if (address.includes('/protocol/')) return 0.2;
  return /\/(?:start|guides)\//.test(address) ? 1.3 : 1;
}

export const search: DefaultTheme.LocalSearchOptions = {
  _render: renderForSearch,
  miniSearch: { searchOptions: { boostDocument, fuzzy: 0.1 } },
};
