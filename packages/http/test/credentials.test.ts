import { readFileSync } from 'node:fs';

import { describe, expect, it } from '@jest/globals';

import { credentialHeaders } from '../src/auth/credentials.js';

describe('the headers that handlers do not see', () => {
  it('are those that docs/http.md lists', () => {
    const page = readFileSync(new URL('../../../docs/http.md', import.meta.url), 'utf8');
    const section = page.split('### Headers that handlers').at(1)?.split('\n#').at(0) ?? '';
    const rows = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| what'));
    const listed = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect([...credentialHeaders([])].sort()).toEqual(listed.sort());
  });

  it('are compared in lower case', () => {
    expect(credentialHeaders(['X-My-Token']).has('x-my-token')).toBe(true);
  });
});
