// Tables of the documentation that state things as they are.
import { readFileSync } from 'node:fs';

import { DEFAULT_LIMITS } from '@decorum/core/internal';
import { describe, expect, it } from '@jest/globals';

import { credentialHeaders } from '../src/auth/credentials.js';
import { LISTEN_LIMITS, resolveLimits } from '../src/endpoint/limits.js';

const pageOf = (name: string) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');

const text = pageOf('limits');
const table = text.slice(text.indexOf('## All limits'), text.indexOf('## What the server keeps'));

/** The rows of the options: where each is set, and its default. */
const rows = new Map(
  Array.from(table.matchAll(/^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|/gm), ([, name, place, value]) => [
    name as string,
    { place: place as string, value: value as string },
  ]),
);

const named = (place: string) => [...rows].filter(([, row]) => row.place === place).map(([name]) => name);
const numberIn = (name: string) => Number(/^[\d,]+/.exec(rows.get(name)?.value ?? '')?.[0].replaceAll(',', ''));
const stated = (names: Iterable<string>) => Object.fromEntries(Array.from(names, (name) => [name, numberIn(name)]));

describe('The table of limits', () => {
  it('has all limits of a server, with their defaults', () => {
    expect(stated(named('`McpServer`'))).toEqual(DEFAULT_LIMITS);
  });

  it('has all limits of an endpoint, with their defaults', () => {
    expect(stated(named('endpoint'))).toEqual(resolveLimits());
  });

  it('has all limits of `listen`, with their defaults', () => {
    expect(stated(named('`listen`'))).toEqual(LISTEN_LIMITS);
  });

  it('says how the caps on unfinished bodies follow from `bodyLimit`', () => {
    const caps = { maxUnfinishedBytes: 16, maxUnfinishedBytesPerAddress: 4 };
    for (const [name, factor] of Object.entries(caps)) {
      expect(rows.get(name)?.value).toContain(`, or ${factor} times \`bodyLimit\` if that is more`);
      const least = numberIn(name) / factor;
      for (const bodyLimit of [1, least, least + 1]) {
        expect(resolveLimits({ bodyLimit })).toMatchObject({ [name]: Math.max(numberIn(name), factor * bodyLimit) });
      }
    }
  });
});

describe('the headers that handlers do not see', () => {
  it('are those that docs/http.md lists', () => {
    const section = pageOf('http').split('### Headers that handlers').at(1)?.split('\n#').at(0) ?? '';
    const lines = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| what'));
    const listed = lines.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect([...credentialHeaders([])].sort()).toEqual(listed.sort());
  });

  it('are compared in lower case', () => {
    expect(credentialHeaders(['X-My-Token']).has('x-my-token')).toBe(true);
  });
});
