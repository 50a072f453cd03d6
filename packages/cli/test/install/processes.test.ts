import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { backupOf, readConfig } from '../../src/install/config-file.js';
import { locked } from '../../src/install/file-lock.js';
import { ROOT } from '../project.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'decorum-install-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const config = (): string => join(folder, 'config');
const read = (): string => readFileSync(config(), 'utf8');

describe('commands that change a file at once', () => {
  const INSTALLER = `
const [, , folder, config, name] = process.argv;
const { again } = await import(folder + 'config-file.js');
const { carryOut, plan } = await import(folder + 'install.js');
const { clientOf } = await import(folder + 'location.js');
const { uninstall } = await import(folder + 'uninstall.js');
const server = { url: 'http://127.0.0.1/mcp', name, args: [], env: {}, dev: false, force: false };
const install = () => again(() => carryOut(plan(clientOf('cursor'), { ...server, scope: 'user', config })));
process.once('message', () => {
  install();
  uninstall(clientOf('cursor'), { scope: 'user', config, name, dryRun: false });
  install();
  process.disconnect();
});
process.send('ready');
`;

  it('lose no server, and leave no other file', async () => {
    const script = join(folder, 'installer.mjs');
    writeFileSync(script, INSTALLER);
    const { href } = pathToFileURL(`${join(ROOT, 'packages/cli/dist/install')}/`);
    const names = Array.from({ length: 20 }, (_, index) => `server-${index}`);
    const children = names.map((name) => fork(script, [href, config(), name], { execArgv: [] }));
    const codes = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
    await Promise.all(children.map((child) => new Promise((resolve) => child.once('message', resolve))));
    for (const child of children) child.send('go');
    expect(await Promise.all(codes)).toEqual(names.map(() => 0));
    const { mcpServers } = JSON.parse(read()) as { mcpServers: object };
    expect(Object.keys(mcpServers).toSorted()).toEqual(names.toSorted());
    expect(readdirSync(folder)).toEqual(['config', 'config.decorum-backup', 'installer.mjs']);
  }, 180_000);
});

describe('a lock of a process that was killed', () => {
  const lock = (): string => `${config()}.decorum-lock`;

  it('does not stop the next one', () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    writeFileSync(lock(), String(pid));
    expect(locked(config(), () => 'done')).toBe('done');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('does not stop the next one for long if another process has its number', () => {
    writeFileSync(lock(), String(process.pid));
    utimesSync(lock(), 0, 0);
    expect(locked(config(), () => 'done')).toBe('done');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a process that is killed while it writes', () => {
  /** Writes two large texts in turns, until it is killed. */
  const WRITER = `
const { readConfig, writeConfig } = await import(process.argv[2]);
const path = process.argv[3];
for (let turn = 0; ; turn++) {
  writeConfig(readConfig(path), (turn % 2 ? 'b' : 'a').repeat(2_000_000), { isPrivate: true, backup: 'write' });
  if (turn === 0) process.send('ready');
}
`;
  const ready = (child: ChildProcess) => new Promise((resolve) => child.once('message', resolve));
  const ended = (child: ChildProcess) => new Promise((resolve) => child.once('close', resolve));

  it('leaves the old text or the new one', async () => {
    const script = join(folder, 'writer.mjs');
    writeFileSync(script, WRITER);
    writeFileSync(config(), 'b'.repeat(2_000_000));
    const { href } = pathToFileURL(join(ROOT, 'packages/cli/dist/install/config-file.js'));
    for (let round = 0; round < 12; round++) {
      const child = fork(script, [href, config()], { execArgv: [] });
      await ready(child);
      await new Promise((resolve) => setTimeout(resolve, 3 + round * 7));
      const end = ended(child);
      child.kill('SIGKILL');
      await end;
      for (const path of [config(), backupOf(readConfig(config()))]) {
        const text = readFileSync(path, 'utf8');
        expect([text.length, new Set(text).size]).toEqual([2_000_000, 1]);
      }
    }
  }, 180_000);
});
