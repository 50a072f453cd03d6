import { McpServer, NoInput, Tool } from '@decorum/core';
import { search } from '@decorum/search';

import { type Mistakes, serverOf, untyped, wrong } from './table.js';

class Taken {
  @Tool({ description: 'Calls a tool by phone' })
  call_tool() {
    return 'called';
  }
}

/** A search with a wrong option, or whose names are taken. */
export const SEARCHES: Mistakes = {
  DECORUM_INVALID_OPTION: [
    ...wrong('search(…)', untyped(search), [
      [
        { over: 50 },
        'search: `over` is not an option ... Remove it, or use one of above, always, alwaysTags, limit, synonyms, prefix',
      ],
      [{ above: -1 }, 'search: `above` is -1, but must be a whole number from 0 to 1000000'],
      [{ above: '50' }, '`above` is "50", but must be a whole number from 0 to 1000000'],
      [{ limit: 21 }, 'search: `limit` is 21, but must be a whole number from 1 to 20'],
      [{ always: 'create_order' }, 'search: `always` is "create_order", but must be an array'],
      [{ always: [7] }, "search: `always` must be an array of words, such as ['create_order']"],
      [{ alwaysTags: [''] }, "search: `alwaysTags` must be an array of words, such as ['orders']"],
      [{ synonyms: { bill: 'invoice' } }, "search: `synonyms.bill` must be an array of words, such as ['bill']"],
      [
        ['', '!'].map((word) => ({ synonyms: { [word]: ['bill'] } })),
        'search: `synonyms` has ... , which is no word. Use letters or digits',
      ],
      [{ synonyms: { bill: ['-'] } }, 'search: `synonyms` has "-", which is no word. Use letters or digits'],
      [
        { synonyms: { 'pull request': ['merge'] } },
        'search: `synonyms` has "pull request", which is more than one word. Use the one that tells most',
      ],
      [{ synonyms: new Map() }, "search: `synonyms` is a Map, but must be an object, such as { invoice: ['bill'] }"],
      [{ prefix: 'a b' }, 'search: `prefix` is "a b", but can have only up to 64 letters, digits, "_", "-" and "."'],
    ]),
    [
      'a tool with the name of one of the two',
      () => serverOf([Taken], { plugins: [search()] }),
      'search: `prefix` is needed, because the server has a tool "call_tool" of its own. Pass prefix: \'find\', or rename that tool',
    ],
  ],
  DECORUM_DUPLICATE_NAME: [
    [
      'a tool with the name of one of the two, at run time',
      () =>
        new McpServer({ name: 'test', version: '1.0.0', plugins: [search()] }).addTool(
          { name: 'search_tools', input: NoInput },
          () => '',
        ),
      '"search_tools": search().search_tools and addTool.search_tools. ... rename the member in its `transform`',
    ],
  ],
  DECORUM_DUPLICATE_PLUGIN: [
    [
      'search twice',
      () => serverOf([], { plugins: [search(), search()] }),
      'Two plugins are called "search". ... another `name`',
    ],
  ],
};
