// The tables of options that are written from the doc comments.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { membersOfTypes, pagesWithTables, withTables } from '../../scripts/docs/tables.js';
import { ROOT } from '../architecture/source.js';

describe('the tables with the mark of `npm run docs:tables`', () => {
  const membersOf = membersOfTypes();
  const pages = pagesWithTables().map((page) => relative(ROOT, page));

  it.each(pages)('say what the doc comments say: %s', (page) => {
    const text = readFileSync(`${ROOT}/${page}`, 'utf8');
    // if this fails, run `npm run build && npm run docs:tables`
    expect(text).toBe(withTables(text, membersOf));
  });

  it('are those of the reference', () => {
    expect(pages).toEqual(expect.arrayContaining(['docs/reference/decorators.md', 'docs/reference/mcp-server.md']));
  });
});

describe('a table of options', () => {
  const page = `Type: \`ShopOptions\`
<!-- npm run docs:tables -->

| option | type | default | what it does | more |
|---|---|---|---|---|
| \`gone\` | \`string\` |  | It was there. | [Old](old.md) |
| \`open\` | \`string\` |  | Outdated. | [Hours](hours.md) |
`;
  const open = { name: 'open', type: "'day' | 'night'", initial: '`day`', text: 'When it is open.' };
  const name = { name: 'name', type: 'string', initial: 'required', text: 'The name of the shop.' };

  it('is written anew, and keeps its links', () => {
    expect(withTables(page, () => [name, open])).toBe(`Type: \`ShopOptions\`
<!-- npm run docs:tables -->

| option | type | default | what it does | more |
|---|---|---|---|---|
| \`name\` | \`string\` | required | The name of the shop. | |
| \`open\` | \`'day' \\| 'night'\` | \`day\` | When it is open. | [Hours](hours.md) |
`);
  });

  it('leaves out what another table has', () => {
    const besides = page.replace('Type:', 'All of `PlaceOptions`, plus these. Type:');
    expect(withTables(besides, (type) => (type === 'PlaceOptions' ? [open] : [name, open]))).not.toContain('When');
  });
});
