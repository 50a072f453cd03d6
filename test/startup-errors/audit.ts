import { audit } from '@decorum/audit';

import { type Mistakes, untyped, wrong } from './table.js';

const write = 'audit.log';
const FORM = "audit: `write` must be the path of a file, such as 'audit.log', or a function that gets each line";

/** An audit log with a wrong option. */
export const AUDITS: Mistakes = {
  DECORUM_INVALID_OPTION: [
    ...wrong('audit(…)', untyped(audit), [
      [
        { write, file: 'x' },
        'audit: `file` is not an option ... use one of write, redact, maxBytes, sync, failClosed, key, after',
      ],
      [[{}, { write: '' }, { write: 7 }, { write: { write: 'x' } }], FORM],
      [{ write, redact: ['card'] }, 'audit: `redact` is ... a function'],
      [{ write, sync: 'yes' }, 'audit: `sync` is "yes", but must be true or false'],
      [{ write, failClosed: 1 }, 'audit: `failClosed` is 1, but must be true or false'],
      [
        [
          { write, maxBytes: 1 },
          { write, maxBytes: 1e4 + 0.5 },
        ],
        'audit: `maxBytes` must be an integer of at least 10000',
      ],
      [{ write: () => {}, maxBytes: 1e6 }, 'audit: `maxBytes` is for files. Pass a path as `write`, or leave it out'],
      [{ write, after: 'x' }, 'audit: `after` is for functions. A file continues its chain without it'],
      [{ write: () => {}, after: 'x' }, 'audit: `after` must be the `mac` of a line, which has 43 characters'],
      [{ write, key: 'short' }, 'audit: `key` has only 5 characters. A secret needs at least 32 characters'],
      [{ write, key: [] }, 'audit: `key` is an empty list. Pass at least one secret'],
      [
        { write, key: ['x'.repeat(32), 7] },
        'audit: `key` has 2 secrets, and number 2 is not a string. A secret needs at least 32 characters',
      ],
    ]),
  ],
};
