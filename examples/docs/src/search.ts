import MiniSearch from 'minisearch';

import type { SearchHit, SearchResult } from './dto.js';
import type { Change } from './library.js';
import { type Page, type Section, uriOf } from './page.js';

const SNIPPET_LENGTH = 240;

interface Entry extends Section {
  readonly id: string;
  readonly page: Page;
  readonly title: string;
}

/** Full-text search over the sections of all pages. */
export class SearchIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #index = new MiniSearch<Entry>({
    fields: ['title', 'heading', 'body'],
    searchOptions: {
      boost: { title: 2, heading: 4 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });

  update({ before, after }: Change): void {
    for (const { id } of before ? entriesOf(before) : []) {
      this.#index.discard(id);
      this.#entries.delete(id);
    }
    for (const entry of after ? entriesOf(after) : []) {
      this.#index.add(entry);
      this.#entries.set(entry.id, entry);
    }
  }

  /** Finds the best sections. Falls back to partial matches if no section has all words. */
  search(query: string, limit: number): SearchResult {
    const all = this.#index.search(query, { combineWith: 'AND' });
    const found = all.length > 0 ? all : this.#index.search(query);
    const hits = found.slice(0, limit).flatMap(({ id, terms }) => {
      const entry = this.#entries.get(id as string);
      return entry ? [hitOf(entry, terms)] : [];
    });
    return { total: found.length, hits };
  }
}

const entriesOf = (page: Page): Entry[] =>
  page.sections.map((section, index) => ({ ...section, id: `${page.path}#${index}`, page, title: page.title }));

function hitOf({ page, heading, anchor, body }: Entry, terms: readonly string[]): SearchHit {
  return {
    uri: uriOf(page.path),
    path: page.path,
    title: page.title,
    heading,
    section: anchor,
    snippet: snippetOf(body, terms),
  };
}

/** The part of a text with the most search terms. */
function snippetOf(body: string, terms: readonly string[]): string {
  const text = body.replace(/\s+/g, ' ');
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0);
  const near = (start: number) =>
    places.filter((place) => place >= start && place < start + SNIPPET_LENGTH * 0.8).length;
  const best = places.reduce((a, b) => (near(b) > near(a) ? b : a), places[0] ?? 0);
  const wanted = Math.max(0, best - SNIPPET_LENGTH * 0.2);
  const start = wanted === 0 ? 0 : text.indexOf(' ', wanted) + 1;
  const cut = start + SNIPPET_LENGTH < text.length ? text.lastIndexOf(' ', start + SNIPPET_LENGTH) : text.length;
  const end = cut > start ? cut : start + SNIPPET_LENGTH;
  return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`;
}
