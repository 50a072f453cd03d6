// What is special about tasks in files: restarts, crashes, damage, and disks that fail.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { describe, expect, it, jest } from '@jest/globals';
import { fileTasks, type StoredTask } from '@decorum/tasks';

import { createFolder, afterwards, openFileTasks } from './fixture-files.js';
import { ManualClock } from './manual-clock.js';

const task = (id: string, more: Partial<StoredTask> = {}): StoredTask => ({
  id,
  version: 1,
  owner: 'ann',
  isOpen: true,
  createdAt: 1_700_000_000_000,
  expiresAt: undefined,
  holder: 'p1',
  text: `text of ${id}`,
  ...more,
});

/** The files of a folder, but for the lock. */
const filesIn = (folder: string) =>
  readdirSync(folder)
    .filter((file) => file !== 'lock')
    .toSorted();

/** The only file of a task in a folder. */
const onlyFile = (folder: string) => join(folder, filesIn(folder)[0] ?? '');

describe('fileTasks', () => {
  it('has after a restart what was stored, in a folder that others cannot read', async () => {
    const folder = join(createFolder(), 'new', 'tasks');
    const clock = new ManualClock();
    const { store } = await openFileTasks(folder, { clock });
    const kept = task('kept', { version: 2, text: 'changed', expiresAt: clock.now() + 5000 });
    await store.set(task('kept'));
    await store.set(kept);
    await store.set(task('deleted'));
    await store.delete('deleted');
    await store.set(task('expired', { expiresAt: clock.now() + 1000 }));
    await store.beat('p1', 60_000);
    await store.close();
    for (const [path, mode] of [
      [folder, 0o700],
      [join(folder, 'lock'), 0o600],
      [onlyFile(folder), 0o600],
    ] as const)
      expect(statSync(path).mode & 0o777).toBe(mode);
    clock.pass(1000);
    const { store: again, reports } = await openFileTasks(folder, { clock });
    expect(await again.get('kept')).toEqual(kept);
    expect(await again.list('ann', { limit: 10 })).toEqual([kept]);
    expect(again.openTasks()).toEqual([{ id: 'kept', holder: 'p1' }]);
    // the process before it is dead
    expect(again.lives('p1')).toBe(false);
    await again.close();
    expect(filesIn(folder)).toHaveLength(1);
    expect(reports).toEqual([]);
  });

  it('keeps no file of an expired task', async () => {
    const folder = createFolder();
    const clock = new ManualClock();
    const { store } = await openFileTasks(folder, { clock });
    for (const id of ['a', 'b', 'c']) await store.set(task(id, { expiresAt: clock.now() + 1000 }));
    clock.pass(1000);
    // its old file is to be removed, but not the new one
    expect(await store.set(task('b'))).toBe(true);
    expect(store.count('ann')).toEqual({ all: 1, own: 1 });
    await store.close();
    expect(filesIn(folder)).toHaveLength(1);
    expect(await (await openFileTasks(folder, { clock })).store.get('b')).toEqual(task('b'));
  });

  it('keeps a second process out, with what to do, but lets it read', async () => {
    const folder = createFolder();
    const { store } = await openFileTasks(folder);
    await store.set(task('a'));
    await expect(openFileTasks(folder)).rejects.toMatchObject({
      code: 'DECORUM_INVALID_OPTION',
      message: expect.stringMatching(
        /^fileTasks: `folder` is ".*", which process \d+ on .*: stop that one, or pass another folder/,
      ),
    });
    writeFileSync(join(folder, `${filesIn(folder)[0]}.new`), 'half');
    const { store: reader } = await openFileTasks(folder, { readOnly: true });
    expect(await reader.list('ann', { limit: 9 })).toEqual([task('a')]);
    await expect(reader.set(task('b'))).rejects.toThrow('read only');
    await expect(reader.delete('a')).rejects.toThrow('read only');
    expect(filesIn(folder)).toHaveLength(2);
    await store.close();
    await expect(store.set(task('b'))).rejects.toThrow('is not open');
  });

  it.each(['', 5, undefined])('rejects %p as a folder', (folder) => {
    expect(() => fileTasks(folder as string)).toThrow('fileTasks: `folder` must be the path of a folder');
  });

  it('says what is wrong with a folder that cannot be used', async () => {
    const file = join(createFolder(), 'file');
    writeFileSync(file, '');
    await expect(openFileTasks(file)).rejects.toThrow("fileTasks: `folder` can't be used: EEXIST");
    const missing = openFileTasks(join(createFolder(), 'missing'), { readOnly: true });
    await expect(missing).rejects.toThrow("fileTasks: `folder` can't be used: ENOENT");
  });

  it('sets a file aside that was cut off at any byte, or altered, reports it, and keeps the others', async () => {
    const folder = createFolder();
    const { store } = await openFileTasks(folder);
    await store.set(task('a', { text: 'ümlaut' }));
    await store.close();
    const file = onlyFile(folder);
    const content = readFileSync(file);
    const damaged = [...content.keys()].map((end) => content.subarray(0, end));
    const altered = Buffer.from(content);
    altered[content.length - 1] = 0x41;
    const replaced = content.toString().replace('"version":1', '"version":9');
    damaged.push(altered, Buffer.from(replaced), Buffer.from('null\n'), Buffer.from('{"format":1,"crc32":0}\n'));
    for (const bytes of damaged) {
      writeFileSync(file, bytes);
      const { store: other, reports } = await openFileTasks(folder);
      expect(await other.get('a')).toBeUndefined();
      expect(reports).toEqual([expect.stringContaining(`${file}.unreadable`)]);
      expect(readFileSync(`${file}.unreadable`)).toEqual(bytes);
      await other.close();
    }
    expect(filesIn(folder)).toHaveLength(1);
    writeFileSync(file, content);
    const { store: whole, reports } = await openFileTasks(folder);
    expect(await whole.get('a')).toEqual(task('a', { text: 'ümlaut' }));
    expect(reports).toEqual([]);
  });

  it('fails to open where a newer version has written', async () => {
    const folder = createFolder();
    const { store } = await openFileTasks(folder);
    await store.set(task('a'));
    await store.close();
    const file = onlyFile(folder);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"format":1', '"format":2'));
    await expect(openFileTasks(folder)).rejects.toThrow('was written by a newer version of @decorum/tasks');
    expect(filesIn(folder)).toHaveLength(1);
  });

  it('forgets a task whose file is removed or damaged while it runs, if it has to read it', async () => {
    const folder = createFolder();
    const { store } = await openFileTasks(folder);
    for (const id of ['a', 'b', 'c']) await store.set(task(id, { createdAt: id.charCodeAt(0) }));
    await store.close();
    const { store: again, reports } = await openFileTasks(folder);
    const [removed = '', damaged = ''] = filesIn(folder);
    rmSync(join(folder, removed));
    truncateSync(join(folder, damaged), 10);
    expect(await again.list('ann', { limit: 1 })).toHaveLength(1);
    expect(await again.list('ann', { limit: 3 })).toHaveLength(1);
    expect(again.count('ann')).toEqual({ all: 1, own: 1 });
    expect(reports).toEqual([expect.stringContaining(damaged)]);
  });
});

