import { expect, it } from '@jest/globals';

import { link } from '../../src/index.js';

it('names a link after its URI if the option `name` is undefined', () => {
  const title: { name?: string; title: string } = JSON.parse('{"title":"A"}');
  expect(link('x://a', { ...title, ...({ name: undefined } as object) })).toMatchObject({ name: 'x://a', title: 'A' });
});
