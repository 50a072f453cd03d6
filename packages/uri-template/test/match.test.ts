import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseTemplate } from '../src/grammar.js';
import { compileMachine, runMachine, subjectOf } from '../src/machine.js';
import { isUnsafe } from '../src/values.js';
import { UriTemplate } from '../src/uri-template.js';

const match = (template: string, uri: string) => new UriTemplate(template).match(uri);

type Row = readonly [template: string, uri: string, values: Record<string, string | string[]> | undefined];

describe('matching a URI template', () => {
  const table = (name: string, rows: readonly Row[]) =>
    it(`${name}`, () => {
      expect(rows.map(([template, uri]) => [template, uri, match(template, uri)])).toEqual(rows);
    });

  table('matches the whole URI or nothing', [
    ['x://a', 'x://a', {}],
    ['x://a', 'x://b', undefined],
    ['x://{a}', 'x://one', { a: 'one' }],
    ['x://{a}', 'x://one/', undefined],
    ['x://{a}', 'x://one?q=1', undefined],
    ['x://{a}', 'x://one#f', undefined],
    ['x://{a}', ' x://one', undefined],
    ['x://{a}', 'x://one\n', undefined],
    ['x://{a}/b', 'x://one/b/c', undefined],
    ['x://{a}/b', 'x://one', undefined],
  ]);

  table('matches one segment with a simple variable', [
    ['x://{a}/{b}', 'x://1/2', { a: '1', b: '2' }],
    ['x://{a}', 'x://', undefined],
    ['x://{a}', 'x://1/2', undefined],
    ['x://{a}', 'x://1:2', undefined],
    ['x://{a}', 'x://a-b_c.d~e', { a: 'a-b_c.d~e' }],
    ['x://{a,b}', 'x://1,2', { a: '1', b: '2' }],
    ['x://{a,b}', 'x://1', undefined],
    ['x://{a}-{b}', 'x://1-2-3', { a: '1', b: '2-3' }],
    ['x://{a}{b}', 'x://%C3%A9%C3%A8', { a: 'é', b: 'è' }],
    ['x://{list*}', 'x://1,2,3', { list: ['1', '2', '3'] }],
    ['x://{list}', 'x://1,2,3', undefined],
    ['{a}://{b}', 'x://y', { a: 'x', b: 'y' }],
    ['{a}:{b}', 'x:y', { a: 'x', b: 'y' }],
  ]);

  table('percent-decodes once', [
    ['x://{a}', 'x://a%2Fb', { a: 'a/b' }],
    ['x://{a}', 'x://50%25', { a: '50%' }],
    ['x://{a}', 'x://%2541', { a: '%41' }],
    ['x://{a}', 'x://a+b', undefined],
    ['x://{+a}', 'x://a+b', { a: 'a+b' }],
    ['x://{a}', 'x://%', undefined],
    ['x://{a}', 'x://%4', undefined],
    ['x://{a}', 'x://%zz', undefined],
    ['x://{a}', 'x://%FF', undefined],
    ['x://{a}', 'x://%C3', undefined],
    ['x://{a}', 'x://%C0%AE', undefined],
    ['x://{a}', 'x://%ED%A0%80', undefined],
    ['x://{a}', 'x://é', undefined],
    ['x://é/%c3%a9/{a}', 'x://%c3%A9/%C3%a9/b', { a: 'b' }],
    ['x://{a}é', 'x://b%c3%a9', { a: 'b' }],
    ['x://a%2F{a}', 'x://a/b', undefined],
  ]);

  table('matches several segments with a reserved variable', [
    ['x://{+path}', 'x://a/b', { path: 'a/b' }],
    ['x://{+path}', 'x://', undefined],
    ['x://{+path}/{name}', 'x://a/b/c', { path: 'a/b', name: 'c' }],
    ['x://{+path}.md', 'x://a.md/b.md', { path: 'a.md/b' }],
    ['x://{+path}', 'x://a?q=1#f', { path: 'a?q=1#f' }],
    ['x://{+path}{?q}', 'x://a/b?q=1', { path: 'a/b', q: '1' }],
    ['x://{+path}{#f}', 'x://a/b#c/d', { path: 'a/b', f: 'c/d' }],
    ['x://a{#f}', 'x://a', {}],
    ['x://{+a,b}', 'x://1/2,3', { a: '1/2', b: '3' }],
    ['x://{+list*}', 'x://1/2,3', { list: ['1/2', '3'] }],
  ]);

  table('fills positions from the left', [
    ['x://a{/b,c}', 'x://a', {}],
    ['x://a{/b,c}', 'x://a/1', { b: '1' }],
    ['x://a{/b,c}', 'x://a/1/2', { b: '1', c: '2' }],
    ['x://a{/b,c}', 'x://a/1/2/3', undefined],
    ['x://a{/b}', 'x://a/', undefined],
    ['x://a{/b*}', 'x://a/1/2/3', { b: ['1', '2', '3'] }],
    ['x://a{/b*}', 'x://a/1', { b: ['1'] }],
    ['x://a{/b*}', 'x://a', {}],
    ['x://a{/b*,c}', 'x://a/1/2/3', { b: ['1', '2'], c: '3' }],
    ['x://a{/b*}/end', 'x://a/1/end/end', { b: ['1', 'end'] }],
    ['x://{name}{.ext}', 'x://a.txt', { name: 'a', ext: 'txt' }],
    ['x://{name}{.ext}', 'x://a', { name: 'a' }],
    ['x://lib{.version}', 'x://lib.1.2.3', { version: '1.2.3' }],
    ['x://lib{.v*}', 'x://lib.1.2.3', { v: ['1', '2', '3'] }],
  ]);

  table('matches query parameters in any order, each optional', [
    ['x://a{?q,lang}', 'x://a', {}],
    ['x://a{?q,lang}', 'x://a?q=1', { q: '1' }],
    ['x://a{?q,lang}', 'x://a?lang=no', { lang: 'no' }],
    ['x://a{?q,lang}', 'x://a?lang=no&q=1', { q: '1', lang: 'no' }],
    ['x://a{?q,lang}', 'x://a?other=2&q=1&more', { q: '1' }],
    ['x://a{?q}', 'x://a?', {}],
    ['x://a{?q}', 'x://a?&q=1&', { q: '1' }],
    ['x://a{?q,qq}', 'x://a?qq=1', { qq: '1' }],
    ['x://a{?q}', 'x://a?q=', { q: '' }],
    ['x://a{?q}', 'x://a?q', { q: '' }],
    ['x://a{?q}', 'x://a?Q=1', {}],
    ['x://a{?q}', 'x://a?q=a/b:c,d=e?', { q: 'a/b:c,d=e?' }],
    ['x://a{?q}', 'x://a?q=a%26b+c', { q: 'a&b+c' }],
    ['x://a{?q}', 'x://a?q=1#f', undefined],
    ['x://a{?q}', 'x://a&q=1', undefined],
    ['x://a{?q}', 'x://a?q=1&q=2', undefined],
    ['x://a{?q}', 'x://a?q=1&q=1', undefined],
    ['x://a{?q*}', 'x://a?q=1&other&q=2', { q: ['1', '2'] }],
    ['x://a?v=1{&q}', 'x://a?v=1&q=2', { q: '2' }],
    ['x://a?v=1{&q}', 'x://a?v=1', {}],
    ['x://a{?p}{&q}', 'x://a?q=2&p=1', { p: '1', q: '2' }],
    ['x://a{?p}{&q}', 'x://a&q=2', { q: '2' }],
    ['x://a?v=1{&q}', 'x://a?v=1&other&q=2', { q: '2' }],
    ['x://{+a}?v=1{&q}', 'x://R&D?v=1&other', { a: 'R&D' }],
    ['x://{+a}{?p}{&q}', 'x://R&D', { a: 'R&D' }],
    ['x://{+a}{&q}', 'x://R&D&q=2&other', { a: 'R&D', q: '2' }],
    ['x://a{?p}{#f}', 'x://a?p=1#f', { p: '1', f: 'f' }],
  ]);

  table('matches path parameters in any order, each optional, and no others', [
    ['x://a{;p,q}/b', 'x://a/b', {}],
    ['x://a{;p,q}/b', 'x://a;q=2;p=1/b', { p: '1', q: '2' }],
    ['x://a{;p,q}/b', 'x://a;p/b', { p: '' }],
    ['x://a{;p,q}/b', 'x://a;r=1/b', undefined],
    ['x://a{;p}/b', 'x://a;pp=1/b', undefined],
    ['x://a{;p*}', 'x://a;p=1;p=2', { p: ['1', '2'] }],
  ]);

  table('holds a prefix to its length, and all places of a variable to one value', [
    ['x://{a:3}', 'x://abc', { a: 'abc' }],
    ['x://{a:3}', 'x://abcd', undefined],
    ['x://{a:2}', 'x://%F0%9F%98%80%C3%A9', { a: '😀é' }],
    ['x:/{/a:1,a}', 'x://v/value', { a: 'value' }],
    ['x:/{/a:1,a}', 'x://w/value', undefined],
    ['x://{a}{?a:3}', 'x://value?a=val', { a: 'value' }],
    ['x://{a}{?a:3}', 'x://value?a=va', undefined],
    ['x://{b}-{a:1}', 'x://1-2-34', undefined],
    ['x://{a}/{a}', 'x://1/1', { a: '1' }],
    ['x://{a}/{a}', 'x://1/2', undefined],
  ]);

  table('ignores case in a literal scheme and host only', [
    ['http://Example.com/a/{x}', 'HTTP://example.COM/a/B', { x: 'B' }],
    ['http://example.com/a/{x}', 'http://example.com/A/b', undefined],
    ['http://example.com{/x}', 'http://EXAMPLE.com/b', { x: 'b' }],
    ['http://Me@example.com/{x}', 'http://me@example.com/b', undefined],
    ['urn:isbn:{x}', 'URN:isbn:1', { x: '1' }],
    ['urn:isbn:{x}', 'urn:ISBN:1', undefined],
  ]);

  it.each(['__proto__', 'constructor', 'toString'])('treats a variable called %s as any other', (name) => {
    const values = match(`x://{${name}}{?q}`, `x://a?${name}=b&__proto__[x]=1`);
    expect(Object.getPrototypeOf(values)).toBeNull();
    expect(Object.entries(values!)).toEqual([[name, 'a']]);
    expect({}).not.toHaveProperty('x');
  });

  it('matches nothing with a URI of more than 65,536 characters', () => {
    expect(match('x:{a}', `x:${'a'.repeat(65_534)}`)).toBeDefined();
    expect(match('x:{a}', `x:${'a'.repeat(65_535)}`)).toBeUndefined();
  });
});

