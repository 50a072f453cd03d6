import { authorizationServer, fileStore, memoryStore, usersFile } from '@decorum/auth-server';

import { type Mistake, type Mistakes, wrong } from './table.js';

const OPTIONS = {
  resource: 'https://mcp.example.com/mcp',
  scopes: ['mcp'],
  consent: { mcp: 'Use this server' },
  users: { verify: async () => undefined, find: async () => undefined },
  store: memoryStore(),
};

const serving = (options: object) => () => authorizationServer({ ...OPTIONS, ...options } as never);

const PATH =
  'issuer` ... but must be "https://mcp.example.com", maybe with a path of letters, digits, "-", "." and "_"';

type Row = readonly [given: unknown, message: string];

/** Mistakes in one option of `authorizationServer`. Each message begins with what it names. */
const option = (name: string, ...rows: readonly Row[]): Mistake[] =>
  wrong(
    `authorizationServer({ ${name}: … })`,
    (value) => serving({ [name]: value })(),
    rows.map(([given, message]) => [[given], `authorizationServer: \`${message}`]),
  );

/** Mistakes in one client of `clients`. */
const client = (...rows: readonly Row[]): Mistake[] =>
  wrong(
    'authorizationServer({ clients: [{ clientId, redirectUris, … }] })',
    (more: object) =>
      serving({ clients: [{ clientId: 'app', redirectUris: ['https://app.example/callback'], ...more }] })(),
    rows.map(([given, message]) => [given, `authorizationServer: \`clients[0]${message}`]),
  );

/** Mistakes in the upstream. */
const upstream = (...rows: readonly Row[]): Mistake[] =>
  wrong(
    'authorizationServer({ upstream: { issuer, clientId, clientSecret, … } })',
    (more: object) => {
      const own = { issuer: 'https://id.example.com', clientId: 'files', clientSecret: 'secret', ...more };
      return serving({ users: undefined, upstream: own })();
    },
    rows.map(([given, message]) => [given, `authorizationServer: \`upstream${message}`]),
  );

/** Runs something with another environment. */
const withEnvironment = (name: string, value: string | undefined, run: () => unknown) => () => {
  const { [name]: before } = process.env;
  const set = (to: string | undefined) => {
    if (to === undefined) delete process.env[name];
    else process.env[name] = to;
  };
  set(value);
  try {
    return run();
  } finally {
    set(before);
  }
};

const URL_NEEDED = 'but must be a URL, such as "https://id.example.com"';
const CHECK_SET = 'If it comes from an environment variable, check that it is set';
const EXPLAIN = "which `consent` doesn't explain. Add it there, in words for users";
const SCHEME = 'but must be a scheme of an app in lower case, such as "cursor"';
const DAYS = 'but must be a whole number from 1 to 365';
const WORDS = "is missing. List every scope in words: `consent: { mcp: 'Use this server' }`";
const SECRET = 'Create one with `openssl rand -base64 32`';
const inFolder = serving({ store: fileStore('data') });

