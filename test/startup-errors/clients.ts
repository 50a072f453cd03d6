import { connectClient, type ConnectTarget, proxy } from '@decorum/client';

import { type Mistakes } from './table.js';

const URL_OF = 'https://mcp.example.com/mcp';
const PROGRAM = { command: 'node' };

/** Connects a client. The options are checked before anything is sent. */
const connecting =
  (options: object, target: unknown = URL_OF) =>
  () =>
    connectClient(target as ConnectTarget, options);

const proxying =
  (options: object, target: unknown = URL_OF) =>
  () =>
    proxy(target as ConnectTarget, options);

const authProvider = {};
const authorization = () => 'token';

/** Clients, and what they connect proxies to. */
export const CLIENTS: Mistakes = {
  DECORUM_INVALID_OPTION: [
    ['an unknown option of a client', connecting({ header: {} }), '`header` is not an option. Write `headers`'],
    [
      'a handler that is no function',
      connecting({ onElicit: 'accept' }),
      '`onElicit` is "accept", but must be a function',
    ],
    [
      'headers that are neither an object nor a function',
      [connecting({ headers: 'authorization: x' }), connecting({ headers: [] })],
      '`headers` is neither an object nor a function. Write `headers: { name: value }`',
    ],
    [
      'a negative timeout of a client',
      connecting({ timeoutMs: -1 }),
      '`timeoutMs` is -1, but must be a whole number from 0 to 2147483647',
    ],
    [
      'a revision of a client that does not exist',
      connecting({ revision: '1.0' }),
      "is '1.0'. Pass one of ... '2026-07-28'",
    ],
    [
      'two ways to sign in',
      connecting({ authorization, authProvider }),
      'is set together with `authorization`. Set one of them',
    ],
    [
      'credentials for a program',
      [
        connecting({ headers: {} }, PROGRAM),
        connecting({ authorization }, PROGRAM),
        connecting({ authProvider }, PROGRAM),
      ],
      'has no effect on a program. It is for URLs. Pass ... `env` ... a program',
    ],
    [
      'a principal for a URL',
      connecting({ principal: { subject: 'ada' } }),
      '`principal` has no effect on a URL. ... `env` for a program',
    ],
    ['stderr of a URL', connecting({ onStderr() {} }), '`onStderr` has no effect on a URL. Only programs have one'],
    [
      'a target that is no URL',
      [connecting({}, 'example.com/mcp'), connecting({}, 'ftp://a')],
      "which is not a URL. Write 'http://127.0.0.1:3000/mcp', or { command: 'node', args: ['server.js'] }",
    ],
    [
      'a target that is no server',
      [connecting({}, {}), connecting({}, 7)],
      "is neither a URL, nor a program with a `command`, nor an McpServer. Write ... args: ['server.js'] }",
    ],
    ['a misspelt option of a program', connecting({}, { ...PROGRAM, arg: [] }), '`arg` is not an option. Write `args`'],
    [
      'a name of a proxy over two lines',
      proxying({ name: 'geo\nmaps' }),
      '`name` must be a text of 1 to 64 characters',
    ],
    [
      'a limit of a proxy that admits nothing',
      proxying({ limits: { calls: 0 } }),
      '`calls` is 0, but must be a whole number from 1 to 100000',
    ],
    [
      'headers of a program behind a proxy',
      proxying({ headers: () => ({}) }, PROGRAM),
      '`headers` is for URLs. Pass credentials in `env` of a program',
    ],
    ['stderr of a URL behind a proxy', proxying({ onStderr() {} }), '`onStderr` is for programs. Remove it'],
    [
      'lists of callers with what only shared ones have',
      [proxying({ lists: 'caller', whenDown: 'keep' }), proxying({ lists: 'caller', instructions: true })],
      "has no effect on the lists of callers. Remove it, or `lists: 'caller'`",
    ],
  ],
};
