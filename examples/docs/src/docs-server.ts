import { Completion, type Lifecycle, McpServer, Resource, type ResourceListing } from '@decorum/core';
import type { Plugin } from '@decorum/core/plugin';

import { PagePath } from './dto.js';
import { type Change, Library } from './library.js';
import { MARKDOWN, uriOf } from './page.js';
import { rank } from './rank.js';
import { ReadingPrompts } from './reading-prompts.js';
import { ReadingTools } from './reading-tools.js';
import { SearchIndex } from './search.js';

const INDEX = 'docs://index';

/** Serves the Markdown files of a folder as resources. Its providers add tools and prompts. */
export class DocsServer extends McpServer implements Lifecycle {
  readonly #library: Library;
  readonly #index: SearchIndex;

  /** @param plugins what else is served */
  constructor(folder: string, plugins: readonly Plugin[] = []) {
    const library = new Library(folder);
    const index = new SearchIndex();
    super({
      name: 'decorum-docs',
      title: 'Documentation',
      version: '1.0.0',
      instructions: `Answers from the documentation. Search first, then read the sections that were found. ${INDEX} lists all pages.`,
      providers: [new ReadingTools(library, index), new ReadingPrompts(library, index)],
      plugins,
    });
    this.#library = library;
    this.#index = index;
  }

  @Resource(INDEX, { title: 'All pages', mimeType: MARKDOWN, annotations: { priority: 1 } })
  contents(): string {
    return this.#library.pages.map(({ path, title }) => `- [${title}](${uriOf(path)})\n`).join('');
  }

  @Resource('docs://{+path}', { title: 'A page', mimeType: MARKDOWN, list: 'pages' })
  page({ path }: PagePath): string | undefined {
    return this.#library.page(path)?.text;
  }

  pages(): ResourceListing[] {
    return this.#library.pages.map(({ path, title, size, modified }) => ({
      variables: { path },
      name: path,
      title,
      size,
      annotations: { lastModified: modified },
    }));
  }

  @Completion({ for: 'page', argument: 'path' })
  paths(typed: string): string[] {
    return rank(typed, this.#library.paths);
  }

  async onStart(): Promise<void> {
    await this.#library.open({ changed: (change) => this.#follow(change), failed: (error) => console.error(error) });
  }

  async onClose(): Promise<void> {
    await this.#library.close();
  }

  #follow(change: Change): void {
    const { path, before, after } = change;
    this.#index.update(change);
    this.notify.resourceUpdated(uriOf(path));
    if (before?.title === after?.title) return;
    this.notify.resourceUpdated(INDEX);
    this.notify.resourcesChanged();
  }
}
