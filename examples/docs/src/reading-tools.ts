import { Tool, ToolError } from '@decorum/core';

import { PagePart, SearchQuery, SearchResult } from './dto.js';
import type { Library } from './library.js';
import { sectionText } from './page.js';
import { rank } from './rank.js';
import type { SearchIndex } from './search.js';

const annotations = { readOnlyHint: true, openWorldHint: false };

/** Tools for models. */
export class ReadingTools {
  constructor(
    private readonly library: Library,
    private readonly index: SearchIndex,
  ) {}

  @Tool({
    title: 'Search the documentation',
    description: 'Full-text search. Returns sections, best first, each with a snippet; read them with the tool "read".',
    annotations,
    output: SearchResult,
  })
  search({ query, limit }: SearchQuery): SearchResult {
    return this.index.search(query, limit);
  }

  @Tool({
    title: 'Read the documentation',
    description: 'Reads a page as Markdown, or one of its sections with all subsections.',
    annotations,
  })
  read({ path, section }: PagePart): string {
    const page = this.library.page(path);
    if (!page) throw new ToolError(`There is no page "${path}". ${this.#suggest(path)}`);
    if (!section) return page.text;
    const found = sectionText(page, section);
    if (found !== undefined) return found;
    const anchors = page.sections.map(({ anchor }) => anchor).filter(Boolean);
    throw new ToolError(`${path} has no section "${section}". It has: ${anchors.join(', ')}.`);
  }

  #suggest(path: string): string {
    const [nearest] = rank(path.replace(/^.*\/|\.md$/gi, ''), this.library.paths);
    return nearest ? `Did you mean "${nearest}"?` : 'The resource docs://index lists all pages.';
  }
}