describe('a disk that fails', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });

  /** Spies on a method of all file handles. */
  async function spyOn(method: 'writeFile' | 'sync') {
    const handle = await open(process.execPath);
    await handle.close();
    const prototype = Object.getPrototypeOf(handle) as typeof handle;
    const spy = jest.spyOn(prototype, method);
    afterwards(() => spy.mockRestore());
    return spy;
  }

  it.each(['writeFile', 'sync'] as const)(
    'in %s rejects the set, keeps the version before, and takes it later',
    async (method) => {
      const folder = createFolder();
      const { store } = await openFileTasks(folder);
      await store.set(task('a'));
      (await spyOn(method)).mockRejectedValueOnce(full);
      await expect(store.set(task('a', { version: 2, text: 'lost' }))).rejects.toBe(full);
      expect(await store.get('a')).toEqual(task('a'));
      expect(filesIn(folder)).toHaveLength(1);
      expect(await store.set(task('a', { version: 2, text: 'new' }))).toBe(true);
      await store.close();
      expect((await (await openFileTasks(folder)).store.get('a'))?.text).toBe('new');
    },
  );

  it('in the sync of the folder rejects the set, and shows what is in the file', async () => {
    const folder = createFolder();
    const { store } = await openFileTasks(folder);
    await store.set(task('a'));
    const synced = await spyOn('sync');
    synced.mockResolvedValueOnce(undefined as never).mockRejectedValueOnce(full);
    await expect(store.set(task('a', { version: 2 }))).rejects.toBe(full);
    expect((await store.get('a'))?.version).toBe(2);
    expect(await store.set(task('a', { version: 3 }))).toBe(true);
  });

  it('rejects sets once the folder is gone', async () => {
    const folder = join(createFolder(), 'tasks');
    const { store } = await openFileTasks(folder);
    await store.set(task('a'));
    rmSync(folder, { recursive: true });
    await expect(store.set(task('a', { version: 2 }))).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(store.set(task('b'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await store.get('b')).toBeUndefined();
  });
});

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));

