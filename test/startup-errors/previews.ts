import { Tool } from '@decorum/core';

import { decorated, type Mistakes, serverOf, start, untyped, wrong, type AnyDecorator } from './table.js';

const tool = untyped<AnyDecorator>(Tool);

/** A class whose tool `search` has these options, and the method `plan`. */
const previewed = (options: object) => {
  const Shop = decorated(tool({ input: { type: 'object' }, ...options }));
  Object.defineProperty(Shop.prototype, 'plan', { value: () => 'all' });
  return Shop;
};

const on = (options: object) => start(previewed(options))();

const WRITE = "Write `preview: 'plan'`, where `plan(input, ctx)` is a method of the class";

const WITH_TICKET = { type: 'object', properties: { ticket: { type: 'string' } } };

/** Previews that a tool can't have. */
export const PREVIEWS: Mistakes = {
  DECORUM_INVALID_OPTION: [
    ...wrong('@Tool({ preview: … })', (preview) => on({ preview }), [
      [['plam', 'toString', '__proto__'], `Shop.search: \`preview\` names ... , which is no method of Shop. ${WRITE}`],
      [['search', { by: 'search' }], `Shop.search: \`preview\` names the tool itself. ${WRITE}`],
      [[true, null, 5], `Shop.search: \`preview\` is not the name of a method. ${WRITE}`],
      [['', {}, { ask: true }], `Shop.search: \`preview\` has no \`by\`. ${WRITE}`],
      [{ by: 5 }, 'Shop.search (preview): `by` is 5, but must be a string'],
      [{ by: 'plan', ask: 'yes' }, 'Shop.search (preview): `ask` is "yes", but must be true or false'],
      [
        [0, 1.5, '5m', 2_592_000_001].map((ttlMs) => ({ by: 'plan', ttlMs })),
        'Shop.search (preview): `ttlMs` ... , but must be a whole number from 1 to 2592000000',
      ],
      [{ by: 'plan', ttl: 1 }, 'Shop.search (preview): `ttl` is not an option ... '],
    ]),
    [
      "@Tool({ preview: 'plan', memoize: '1m' })",
      () => on({ preview: 'plan', memoize: '1m', annotations: { readOnlyHint: true } }),
      'Shop.search: `memoize` would give one plan, with its ticket, to several calls. Remove `memoize` or `preview`',
    ],
    ...wrong("@Tool({ preview: 'plan', input: … })", (input) => on({ preview: 'plan', input }), [
      [
        [
          WITH_TICKET,
          { type: 'object', required: ['ticket'] },
          { $ref: '#/$defs/A', $defs: { A: WITH_TICKET } },
          { type: 'object', anyOf: [{ $ref: '#/$defs/A' }], $defs: { A: WITH_TICKET } },
          { type: 'object', allOf: [WITH_TICKET] },
        ],
        'Shop.search: `preview` adds the argument `ticket`, but the input has a field with this name. Rename the field',
      ],
    ]),
    [
      "server.addTool({ name: 'search', preview: 'plan' }, …)",
      () => serverOf([]).addTool({ name: 'search', preview: 'plan' }, () => 'found'),
      `addTool.search: \`preview\` names "plan", which is no method of addTool. ${WRITE}`,
    ],
    [
      '{ provider: new Shop(), host: { admits } }',
      () => serverOf([{ provider: new (previewed({ preview: 'plan' }))(), host: { admits: async () => true } }]),
      'Shop.search: `preview` needs a host that runs previews. Add `preview` to the `host` of the provider',
    ],
  ],
};
