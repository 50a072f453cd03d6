import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { redactSecrets } from '../../src/text/redact.js';
import { cpuMs } from '../../../../test/support/cpu.js';

describe('redactSecrets', () => {
  const SECRET_NAMES = `
    password passwd password2 dbPassword DB_PASS dbPass DBPass MYSQL_PWD db_pwd pass token access_token refreshToken
    accesstoken csrfTokens clientSecret clientSecretValue apiKey api_key x-api-key AWS_ACCESS_KEY SIGNING_KEY_2
    private_key Authorization cookie Set-Cookie credentials sessionId Mcp-Session-Id`;

  it('hides the text of members whose name says that it is secret', () => {
    for (const name of SECRET_NAMES.trim().split(/\s+/)) {
      expect(redactSecrets({ [name]: 'hunter two', user: 'ada' })).toEqual({ [name]: '[redacted]', user: 'ada' });
      expect(redactSecrets([{ deep: { [name]: ['a', { b: 'c' }] } }])).toEqual([
        { deep: { [name]: ['[redacted]', { b: '[redacted]' }] } },
      ]);
    }
  });

  const CREDENTIALS = [
    ['Authorization: Bearer hunter', 'Authorization: [redacted]'],
    ['sent Bearer abc123.def-456== to it', 'sent Bearer [redacted] to it'],
    ['sent basic dXNlcjpwYXNz', 'sent basic [redacted]'],
    ['got eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.c2ln.', 'got [redacted]'],
    ['key\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nend', 'key\n[redacted]\nend'],
    ['cut -----BEGIN PRIVATE KEY-----\nMIIE', 'cut [redacted]'],
    ['private_key=-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- x', 'private_key=[redacted] x'],
    ['password=hunter2, user=ada', 'password=[redacted], user=ada'],
    ["'password' => 'hunter2'", "'password' => '[redacted]'"],
    ['password := "x"', 'password := "[redacted]"'],
    [
      'if (password == "x") a(); else if (password !== "x") b();',
      'if (password == "[redacted]") a(); else if (password !== "[redacted]") b();',
    ],
    ["if (password === 'x') go()", "if (password === '[redacted]') go()"],
    ["env['DB_PASS'] = 'x'", "env['DB_PASS'] = '[redacted]'"],
    [
      'MYSQL_PWD=x DB_PASS=y db_pwd=z pass=w a=b',
      'MYSQL_PWD=[redacted] DB_PASS=[redacted] db_pwd=[redacted] pass=[redacted] a=b',
    ],
    ['{"passwords": ["aa1","bb2"],"user":"ada"}', '{"passwords": ["[redacted]","[redacted]"],"user":"ada"}'],
    ["passwords: [\n  'aa1',\n  'bb2'\n] a, b", "passwords: [\n  '[redacted]',\n  '[redacted]'\n] a, b"],
    ['passwords: [aa1, bb2] a', 'passwords: [[redacted], [redacted]] a'],
    ['{"credentials":[{"user":"ada","pass":"x"}]}', '{"credentials":[{"user":"ada","pass":"[redacted]"}]}'],
    ['{"Cookie":["a=1; b=2"],"user":"ada"}', '{"Cookie":["[redacted]"],"user":"ada"}'],
    ['password%3Dhunter2&a=b', 'password%3D[redacted]&a=b'],
    ['password: "hunter two" ok', 'password: "[redacted]" ok'],
    ['{"user":"ada","apiKey":"k-1"}', '{"user":"ada","apiKey":"[redacted]"}'],
    [String.raw`{\"apiKey\":\"k-1\",\"user\":\"ada\"}`, String.raw`{\"apiKey\":\"[redacted]\",\"user\":\"ada\"}`],
    ["{ token: 'it\\'s', user: 'ada' }", "{ token: '[redacted]', user: 'ada' }"],
    ['https://a.example/?access_token=abc&page=2', 'https://a.example/?access_token=[redacted]&page=2'],
    ['url=https://a.example/?api_key=abc', 'url=https://a.example/?api_key=[redacted]'],
    ['Cookie: sid=1; theme=dark\nHost: a', 'Cookie: [redacted]\nHost: a'],
    ['Cookie: a="x1"; connect.sid=S\nHost: a', 'Cookie: [redacted]\nHost: a'],
    ["Cookie: a=it's; sid=S", 'Cookie: [redacted]'],
    ['Authorization: Digest username="bob", response="R"', 'Authorization: [redacted]'],
    ['curl -H \'Authorization: Digest username="bob", response="R"\' a', "curl -H 'Authorization: [redacted]' a"],
    ['{"head":"Cookie: a=1; b=2","user":"ada"}', '{"head":"Cookie: [redacted]","user":"ada"}'],
    [
      String.raw`{"head":"Authorization: Digest username=\"bob\", response=\"R\"","user":"ada"}`,
      '{"head":"Authorization: [redacted]","user":"ada"}',
    ],
    [String.raw`{\"head\":\"Cookie: a=1; b=2\",\"user\":1}`, String.raw`{\"head\":\"Cookie: [redacted]\",\"user\":1}`],
    ['cookie:[redacted cookie:[redacted', 'cookie:[redacted]'],
    ['postgres://ada:p%40ss@db.example/x', 'postgres://[redacted]@db.example/x'],
    ['with sk-proj-abcdefgh12345678 now', 'with [redacted] now'],
    ['with ghp_abcdefghijklmnop1234567890 now', 'with [redacted] now'],
    ['with xoxb-123456789012-abcdef now', 'with [redacted] now'],
    ['with AKIAIOSFODNN7EXAMPLE now', 'with [redacted] now'],
  ] as const;

  it('hides credentials in texts', () => {
    for (const [text, shown] of CREDENTIALS) {
      expect(redactSecrets(text)).toBe(shown);
      expect(redactSecrets(shown)).toBe(shown);
      expect(redactSecrets({ note: text })).toEqual({ note: shown });
    }
  });

  it('keeps texts that only resemble credentials', () => {
    const texts = [
      'Basic authentication is off; use Bearer tokens.',
      'Unexpected token < in JSON at position 0',
      'max_tokens=4096',
      'The tokenizer: fast',
      '{"tokens": [12, 15], "secrets": {"a": 1}, "passwords": []}',
      "{ zone: 'asia-southeast1-b' }",
      '?nextPageToken=abc&pageToken=d&continuationToken=e&next_page_token=f&nextCursor=g',
      "{ secretary: 'Ann', compassWidth: 'wide', tokenType: 'Bearer', bypass: 'yes', passRate: 'high' }",
      'authorization_endpoint=https://a.example/',
      'Token: the smallest unit of a text',
      'password: undefined, secret: "", token: null',
      'ssh://git@example.com/a.git',
      'user@example.com wrote to https://example.com:8080/@ada',
      'sk-learn and scikit',
      'eyJ is how they begin',
    ];
    expect(texts.map(redactSecrets)).toEqual(texts);
  });

  const HARMLESS_NAMES = `
    nextPageToken pageToken continuationToken nextCursor secretary compassWidth tokenType tokenizer trespass passenger
    authorizationUrl authorName`;

  it('keeps the text of members whose name only resembles one', () => {
    for (const name of HARMLESS_NAMES.trim().split(/\s+/)) {
      const value = { [name]: 'Bearer' };
      expect(redactSecrets(value)).toBe(value);
    }
  });

  it('keeps numbers and booleans, and returns the same value if nothing is secret', () => {
    const tokens = { input: 5, output: 7 };
    const usage = { tokens: 12, usage: { tokens }, hasToken: true, secret: null, list: [1, 'a'] };
    expect(redactSecrets(usage)).toBe(usage);
    for (const value of [undefined, null, 1, true, 'text', 10n, Symbol.iterator])
      expect(redactSecrets(value)).toBe(value);
    const error = new Error('password=x');
    expect(redactSecrets(error)).toBe(error);
    const map = new Map([['password', 'x']]);
    expect(redactSecrets({ map })).toEqual({ map });
    expect(redactSecrets({ password: map })).toEqual({ password: '[redacted]' });
  });

  it('does not modify its argument', () => {
    const given = { password: 'x', other: { deep: ['Bearer abc12345'] } };
    const before = structuredClone(given);
    redactSecrets(given);
    expect(given).toEqual(before);
  });

  it('handles cycles, shared objects and members named "__proto__"', () => {
    const cyclic: Record<string, unknown> = { password: 'x' };
    cyclic['self'] = cyclic;
    const copy = redactSecrets(cyclic) as Record<string, unknown>;
    expect(copy['password']).toBe('[redacted]');
    expect(copy['self']).toBe(copy);
    const shared = { value: 'v' };
    expect(redactSecrets({ open: shared, token: shared })).toEqual({
      open: { value: 'v' },
      token: { value: '[redacted]' },
    });
    const harmless: Record<string, unknown> = { a: 1 };
    harmless['self'] = harmless;
    expect(redactSecrets(harmless)).toBe(harmless);
    const odd: unknown = JSON.parse('{"__proto__":{"password":"x"}}');
    expect(JSON.stringify(redactSecrets(odd))).toBe('{"__proto__":{"password":"[redacted]"}}');
  });

  it('handles toJSON and class fields', () => {
    class Account {
      user = 'ada';
      password = 'x';
    }
    expect(redactSecrets(new Account())).toEqual({ user: 'ada', password: '[redacted]' });
    const written = { hidden: 'x', toJSON: () => ({ token: 'x' }) };
    expect(redactSecrets({ written })).toEqual({ written: { token: '[redacted]' } });
    expect(JSON.stringify(redactSecrets({ at: new URL('https://ada:pw@a.example/') }))).not.toContain('pw');
  });

  it('is idempotent', () => {
    const parts = ['password', 'Cookie', 'tokens', 'a', 'x1', '[redacted]', ': ', '; ', ...`"'\\=[] \n`];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 12 }), (found) => {
        const shown = redactSecrets(found.join(''));
        expect(redactSecrets(shown)).toBe(shown);
      }),
      { numRuns: 5000 },
    );
  });

  it('survives deep data, and hides everything beyond its depth', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(50_000)}"password=x"${']'.repeat(50_000)}`);
    expect(JSON.stringify(redactSecrets(deep))).not.toContain('password=x');
  });

  const PIECES = ['a\t', 'cookie:\n'].concat(
    String.raw`the quick brown fox |a|token|token-|password=x |password=|password:"|password:\"\|"\|token |eyJ|eyJ.|Bearer |
basic words|-----BEGIN PRIVATE KEY-----|-----BEGIN A PRIVATE KEY-----END |-----BEGIN |a://b:c|://::|-sk-|.SG.|
cookie: |cookie:[redacted |cookie: a='|cookie: a="b" |cookie:\|="|="'|password="" |password=[redacted|
password=[redacted]|password=[|password=[a,|"a",|tokens=1|tokens="1|token: the |tokenType|token-type-|
page-token-|_|A|==|a']=| `.split(/\|\n?/),
  );

  it('takes linear time, whatever repeats in a text', () => {
    for (const piece of PIECES) {
      const text = piece.repeat(Math.ceil(200_000 / piece.length));
      const begin = cpuMs();
      for (const before of ['', 'password', 'cookie: ', 'password=[', '{"password":"']) redactSecrets(before + text);
      redactSecrets(`${text}\u0000`);
      // a quadratic algorithm would take many times as long
      expect({ piece, isFast: cpuMs() - begin < 2000 }).toEqual({ piece, isFast: true });
    }
  });
});