describe('a value that escapes its directory', () => {
  const PLACES = {
    'x://{a}': 'x://',
    'x://{+a}': 'x://',
    'x://{list*}': 'x://ok,',
    'x://{+a,b}': 'x://ok,',
    'x://h{#a}': 'x://h#',
    'x://h{.a}': 'x://h.',
    'x://h{/a}': 'x://h/',
    'x://h{/a*}': 'x://h/ok/',
    'x://h{;a}': 'x://h;a=',
    'x://h{?a}': 'x://h?a=',
    'x://h{?a*}': 'x://h?a=ok&a=',
    'x://h?v{&a}': 'x://h?v&a=',
    'x://h{?a:9}': 'x://h?a=',
  };
  const ENCODED = `
    .. . %2e%2E .%2e ..%2Fetc a%2F.. a%2F.%2Fb a%2f..%2fb %2F.. %252e%252e%252fetc %252e%252e a%252F..%252Fb
    %25252e%25252e%25252fetc %25%32%65%25%32%65 %2525%32%65%2525%32%65 ..%5Cetc a%5Cb a%255Cb a%00 a%2500 ..%20%2Fetc %20..`
    .trim()
    .split(/\s+/);
  const PLAIN = ['../etc', 'a/../b', 'a/..', './a', 'a/./b', '/..'];

  it('is not matched, however it is encoded', () => {
    for (const [template, start] of Object.entries(PLACES)) {
      const prefix = template.includes(':9') ? 9 : Infinity;
      expect(match(template, `${start}ok`)).toBeDefined();
      const passed = ENCODED.filter(
        (value) => decodeURIComponent(value).length <= prefix && match(template, start + value),
      );
      expect([template, passed]).toEqual([template, []]);
    }
  });

  it.each([
    ['x://{+a}', 'x://'],
    ['x://h{#a}', 'x://h#'],
    ['x://h{?a}', 'x://h?a='],
  ])('is not matched by %s with plain slashes either', (template, start) => {
    expect(match(template, `${start}a/b`)).toEqual({ a: 'a/b' });
    expect(PLAIN.filter((value) => match(template, start + value))).toEqual([]);
  });

  it('is not assembled from two values', () => {
    expect(match('x://{a}{b}', 'x://..')).toBeUndefined();
    expect(match('x://{a}{b}', 'x://%2F..%2F')).toBeUndefined();
    expect(match('x://{a}/{b}', 'x://../b')).toBeUndefined();
  });

  it('is not what only resembles one', () => {
    const values = '... ..a a.. .hidden a.b a%2F..b %2Fabsolute 50%25 %2541 %E2%80%A5'.split(' ');
    expect(values.map((value) => match('x://{a}', `x://${value}`))).toEqual(
      values.map((value) => ({ a: decodeURIComponent(value) })),
    );
  });

  it('is never returned, whatever the URI', () => {
    const piece = fc.constantFrom(...'. .. / %2e %2F %25 2e 2F 5c %5C %00 a , ;a= &a= ?a='.split(' '));
    const templates = Object.keys(PLACES).map((template) => new UriTemplate(template));
    const check = (pieces: string[]) => {
      for (const [index, start] of Object.values(PLACES).entries()) {
        for (const value of Object.values(templates[index]!.match(start + pieces.join('')) ?? {}).flat()) {
          for (let text = value, before = ''; text !== before; before = text, text = decodeAscii(text)) {
            expect(text).not.toMatch(/(^|\/)\.\.?(\/|$)|[\\\0]/);
          }
        }
      }
    };
    fc.assert(fc.property(fc.array(piece, { maxLength: 8 }), check), { numRuns: 500 });
  });

  /** Decodes like a careless handler. */
  const decodeAscii = (text: string) =>
    text.replaceAll(/%([0-7][\da-f])/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));

  it('is detected in one pass, however often it is encoded', () => {
    expect(isUnsafe(`%${'25'.repeat(30_000)}2e`)).toBe(true);
    expect(isUnsafe(`%${'25'.repeat(30_000)}2`)).toBe(false);
  });
});

