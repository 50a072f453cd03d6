// The program, killed and asked as clients do.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { connect, elicits } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

describe.each(['2025-06-18', '2025-11-25', '2026-07-28'])(
  'the reports, for a client of %s without tasks',
  (revision) => {
    let data: string;
    beforeEach(async () => {
      data = await mkdtemp(join(tmpdir(), 'reports-'));
    });
    afterEach(() => rm(data, { recursive: true }));

    const open = (onElicit: ReturnType<typeof elicits>) =>
      connect(
        { command: process.execPath, args: [MAIN, '--stdio'], env: { DATA: data, COOL_DOWN_MS: '0' } },
        { revision, onElicit },
      );

    it('are published once the user agrees', async () => {
      const client = await open(elicits('accept'));
      const { content } = await client.callTool('yearly', { year: 2025 });
      expect(content).toEqual([{ type: 'text', text: expect.stringMatching(/^Published: file:/) }]);
      await client.close();
      expect(await readdir(join(data, 'site'))).toEqual([expect.stringMatching(/^2025-/)]);
    });

    it('are not published if the user declines', async () => {
      const client = await open(elicits('decline'));
      const { content } = await client.callTool('yearly', { year: 2025 });
      expect(content).toEqual([{ type: 'text', text: 'Not published.' }]);
      await client.close();
      expect(await readdir(data)).toEqual([]);
    });
  },
);
