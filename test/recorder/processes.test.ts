import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { McpServer } from '@decorum/core';
import { replayOf } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { FAULTS } from './faults.js';

const HERE = dirname(fileURLToPath(import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recordings-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A process that records calls until it is killed, or all of them. */
function recording(count: number) {
  const child = fork(join(HERE, 'recording-process.js'), [folder, String(count)], { stdio: ['ignore', 2, 2, 'ipc'] });
  return { child, ended: once(child, 'close') };
}

const complete = () => readdirSync(folder).filter((name) => !name.startsWith('.'));
const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { readonly redacted: number };

describe('processes that record', () => {
  it('leave only whole recordings if they are killed while they write', async () => {
    for (let round = 0; round < 5; round++) {
      const { child, ended } = recording(100_000);
      await once(child, 'message');
      // it writes without end
      while (complete().length < 20 * (round + 1)) await new Promise(setImmediate);
      child.kill('SIGKILL');
      await ended;
    }
    expect(complete().length).toBeGreaterThanOrEqual(100);
    for (const name of complete()) expect(read(name)).toMatchObject({ format: 1, outcome: { cause: 'expected' } });
  });

  it('keep the limits of a folder that they share', async () => {
    const processes = [recording(150), recording(150)];
    await Promise.all(processes.map(({ ended }) => ended));
    const names = complete();
    // each looks at the folder after 20 recordings of its own
    expect(names.length).toBeGreaterThan(30);
    expect(names.length).toBeLessThanOrEqual(50 + 40);
    for (const name of names) {
      expect(read(name)).toMatchObject({ format: 1 });
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    }
  });
});

describe('a recording of an earlier version', () => {
  it('can be replayed', async () => {
    const server = new McpServer({ ...FAULTS, logger: { warn() {}, error() {} } });
    const replay = await replayOf(join(HERE, 'recordings/format-1.json'), { server });
    expect(replay.replayed).toMatchObject({ status: 'tool-error', message: 'seat 7 is free again' });
    expect(replay.differences).toEqual([]);
    expect(replay.failure).toBe('expected: seat 7 is free again');
    await server.close();
  });
});
