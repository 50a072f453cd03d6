import { Completion, embedded, McpError, Prompt } from '@decorum/core';

import { PagePath, Topic } from './dto.js';
import type { Library } from './library.js';
import { MARKDOWN, type Page, uriOf } from './page.js';
import { rank } from './rank.js';
import type { SearchIndex } from './search.js';

/** Cap on the pages in an explanation. */
const SOURCES = 3;

const attach = ({ path, text }: Page) => embedded({ uri: uriOf(path), mimeType: MARKDOWN, data: text });

/** Prompts for users. They embed the pages. */
export class ReadingPrompts {
  constructor(
    private readonly library: Library,
    private readonly index: SearchIndex,
  ) {}

  @Prompt({ title: 'Explain', description: 'Explains a topic from the most relevant pages' })
  explain({ topic }: Topic) {
    const paths = new Set(this.index.search(topic, 50).hits.map(({ path }) => path));
    const pages = [...paths].slice(0, SOURCES).flatMap((path) => this.library.page(path) ?? []);
    if (pages.length === 0)
      return `The documentation says nothing about "${topic}". Say so, and ask me for other words.`;
    const task = `Explain "${topic}" to me. Use only the pages below, and name those that you used.`;
    return [task, ...pages.map(attach)];
  }

  @Prompt({ title: 'Summarise', description: 'Summarises one page' })
  summarise({ path }: PagePath) {
    const page = this.library.page(path);
    if (!page) throw new McpError('invalid-params', `There is no page "${path}".`);
    return [`Summarise "${page.title}" in five sentences.`, attach(page)];
  }

  @Completion({ for: 'explain', argument: 'topic' })
  topics(typed: string) {
    const headings = this.library.pages.flatMap(({ sections }) => sections.map(({ heading }) => heading));
    return rank(typed, [...new Set(headings)].filter(Boolean));
  }

  @Completion({ for: 'summarise', argument: 'path' })
  paths(typed: string) {
    return rank(typed, this.library.paths);
  }
}
