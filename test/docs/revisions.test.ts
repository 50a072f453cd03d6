import { readdirSync, readFileSync } from 'node:fs';

import { newestOf, revisionOf } from '@decorum/core/internal';
import { describe, expect, it } from '@jest/globals';

import { messagesOf, replay } from './conversation.js';
import { weatherServer } from './weather-server.js';

const FOLDER = new URL('../../docs/protocol/', import.meta.url);
const REVISIONS = readdirSync(FOLDER).flatMap((file) => /^(\d.*)\.md$/.exec(file)?.[1] ?? []);

const read = (page: string): string => readFileSync(new URL(page, FOLDER), 'utf8');

describe.each(REVISIONS)('docs/protocol/%s.md', (revision) => {
  const page = read(`${revision}.md`);

  it('shows the actual messages of the server', async () => {
    // if this fails, fix the page, or the code if the page is right
    await replay(messagesOf(page), weatherServer());
  });

  it('names the sender of every message', () => {
    expect(page.match(/^```json(?! (?:client|server)$).*$/gm)).toBeNull();
    expect(messagesOf(page).length).toBeGreaterThan(10);
  });

  it('is linked from the overview', () => {
    expect(read('revisions.md')).toContain(`](${revision}.md)`);
  });
});

describe('docs/protocol', () => {
  it('has a page for every supported revision', () => {
    expect(REVISIONS.filter((date) => revisionOf(date) === undefined)).toEqual([]);
    expect(REVISIONS).toHaveLength(newestOf('stateless').rank + 1);
  });
});