/** Eight writers, each of which stores the next version of its task, and prints it once that is done. */
const STORM = `
  import { fileTasks } from '@decorum/tasks';
  const store = fileTasks(process.argv[1]);
  await store.open({ name: 'storm', report: (error, message) => { throw new Error(message, { cause: error }); } });
  for (let writer = 0; writer < 8; writer++) void (async () => {
    const id = 'writer ' + writer;
    for (let version = ((await store.get(id))?.version ?? 0) + 1; ; version++) {
      const text = version + ' ' + 'x'.repeat(version * 7919 % 50_000);
      const facts = { id, version, text, owner: 'ann', isOpen: true, createdAt: writer };
      if (!(await store.set(facts))) throw new Error('not stored: ' + version);
      process.stdout.write(writer + ' ' + version + '\\n');
    }
  })();
`;

/** Runs the storm for some time after its first write, and kills it. Returns the last version that each writer printed. */
async function storm(folder: string, ms: number): Promise<Map<number, number>> {
  const args = ['--input-type=module', '--eval', STORM, folder];
  const child: ChildProcess = spawn(process.execPath, args, { cwd: PACKAGE, stdio: ['ignore', 'pipe', 'inherit'] });
  afterwards(() => child.kill('SIGKILL'));
  const last = new Map<number, number>();
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  lines.on('line', (line) => {
    const [writer = 0, version = 0] = line.split(' ').map(Number);
    last.set(writer, version);
  });
  const closed = once(lines, 'close');
  await Promise.race([once(lines, 'line'), closed]);
  await wait(ms);
  expect(child.exitCode).toBeNull();
  child.kill('SIGKILL');
  await closed;
  return last;
}

describe('a process that is killed while it writes', () => {
  it('leaves every task in the version that was answered or the next, and nothing else, 30 times', async () => {
    const folder = createFolder();
    const answered = new Map<number, number>();
    for (let round = 0; round < 30; round++) {
      for (const [writer, version] of await storm(folder, Math.random() * 100)) answered.set(writer, version);
      const { store, reports } = await openFileTasks(folder);
      for (const [writer, version] of answered) {
        const found = await store.get(`writer ${writer}`);
        expect([version, version + 1]).toContain(found?.version);
        expect(found?.text).toBe(`${found?.version} ${'x'.repeat(((found?.version ?? 0) * 7919) % 50_000)}`);
        answered.set(writer, found?.version ?? 0);
      }
      expect(reports).toEqual([]);
      expect(filesIn(folder).filter((file) => !file.endsWith('.task'))).toEqual([]);
      expect(filesIn(folder)).toHaveLength(store.count('ann').all);
      await store.close();
    }
    expect(answered.size).toBe(8);
  }, 180_000);
});