describe('the duration of a match', () => {
  /** Number of times the matcher reads a unit of the URI. */
  function looks(template: string, uri: string): number {
    let count = 0;
    const subject = subjectOf(uri);
    const units = new Proxy(subject.units, {
      get(target, key) {
        if (typeof key === 'string' && /^\d+$/.test(key)) count++;
        return Reflect.get(target, key) as unknown;
      },
    });
    runMachine(compileMachine(parseTemplate(template)), { ...subject, units });
    return count;
  }

  const many = (open: string, size: number) =>
    `{${open}${Array.from({ length: size }, (_, index) => `v${index}`).join(',')}}`;

  it.each([
    ['{a*}!', ','],
    ['{+a*}!', ','],
    ['{+a*}!', 'a,'],
    ['{+a,b,c,d,e}!!', ','],
    ['{+a}{+b}{+c}{+d}{+e}{+f}~', '/'],
    ['{a}{b}{c}{d}{e}{f}!', 'a'],
    ['{+a}/{+b}/{+c}/{+d}/{e}!', '/a'],
    ['{/a*,b,c}{/d*,e}{/f*}!', '/a'],
    ['{.a*,b,c}{.d*,e}{.f*}!', '.a'],
    ['{?a*,aa,aaa}!', '?a=a&aa'],
    ['{;a*}{;b*}!', ';a=a;b=b'],
    ['{?a}{&b}{#c}!', '&a=1#'],
    [`${many('', 30)}!`, 'a,'],
    [`${many('+', 30)}!!`, 'a,'],
    [`${many('/', 30)}${many('.', 30)}!`, '/a.a'],
    [`${many('?', 30)}!`, '&v1=&v29='],
  ])('grows with the length of the URI and no faster: %s and many %p', (template, piece) => {
    const of = (length: number) => looks(template, piece.repeat(length / piece.length));
    const [small, large] = [of(600), of(6_000)];
    expect(large).toBeLessThanOrEqual(10.5 * Math.max(small, template.length));
    expect(large).toBeLessThanOrEqual(6_000 * 4 * template.length);
  });

  it('is nearly nothing for a template whose literals the URI lacks (#22)', () => {
    const uri = `x:${'a/'.repeat(4000)}`;
    const others = Array.from({ length: 4000 }, (_, index) => new UriTemplate(`x:{+path}/edit${index}{?q}`));
    expect(others.some((template) => template.match(uri) !== undefined)).toBe(false);
    const [first] = others;
    expect(first?.match('x:a/edit0?q=1')).toEqual({ path: 'a', q: '1' });
    expect(new UriTemplate('x:{a}%c3%a9{b}').match('x:1%C3%a92')).toEqual({ a: '1', b: '2' });
    expect(new UriTemplate('x:{a}/y/{b}/y').match('x:1/y/2')).toBeUndefined();
    expect(new UriTemplate('x:{+a}/y{b}/y').match('x:1/y/y2/y')).toEqual({ a: '1/y', b: '2' });
  });

  it('is short for 30,000 commas and for many equal parameters', () => {
    expect(match('x:{+a}', `x:${','.repeat(30_000)}`)).toEqual({ a: ','.repeat(30_000) });
    expect(match('x:{a*}{?b*}', `x:${','.repeat(30_000)}`)).toBeUndefined();
    expect(match('x:{?a:9999}', `x:?a=${'b'.repeat(20_000)}${'&a=b'.repeat(10_000)}`)).toBeUndefined();
    expect(match('x:{?a*}', `x:?${'a&'.repeat(30_000)}`)).toEqual({ a: Array.from({ length: 30_000 }, () => '') });
  });
});

