import { recorder } from '@decorum/audit';
import { McpServer } from '@decorum/core';
import { replayOf } from '@decorum/testing';

import { type Mistakes, untyped, wrong } from './table.js';

const folder = 'recordings';
const server = new McpServer({ name: 'shop', version: '1.0.0' });

/** A recorder or a replay with a wrong option. */
export const RECORDERS: Mistakes = {
  DECORUM_INVALID_OPTION: [
    ...wrong('recorder(…)', untyped(recorder), [
      [[{}, { folder: '' }, { folder: ' ' }], "recorder: `folder` is missing. Write `folder: 'recordings'`"],
      [{ folder: 7 }, 'recorder: `folder` is 7, but must be a string'],
      [{ folder, maxFile: 5 }, 'recorder: `maxFile` is not an option ... Write `maxFiles`'],
      [
        ['always', 2, -1, Number.NaN, true].map((when) => ({ folder, when })),
        "recorder: `when` must be 'failed', a number from 0 to 1, or a function of the request and its outcome",
      ],
      [{ folder, redact: ['ssn'] }, 'recorder: `redact` is ... , but must be an object'],
      [{ folder, redact: { pattern: [/a/] } }, 'recorder.redact: `pattern` is not an option ... Write `patterns`'],
      [
        [7, ''].map((name) => ({ folder, redact: { names: [name] } })),
        "recorder: `redact.names` has what is neither a name nor a pattern. Write `['ssn', /^customer/i]`",
      ],
      [
        { folder, redact: { patterns: ['CUST'] } },
        'recorder: `redact.patterns` has what is not a regular expression. Write `[/\\bCUST-\\d+/]`',
      ],
      [
        { folder, redact: { patterns: [/x*/] } },
        'recorder: `redact.patterns` has a pattern that fits the empty text. Let it begin with what secrets begin with',
      ],
      [{ folder, claims: [7] }, "recorder: `claims` has what is not the name of a claim. Write `['tenant']`"],
      [{ folder, maxBytes: 10 }, 'recorder: `maxBytes` is 10, but must be a whole number from 4096 to 16777216'],
      [{ folder, maxFiles: 0 }, 'recorder: `maxFiles` is 0, but must be a whole number from 1 to 1000000'],
      [
        { folder, maxTotalBytes: 5000 },
        'recorder: `maxTotalBytes` is less than `maxBytes`, which is 262144. Pass at least as much',
      ],
    ]),
    [
      "replayOf('x.json', {})",
      () => untyped<unknown>(replayOf)('x.json', {}),
      'replayOf: `server` is not an McpServer. Pass what `new McpServer({ … })` returns',
    ],
    [
      "replayOf('x.json', { server, timeoutMs: 0 })",
      () => untyped<unknown>(replayOf)('x.json', { server, timeoutMs: 0 }),
      'replayOf: `timeoutMs` is 0, but must be a whole number from 1 to 2147483647',
    ],
    [
      'replayOf(undefined, { server })',
      () => untyped<unknown>(replayOf)(undefined, { server }),
      "replayOf: `file` is not a path. Write replayOf('recordings/charge.json', { server })",
    ],
  ],
};
