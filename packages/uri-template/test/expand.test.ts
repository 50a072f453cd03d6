import { describe, expect, it } from '@jest/globals';
import { UriTemplate, type TemplateValue } from '../src/uri-template.js';

/** RFC 6570, section 3.2. */
const VALUES: Readonly<Record<string, TemplateValue>> = {
  count: ['one', 'two', 'three'],
  dom: ['example', 'com'],
  dub: 'me/too',
  hello: 'Hello World!',
  half: '50%',
  var: 'value',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  list: ['red', 'green', 'blue'],
  keys: { semi: ';', dot: '.', comma: ',' },
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
  empty_keys: {},
  undef: null,
};

/** The examples of RFC 6570, by section: each template with its URI. */
const EXAMPLES: Readonly<Record<string, string>> = {
  '3.2.1': `
    {count} one,two,three   {count*} one,two,three   {/count} /one,two,three   {/count*} /one/two/three
    {;count} ;count=one,two,three   {;count*} ;count=one;count=two;count=three   {?count} ?count=one,two,three
    {?count*} ?count=one&count=two&count=three   {&count*} &count=one&count=two&count=three
  `,
  '3.2.2': `
    {var} value   {hello} Hello%20World%21   {half} 50%25   O{empty}X OX   O{undef}X OX   {x,y} 1024,768
    {x,hello,y} 1024,Hello%20World%21,768   ?{x,empty} ?1024,   ?{x,undef} ?1024   ?{undef,y} ?768   {var:3} val
    {var:30} value   {list} red,green,blue   {list*} red,green,blue   {keys} semi,%3B,dot,.,comma,%2C
    {keys*} semi=%3B,dot=.,comma=%2C
  `,
  '3.2.3': `
    {+var} value   {+hello} Hello%20World!   {+half} 50%25   {base}index http%3A%2F%2Fexample.com%2Fhome%2Findex
    {+base}index http://example.com/home/index   O{+empty}X OX   O{+undef}X OX   {+path}/here /foo/bar/here
    here?ref={+path} here?ref=/foo/bar   up{+path}{var}/here up/foo/barvalue/here
    {+x,hello,y} 1024,Hello%20World!,768   {+path,x}/here /foo/bar,1024/here   {+path:6}/here /foo/b/here
    {+list} red,green,blue   {+list*} red,green,blue   {+keys} semi,;,dot,.,comma,,   {+keys*} semi=;,dot=.,comma=,
  `,
  '3.2.4': `
    {#var} #value   {#hello} #Hello%20World!   {#half} #50%25   foo{#empty} foo#   foo{#undef} foo
    {#x,hello,y} #1024,Hello%20World!,768   {#path,x}/here #/foo/bar,1024/here   {#path:6}/here #/foo/b/here
    {#list} #red,green,blue   {#list*} #red,green,blue   {#keys} #semi,;,dot,.,comma,,
    {#keys*} #semi=;,dot=.,comma=,
  `,
  '3.2.5': `
    {.who} .fred   {.who,who} .fred.fred   {.half,who} .50%25.fred   www{.dom*} www.example.com   X{.var} X.value
    X{.empty} X.   X{.undef} X   X{.var:3} X.val   X{.list} X.red,green,blue   X{.list*} X.red.green.blue
    X{.keys} X.semi,%3B,dot,.,comma,%2C   X{.keys*} X.semi=%3B.dot=..comma=%2C   X{.empty_keys} X
    X{.empty_keys*} X
  `,
  '3.2.6': `
    {/who} /fred   {/who,who} /fred/fred   {/half,who} /50%25/fred   {/who,dub} /fred/me%2Ftoo   {/var} /value
    {/var,empty} /value/   {/var,undef} /value   {/var,x}/here /value/1024/here   {/var:1,var} /v/value
    {/list} /red,green,blue   {/list*} /red/green/blue   {/list*,path:4} /red/green/blue/%2Ffoo
    {/keys} /semi,%3B,dot,.,comma,%2C   {/keys*} /semi=%3B/dot=./comma=%2C
  `,
  '3.2.7': `
    {;who} ;who=fred   {;half} ;half=50%25   {;empty} ;empty   {;v,empty,who} ;v=6;empty;who=fred
    {;v,bar,who} ;v=6;who=fred   {;x,y} ;x=1024;y=768   {;x,y,empty} ;x=1024;y=768;empty
    {;x,y,undef} ;x=1024;y=768   {;hello:5} ;hello=Hello   {;list} ;list=red,green,blue
    {;list*} ;list=red;list=green;list=blue   {;keys} ;keys=semi,%3B,dot,.,comma,%2C
    {;keys*} ;semi=%3B;dot=.;comma=%2C
  `,
  '3.2.8': `
    {?who} ?who=fred   {?half} ?half=50%25   {?x,y} ?x=1024&y=768   {?x,y,empty} ?x=1024&y=768&empty=
    {?x,y,undef} ?x=1024&y=768   {?var:3} ?var=val   {?list} ?list=red,green,blue
    {?list*} ?list=red&list=green&list=blue   {?keys} ?keys=semi,%3B,dot,.,comma,%2C
    {?keys*} ?semi=%3B&dot=.&comma=%2C
  `,
  '3.2.9': `
    {&who} &who=fred   {&half} &half=50%25   ?fixed=yes{&x} ?fixed=yes&x=1024   {&x,y,empty} &x=1024&y=768&empty=
    {&x,y,undef} &x=1024&y=768   {&var:3} &var=val   {&list} &list=red,green,blue
    {&list*} &list=red&list=green&list=blue   {&keys} &keys=semi,%3B,dot,.,comma,%2C
    {&keys*} &semi=%3B&dot=.&comma=%2C
  `,
};

