import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from '@jest/globals';

import { apiOf, entriesOfPackages } from '../../scripts/api.js';
import { expectNone, ROOT } from './source.js';

const PACKAGES = entriesOfPackages();

describe('the exports of a package', () => {
  it.each([...PACKAGES.keys()])('are listed in packages/%s/api.md', (name) => {
    const file = join(ROOT, 'packages', name, 'api.md');
    const listed = existsSync(file) ? readFileSync(file, 'utf8') : '';
    // if this fails, run `npm run build && npm run api`, and look at what changes for users
    expect(listed).toBe(apiOf(PACKAGES.get(name) ?? []));
  });

  it('have doc comments', () => {
    const bare = [...PACKAGES.values()]
      .flat()
      .flatMap(({ entry, exports }) => exports.filter(({ doc }) => doc === '').map(({ name }) => `${entry}: ${name}`));
    expectNone('Add a /** doc comment */ that tells the reader in one sentence what it is for.', bare);
  });
});