describe('expanding and matching', () => {
  type Values = Record<string, string | string[]>;
  type Piece = fc.Arbitrary<{ text: string; values: Values }>;
  type Text = fc.Arbitrary<string>;

  const any = fc
    .oneof(fc.string({ maxLength: 6 }), fc.string({ unit: 'grapheme', maxLength: 6 }))
    .filter((text) => !isUnsafe(text));
  const some = any.filter((text) => text !== '');
  const without = (text: Text, unwanted: RegExp) => text.filter((value) => !unwanted.test(value));
  const undotted = without(some, /\./);
  // In reserved expansion, text that looks encoded is not encoded again.
  const reserved = without(some, /[?#]|%[\da-f]{2}/i);
  const listOf = (text: Text) => fc.array(text, { minLength: 1, maxLength: 4 });
  const short = fc
    .string({ unit: 'grapheme-composite', minLength: 1, maxLength: 2 })
    .filter((text) => !isUnsafe(text) && [...text].length <= 4);

  const piece = (
    text: string,
    shape: Record<string, fc.Arbitrary<string | string[]>>,
    required = Object.keys(shape),
  ): Piece => fc.record(shape, { requiredKeys: required }).map((values) => ({ text, values: values as Values }));

  const segment = (n: number): Piece =>
    fc.oneof(
      piece(`/{a${n}}`, { [`a${n}`]: some }),
      piece(`/{a${n},b${n}}`, { [`a${n}`]: some, [`b${n}`]: some }),
      piece(`/{a${n}:4}`, { [`a${n}`]: short }),
      piece(`/{a${n}*}`, { [`a${n}`]: listOf(some) }),
      piece(`/s{.a${n}}`, { [`a${n}`]: some }, []),
      piece(`/s{.a${n},b${n}}`, { [`a${n}`]: undotted, [`b${n}`]: undotted }, [`a${n}`]),
      piece(`/s{.a${n}*}`, { [`a${n}`]: listOf(undotted) }, []),
      piece(`/s{;a${n},b${n}*}`, { [`a${n}`]: any, [`b${n}`]: listOf(any) }, []),
      piece(`/{a${n}:1}/{a${n}}`, { [`a${n}`]: without(some, /^[./]/) }),
      piece('/literal', {}),
    );
  const tail: Piece = fc.oneof(
    piece('', {}),
    piece('/{+p}', { p: reserved }),
    piece('/{+p*}', { p: listOf(without(reserved, /,/)) }),
    piece('{/p,q}', { p: some, q: some }, ['p']),
    piece('{/p*}', { p: listOf(some) }, []),
  );
  const query: Piece = fc.oneof(
    piece('', {}),
    piece('{?x,y,z*}', { x: any, y: any, z: listOf(any) }, []),
    piece('?fixed=1{&x,z*}', { x: any, z: listOf(any) }, []),
    piece('{?x}{&z*}', { x: any, z: listOf(any) }, []),
  );
  const fragment: Piece = fc.oneof(piece('', {}), piece('{#f}', { f: reserved }, []));
  const segments = fc
    .integer({ min: 0, max: 4 })
    .chain((size) => fc.tuple(...Array.from({ length: size }, (_, n) => segment(n))));

  it('are inverse to each other', () => {
    const pieces = fc.tuple(segments, tail, query, fragment).map(([first, ...rest]) => [...first, ...rest]);
    const check = (parts: readonly { text: string; values: Values }[]) => {
      const template = new UriTemplate(`x:/${parts.map(({ text }) => text).join('')}`);
      const values = Object.assign({}, ...parts.map((part) => part.values)) as Values;
      expect({ ...template.match(template.expand(values)) }).toEqual(values);
    };
    fc.assert(fc.property(pieces, check), { numRuns: 2_000 });
  });
});
