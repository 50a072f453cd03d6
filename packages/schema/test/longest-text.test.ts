import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { longestText } from '../src/patterns/longest-text.js';
import { cpuMs } from '../../../test/support/cpu.js';

const lines = (text: string): string[] => text.trim().split(/\s+/);

const EXPONENTIAL = lines(String.raw`
  ^(a+)+$  ^(a*)*$  ^(a|a)*$  ^(a|ab|b)*c$  ^(\w+\s?)+$  ^([a-zA-Z]+)*$  ^(a|aa)+$  ^(.*a){12}$  ^(\d+|\w+)+!$  ^(a?a?)*b
  ^((ab)*)*$  (x+x+)+y  ^(\s*a\s*)*$  ^(a{1,30}){1,30}$  ^(?=(a+)+$)  ^([a-z]{1,10})+$  ^((a|b)*c*)*$  ^(a{1,3}){1,20}$
  ^(?:[^"\\]|\\.|"|[^\n])*$  ^([\u0061-f]+|[c-z])+$  ^((a{1,4}){1,4}){1,4}$  ^(((a|a){4}){4}){4}$
  ^a{1,64}a{1,64}a{1,64}a{1,64}a{1,64}a{1,64}$  ^a*a*a*a*$  ^.*a.*b.*c.*$  ^(?:a?){27}$  ^(?:\d?){24}$
  ^a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?b$  ^(.*)(.*)(.*)\1\2$  ^arn:.*:.*:.*:.*:.*$
  ^.*aaaaaaaaaa.*aaaaaaaaaa.*aaaaaaaaaa.*$
`);

const POLYNOMIAL = lines(String.raw`
  ^a*a*$  ^\s*\s*x$  a+$  \s+$  ^.*foo.*bar$  ^[^@\s]+@[^@\s]+\.[^@\s]+$  foo.*bar  (.+)\1  ^(?=.*[a-z])(?=.*\d).{8,}$
  ^[a-z]*[a-z0-9]*$  ^.*a.*b.*c$  ^\s*.{1,100}$
  ^\w*\w{0,99}@  \w{1,90}@  \S{1,100}\s  [\w.+-]{1,64}@  x{0,9}x{0,9}y  ^.*foo.*bar.*baz.*$
  ^projects/.+/locations/.+/keyRings/.+/cryptoKeys/.+$  ^/subscriptions/.+/resourceGroups/.+/providers/.+/.+$
  ^(?=.*[A-Z].*[A-Z])(?=.*[!@#$&*])(?=.*[0-9].*[0-9])(?=.*[a-z].*[a-z].*[a-z]).{8}$  ^(?=(?:.*\d){3}).*$
  ^(?!.*foo.*bar.*baz).*$   ^(?<year>\d+)-?\d+$  ^\d*[٠-٩\d]*$
`);

const LINEAR = lines(String.raw`
  ^[A-Z]{2}\d{4}$  ^[a-z0-9]+(?:-[a-z0-9]+)*$  ^\d+\.\d+\.\d+$  ^(?:[0-9a-f]{4}:){7}[0-9a-f]{4}$  ^([a-z]+,)*[a-z]+$  ^.*$
  abc  [a-z]+  ^(a|b|c)+$  ^[\w.-]{1,64}$  ^#  ^[^/]+/[^/]+$  ^(\d{1,3}\.){3}\d{1,3}$  ^(foo|bar)*$  ^$  ^[\x00-\x7F]+$
  ^(?:red|green|blue)$  ^\+?[1-9]\d{1,14}$  ^[a-z][a-z0-9_]*$  ^(0|[1-9][0-9]*)$  ^\d{4}-\d{2}-\d{2}$  ^https://  x*
  ^\d{1,3}\d{1,3}$  ^[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}$  ^(?:\d{1,3}){3}$  ^(?:[a-z]{2}(?:-[a-z]{2}){0,2}-?){1,4}$
  ^((\d{1,3})(,\d{3})*(\.\d+)?\s){1,3}$  \d{3,4}-\d{4}
  ^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$  ^"(?:[^"\\]|\\.)*"$  ^[\]\[]+$  ^a{2,}$  ^{a}$  ^\cA\0$  ^(?!x)y$
`);

/** The growth of the match time with the length of the text. */
const backtracking = (source: string, flags?: string): string => {
  const longest = longestText(source, flags);
  if (longest === Number.POSITIVE_INFINITY) return 'linear';
  return longest === 0 ? 'exponential' : 'polynomial';
};

describe('the time of a pattern', () => {
  it.each(EXPONENTIAL)('is exponential for %s', (source) => expect(backtracking(source)).toBe('exponential'));
  it.each(POLYNOMIAL)('is polynomial for %s', (source) => expect(backtracking(source)).toBe('polynomial'));
  it.each(LINEAR)('is linear for %s', (source) => expect(backtracking(source)).toBe('linear'));

  it('depends on the flags', () => {
    expect(backtracking('^(a|A)*$')).toBe('linear');
    expect(backtracking('^(a|A)*$', 'i')).toBe('exponential');
    expect(backtracking(String.raw`^(\p{L}|a)*$`, 'u')).toBe('exponential');
    expect(backtracking(String.raw`^\p{Lu}\p{Ll}*$`, 'u')).toBe('linear');
  });

  it('counts as exponential if the pattern is too complex', () => {
    const words = Array.from({ length: 5000 }, (_, n) => `w${n}`).join('|');
    expect(backtracking(`^(${words})*$`)).toBe('exponential');
    expect(backtracking(`^(${words.slice(0, 500)})$`)).toBe('linear');
  });

  it('is confirmed by a real matcher on the longest text of a pattern', () => {
    const character = fc.constantFrom('a', 'b', '[ab]', '.', String.raw`\w`, '[^a]');
    const { regex } = fc.letrec<{ regex: string }>((tie) => ({
      regex: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        character,
        fc.tuple(tie('regex'), tie('regex')).map(([a, b]) => `${a}${b}`),
        fc.tuple(tie('regex'), tie('regex')).map(([a, b]) => `(?:${a}|${b})`),
        fc.tuple(tie('regex'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '{2,}')).map(([a, q]) => `(?:${a})${q}`),
      ),
    }));
    const isFast = (source: string): boolean => {
      const pattern = new RegExp(source);
      const longest = Math.min(longestText(source), 20_000);
      return ['a', 'b', 'ab', 'aab', 'ba'].every((part) => {
        const started = cpuMs();
        pattern.test(`${part.repeat(longest / part.length)}!\n`);
        return cpuMs() - started < 3000;
      });
    };
    const anchored = regex.map((source) => `^${source}$`);
    expect(fc.check(fc.property(anchored, isFast), { numRuns: 300, seed: 1 }).counterexample).toBeNull();
  });
});