describe('expanding a URI template', () => {
  it.each(Object.entries(EXAMPLES))('follows RFC 6570, section %s', (_section, text) => {
    const examples = text
      .trim()
      .split(/\s{3,}/)
      .map((row) => row.split(' '));
    expect(examples.map(([template = '']) => [template, new UriTemplate(template).expand(VALUES)])).toEqual(examples);
  });

  it('percent-encodes characters of literals that are invalid in a URI', () => {
    expect(new UriTemplate("x://café/%2f/it's/{x}").expand({ x: 'é' })).toBe("x://caf%C3%A9/%2f/it's/%C3%A9");
  });

  it('keeps percent-encoded triplets only in reserved expansion', () => {
    expect(new UriTemplate('{x}{+x}').expand({ x: 'a%2Fb' })).toBe('a%252Fba%2Fb');
  });

  it('cuts a prefix between characters, never inside one', () => {
    expect(new UriTemplate('{x:2}').expand({ x: '😀é€' })).toBe('%F0%9F%98%80%C3%A9');
  });

  it('skips undefined members of lists and associative arrays', () => {
    const lists = { list: ['a', null, undefined, 'b'], none: [null], more: ['c', null] };
    const values = { ...lists, keys: { a: 1, b: null, c: undefined } };
    expect(new UriTemplate('{list}{?more*,keys*,none}').expand(values)).toBe('a,b?more=c&a=1');
  });

  it('writes numbers and booleans', () => {
    expect(new UriTemplate('{?page,all}').expand({ page: 2, all: false })).toBe('?page=2&all=false');
  });

  it('ignores the prototype of the values', () => {
    expect(new UriTemplate('x:{constructor}{toString}{__proto__}').expand({})).toBe('x:');
  });

  it('rejects a prefix of a list', () => {
    expect(() => new UriTemplate('{x:3}').expand({ x: ['a'] })).toThrow(TypeError);
  });

  it('rejects half a surrogate pair', () => {
    expect(() => new UriTemplate('{x}').expand({ x: '\uD800' })).toThrow(URIError);
  });
});

describe('parsing a URI template', () => {
  it('rejects mistakes with a reason', () => {
    for (const [template, reason] of [
      ['x://{', 'the "{" at position 4 is never closed'],
      ['{/id*', 'the "{" at position 0 is never closed'],
      ['/id*}', 'a "}" has no "{" before it'],
      ['{}', 'an expression is empty'],
      ['{+}', '"" is not a variable name'],
      ['{a,}', '"" is not a variable name'],
      ['{a{b}}', '"a{b" is not a variable name'],
      ['{/?id}', '"?id" is not a variable name'],
      ['{a b}', '"a b" is not a variable name'],
      ['{a..b}', '"a..b" is not a variable name'],
      ['{.a.}', '"a." is not a variable name'],
      ['{a%2}', '"a%2" is not a variable name'],
      ['{a-b}', '"a-b" is not a variable name'],
      ['{é}', '"é" in "{é}" is not an operator'],
      ['{!x}', '"!" in "{!x}" is not an operator'],
      ['{=x}', '"=" in "{=x}" is not an operator'],
      ['{|x}', '"|" in "{|x}" is not an operator'],
      ['{*keys}', '"*" in "{*keys}" is not an operator'],
      ['{x:0}', 'the prefix ":0" is not a number from 1 to 9999'],
      ['{x:10000}', 'the prefix ":10000" is not a number from 1 to 9999'],
      ['{x:}', 'the prefix ":" is not a number from 1 to 9999'],
      ['{x:prefix}', 'the prefix ":prefix" is not a number from 1 to 9999'],
      ['{x:2*}', 'the prefix ":2*" is not a number from 1 to 9999'],
      ['{x*}{?x}', 'the variable "x" is a list and appears twice'],
      ['{x}{?x*}', 'the variable "x" is a list and appears twice'],
      ['x://a b/{x}', '" " is not allowed in a URI'],
      ['x://a\n/{x}', '"\\n" is not allowed in a URI'],
      ['x:\\{x}', '"\\\\" is not allowed in a URI'],
      ['x:\uD800{x}', '"\\ud800" is not allowed in a URI'],
      ['x:%zz{x}', 'a "%" is not followed by two hexadecimal digits'],
    ] as const) {
      expect(() => new UriTemplate(template)).toThrow(new SyntaxError(reason));
    }
  });

  it('names each variable once, in order of appearance', () => {
    const { variables } = new UriTemplate('x://{b}{/a:1,a}{?c.d*,e_1}{#%41}');
    expect(variables).toEqual(['b', 'a', 'c.d', 'e_1', '%41']);
  });

  it('exposes the text before the first expression and the length of all literals', () => {
    expect(new UriTemplate('x://ü/{a}/b')).toMatchObject({
      template: 'x://ü/{a}/b',
      prefix: 'x://%C3%BC/',
      specificity: 13,
    });
    expect(new UriTemplate('{a}b')).toMatchObject({ prefix: '', specificity: 1 });
  });

  it('treats any text with a brace as a template, so that mistakes are reported', () => {
    const templates = ['x://{a}', 'x://{', 'x://}', 'x://a'].filter((text) => UriTemplate.isTemplate(text));
    expect(templates).toEqual(['x://{a}', 'x://{', 'x://}']);
  });

  it('rejects a long invalid variable name in linear time', () => {
    expect(() => new UriTemplate(`{${'a'.repeat(50_000)}!}`)).toThrow(SyntaxError);
  });
});
