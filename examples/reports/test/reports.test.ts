// The program, called as clients with and without tasks do.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { connect, elicits } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const CLIENTS = [
  ['2025-06-18', { task: false }],
  ['2025-11-25', { task: false }],
  ['2025-11-25', { task: true }],
  ['2026-07-28', { task: false }],
  ['2026-07-28', { task: true }],
] as const;

describe.each(CLIENTS)('the reports, for a client of %s with %j', (revision, options) => {
  let data: string;
  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'reports-'));
  });
  afterEach(() => rm(data, { recursive: true }));

  const call = async (answer: 'accept' | 'decline') => {
    const env = { DATA: data, COOL_DOWN_MS: '0' };
    const program = { command: process.execPath, args: [MAIN, '--stdio'], env };
    const client = await connect(program, { revision, onElicit: elicits(answer) });
    const { content } = await client.callTool('yearly', { year: 2025 }, options);
    await client.close();
    return content;
  };

  it('are published once the user agrees, and not otherwise', async () => {
    expect(await call('decline')).toEqual([{ type: 'text', text: 'Not published.' }]);
    expect(await readdir(data)).toEqual([]);
    expect(await call('accept')).toEqual([{ type: 'text', text: expect.stringMatching(/^Published: file:/) }]);
    expect(await readdir(join(data, 'site'))).toEqual([expect.stringMatching(/^2025-/)]);
  });
});
