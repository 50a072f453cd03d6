import { readdirSync, readFileSync } from 'node:fs';

import { newestOf, revisionOf } from '@decorum/core/internal';
import { describe, expect, it } from '@jest/globals';

import { messagesOf, replay } from './conversation.js';
import { weatherServer } from './weather-server.js';

const REVISIONS = readdirSync(new URL('../../docs/revisions/', import.meta.url)).map((file) => file.replace('.md', ''));

const read = (page: string): string => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');

describe.each(REVISIONS)('docs/revisions/%s.md', (revision) => {
  const page = read(`revisions/${revision}.md`);

  it('shows the actual messages of the server', async () => {
    // if this fails, fix the page, or the code if the page is right
    await replay(messagesOf(page), weatherServer());
  });

  it('names the sender of every message', () => {
    expect(page.match(/^```json(?! (?:client|server)$).*$/gm)).toBeNull();
    expect(messagesOf(page).length).toBeGreaterThan(10);
  });

  it('is linked from the overview', () => {
    expect(read('revisions.md')).toContain(`](revisions/${revision}.md)`);
  });
});

describe('docs/revisions', () => {
  it('has a page for every supported revision', () => {
    expect(REVISIONS.filter((date) => revisionOf(date) === undefined)).toEqual([]);
    expect(REVISIONS).toHaveLength(newestOf('stateless').rank + 1);
  });
});
