import { beforeEach, describe, expect, it } from '@jest/globals';

import { parsePage } from '../src/page.js';
import { SearchIndex } from '../src/search.js';
import { START } from './folder.js';

const pageOf = (path: string, text: string) => parsePage({ path, text, size: 0, modified: '' });
const start = pageOf('start.md', START);
const long = pageOf(
  'long.md',
  `# Long\n\n${'filler '.repeat(200)}\nthe needle lies in a haystack\n${'filler '.repeat(200)}`,
);

describe('The search index', () => {
  let index: SearchIndex;
  beforeEach(() => {
    index = new SearchIndex();
    for (const page of [start, long]) index.update({ path: page.path, before: undefined, after: page });
  });

  const sections = (query: string) => index.search(query, 10).hits.map(({ section }) => section);

  it('ranks matches in headings before matches in the text', () => {
    expect(sections('session timeout')[0]).toBe('session-timeout');
    expect(sections('timeout')).toEqual(expect.arrayContaining(['session-timeout', 'changing-the-timeout']));
  });

  it('tolerates typos and matches prefixes', () => {
    expect(sections('sesion timout')[0]).toBe('session-timeout');
    expect(sections('instal')[0]).toBe('install-the-server');
  });

  it('falls back to partial matches if no section has all words', () => {
    expect(sections('needle session')).toEqual(expect.arrayContaining(['long', 'session-timeout']));
  });

  it('shows the part of the text with the words', () => {
    const snippet = index.search('needle haystack', 1).hits[0]?.snippet ?? '';
    expect(snippet).toMatch(/^… .*needle lies in a haystack.* …$/);
    expect(snippet.length).toBeLessThan(260);
  });

  it('counts all matches and returns up to the limit', () => {
    const { total, hits } = index.search('timeout', 1);
    expect(total).toBeGreaterThan(1);
    expect(hits).toHaveLength(1);
  });

  it('finds nothing in an empty index', () => {
    expect(index.search('xylophone', 10)).toEqual({ total: 0, hits: [] });
    expect(index.search('??? …', 10)).toEqual({ total: 0, hits: [] });
  });

  it('forgets deleted pages', () => {
    index.update({ path: start.path, before: start, after: pageOf('start.md', '# Other') });
    expect(sections('session timeout')).toEqual([]);
    expect(sections('other')).toEqual(['other']);
  });
});