/** Options of an embedded authorization server. */
export const AUTHORIZATION: Mistakes = {
  DECORUM_INVALID_OPTION: [
    ...option(
      'resource',
      [undefined, `resource\` is missing. ${CHECK_SET}`],
      ['mcp', `resource\` is "mcp", ${URL_NEEDED}`],
      ['https://mcp.example.com/mcp#x', `resource\` is "https://mcp.example.com/mcp#x", ${URL_NEEDED}`],
      ['http://mcp.example.com/mcp', 'resource` is "http://mcp.example.com/mcp", but must use https'],
      ['http://127.0.0.1:3000/mcp', 'resource` ... For tests on this machine, pass `allowLoopbackHttp: true`'],
    ),
    ...option(
      'issuer',
      ['https://id.example.com', 'issuer` ... but this server is at https://mcp.example.com. Use a URL of that origin'],
      ['http://mcp.example.com', 'issuer` is "http://mcp.example.com", but must use https'],
      ['https://mcp.example.com/?tenant=1', 'issuer` ... but must not have a query (RFC 8414, section 2)'],
      ['https://MCP.example.com', PATH],
      ['https://mcp.example.com/a;b', PATH],
      ['https://mcp.example.com/a%2Fb', PATH],
      ['https://mcp.example.com/a//b', PATH],
      ['https://mcp.example.com/a/../b', PATH],
    ),
    ...option('scopes', [['mcp', 'admin'], `scopes\` contains "admin", ${EXPLAIN}`]),
    ...option('offer', [['admin'], `offer\` contains "admin", ${EXPLAIN}`]),
    ...option(
      'consent',
      [undefined, `consent\` ${WORDS}`],
      [{}, `consent\` ${WORDS}`],
      [{ mcp: 'Use it', 'a b': 'x' }, 'consent` contains "a b", which is not a scope (RFC 6749, section 3.3)'],
      [{ openid: 'Sign in' }, 'consent` contains "openid", which is not a scope of this server. Leave it out'],
      [{ mcp: ' ' }, 'consent.mcp` is empty. Say in words what a client may do with it'],
    ),
    ...option(
      'users',
      [
        undefined,
        "users` is missing, and so are `login` and `upstream`. Pass one of them, such as `usersFile('users.json')`",
      ],
      ['users.json', 'users` is "users.json", but must be an object'],
      [{ verify: () => undefined }, 'users` has no method `find`. Pass an object with verify, find'],
    ),
    ...option('login', [
      () => undefined,
      "login` can't be combined with `users`. Pass one of them ... `usersFile('users.json')`",
    ]),
    ...option('store', [{ get: () => undefined }, 'store` has no method `open`. Pass an object with ... , close']),
    ...option('remember', [0, `remember\` is 0, ${DAYS}`], [366, `remember\` is 366, ${DAYS}`]),
    ...option('registration', ['false', 'registration` is "false", but must be true or false']),
    ...option('trustProxy', [1, 'trustProxy` is 1, but must be true or false']),
    ...option(
      'redirectSchemes',
      ['cursor', 'redirectSchemes` is "cursor", but must be an array'],
      [['Cursor'], `redirectSchemes[0]\` is "Cursor", ${SCHEME}`],
      [['cursor', 'javascript'], `redirectSchemes[1]\` is "javascript", ${SCHEME}`],
      [['cursor://'], `redirectSchemes[0]\` is "cursor://", ${SCHEME}`],
    ),
    ...option(
      'texts',
      ['de', 'texts` is "de", but must be an object'],
      [{ signIn: '' }, 'texts.signIn` is empty. Leave it out to keep the default'],
      [{ lang: 'not a tag' }, 'texts.lang` must be a language tag, such as "de"'],
      [{ allow: () => 5 }, 'texts.allow` is a function that returns no string'],
    ),
    ...upstream(
      [{ issuer: 'id.example.com' }, `.issuer\` is "id.example.com", ${URL_NEEDED}`],
      [{ clientSecret: undefined }, `.clientSecret\` is missing. ${CHECK_SET}`],
      [{ scopes: ['a b'] }, '.scopes` contains "a b", which is not a scope (RFC 6749, section 3.3). Write ["a","b"]'],
      [{ name: 'a|b' }, '.name` must have up to 64 letters, digits, dots, dashes and underscores'],
    ),
    ...client(
      [{ clientId: '' }, `.clientId\` is empty. ${CHECK_SET}`],
      [{ clientSecret: undefined }, `.clientSecret\` is missing. ${CHECK_SET}`],
      [{ redirectUris: [] }, '.redirectUris` must be a list with at least one URI'],
      [{ redirectUris: ['http://app.example/'] }, '.redirectUris[0]` must use https. Only localhost ... may use http'],
      [{ redirectUris: ['cursor://x/y'] }, ".redirectUris[0]` ... For an app, add 'cursor' to `redirectSchemes`"],
      [{ grantTypes: ['password'] }, '.grantTypes` contains "password". Choose from ... , client_credentials'],
      [{ jwks: {} }, '.jwks` must be a JSON Web Key Set: `{ keys: [ … ] }`'],
    ),
    ['an option that does not exist', serving({ audience: 'x' }), '`audience` is not an option. ... , trustProxy'],
    [
      'memoryStore() or no store in production',
      [() => memoryStore(), serving({ store: undefined })].map((run) => withEnvironment('NODE_ENV', 'production', run)),
      'memoryStore: `inProduction` is not set, ... Use fileStore(folder), or set `inProduction: true` to accept that',
    ],
    [
      'fileStore(…) without DECORUM_SECRET',
      withEnvironment('DECORUM_SECRET', undefined, inFolder),
      `authorizationServer: \`DECORUM_SECRET\` is missing ... ${SECRET}`,
    ],
    [
      'a short DECORUM_SECRET',
      withEnvironment('DECORUM_SECRET', 'short', inFolder),
      `\`DECORUM_SECRET\` has 5 characters, but needs at least 32. ${SECRET}`,
    ],
    ['usersFile(…) of a missing file', () => usersFile('missing.json'), 'which does not exist. Create it: ... } }'],
    ['usersFile("")', () => usersFile(''), 'usersFile: `path` must be the path of a JSON file'],
    ['fileStore("")', () => fileStore(''), 'fileStore: `folder` must be the path of a folder, such as "data"'],
  ],
};
