import { expect, it } from '@jest/globals';

import { link } from '../../src/index.js';

it('names a link after its URI where an option called name has no value', () => {
  const title: { name?: string; title: string } = JSON.parse('{"title":"A"}');
  expect(link('x://a', { ...title, ...({ name: undefined } as object) })).toMatchObject({ name: 'x://a', title: 'A' });
});
