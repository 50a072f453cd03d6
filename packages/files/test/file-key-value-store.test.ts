// The store of files in one process. Several processes are in file-key-value-store-processes.test.ts.
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type KeyValueStore, McpServer } from '@decorum/core';
import { fileKeyValueStore } from '@decorum/files';
import { keyValueStoreContract } from '@decorum/testing/contracts';

import { createFolder, openStore } from './folders.js';

const HOUR = 3_600_000;

const pass = (ms: number): void => void jest.spyOn(Date, 'now').mockReturnValue(Date.now() + ms);

afterEach(() => void jest.restoreAllMocks());

/** A store each call of which goes to another one of the same folder. */
async function inTurns(): Promise<KeyValueStore> {
  const folder = createFolder();
  const stores = [await openStore(folder), await openStore(folder)] as const;
  let calls = 0;
  const next = () => stores[(calls += 1) % 2] as KeyValueStore;
  return {
    isDurable: true,
    get: (key) => next().get(key),
    set: (key, value, options) => next().set(key, value, options),
    delete: (key, expected) => next().delete(key, expected),
  };
}

it.each(keyValueStoreContract)('a store of files %s', async (_rule, check) => {
  await check(await openStore(), { pass });
});

it.each(keyValueStoreContract)('two stores of one folder: each %s', async (_rule, check) => {
  await check(await inTurns(), { pass });
});

const create = async (store: KeyValueStore, key: string, value = 'value') =>
  await store.set(key, value, { ttlMs: HOUR, expected: undefined });

/** Resolves once something is so. */
async function until(isSo: () => unknown): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve));
}

const valuesIn = (folder: string) => readdirSync(folder).filter((file) => file.endsWith('.value'));

describe('a folder of values', () => {
  it('can only be opened by its user, and so can its files', async () => {
    const folder = join(createFolder(), 'new', 'data');
    await create(await openStore(folder), 'a');
    const modes = ['', ...readdirSync(folder)].map((file) => statSync(join(folder, file)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600, 0o600]);
  });

  it('that others can open is refused if other files are in it, and closed to them if not', async () => {
    const folder = createFolder();
    chmodSync(folder, 0o755);
    await openStore(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    writeFileSync(join(folder, 'notes.txt'), '');
    chmodSync(folder, 0o755);
    await expect(openStore(folder)).rejects.toThrow(
      `fileKeyValueStore: \`folder\` is "${folder}", which other users can open (mode 755). Pass a folder of its own, such as "${join(folder, 'data')}"`,
    );
  });

  it('that can not be used stops the start, and the error says why', async () => {
    const file = join(createFolder(), 'file');
    writeFileSync(file, '');
    await expect(openStore(file)).rejects.toMatchObject({
      code: 'DECORUM_INVALID_OPTION',
      message: expect.stringMatching(/^fileKeyValueStore: `folder` can't be used: .*Pass a folder on a local disk/),
    });
  });

  it('keeps its values when it is closed and opened', async () => {
    const folder = createFolder();
    const store = await openStore(folder);
    const stored = create(store, 'a');
    await store.close?.();
    expect(await stored).toBe(true);
    await expect(create(store, 'b')).rejects.toThrow('The store is not open.');
    await store.open?.();
    expect(await store.get('a')).toBe('value');
  });

  it('works on after everything in it was removed, and after it was removed itself', async () => {
    const folder = createFolder();
    const store = await openStore(folder);
    await create(store, 'a');
    for (const path of [...readdirSync(folder).map((file) => join(folder, file)), folder]) {
      rmSync(path, { recursive: true });
      expect(await create(store, `without ${path}`)).toBe(true);
    }
    expect(await create(await openStore(folder), `without ${folder}`)).toBe(false);
  });

  it('with a damaged file says which one, and leaves it', async () => {
    const folder = createFolder();
    const store = await openStore(folder);
    await create(store, 'a');
    const path = join(folder, valuesIn(folder)[0] as string);
    for (const content of ['', 'decorum 2 5\nvalue', 'decorum 1 x\n', readFileSync(path, 'utf8').slice(3)]) {
      writeFileSync(path, content);
      const problem = `"${path}" is damaged, or from a newer version. Update @decorum/files, or remove the file.`;
      await expect(store.get('a')).rejects.toThrow(problem);
      await expect(create(store, 'a')).rejects.toThrow(problem);
      expect(readFileSync(path, 'utf8')).toBe(content);
      expect(await create(store, `beside ${content}`)).toBe(true);
    }
  });
});

describe('expired values', () => {
  it('are removed when a folder is opened, and new ones are kept', async () => {
    const folder = createFolder();
    const store = await openStore(folder);
    for (let n = 0; n < 40; n += 1) await store.set(`a${n}`, 'x', { ttlMs: 1000, expected: undefined });
    await create(store, 'b');
    await store.close?.();
    pass(1500);
    await store.open?.();
    await until(() => valuesIn(folder).length === 1);
    expect(await store.get('b')).toBe('value');
  });
});

describe('the cap on bytes', () => {
  it('refuses new values, counts blocks, and has room again after one was deleted', async () => {
    const folder = createFolder();
    const store = await openStore(folder, { maxBytes: 4 * 4096 });
    for (const key of ['a', 'b', 'c']) expect(await create(store, key)).toBe(true);
    const refused = { kind: 'too-many-requests', message: 'The server has no room for more data. Try again later.' };
    await expect(create(store, 'd', 'x'.repeat(4096))).rejects.toMatchObject(refused);
    expect(await create(store, 'd')).toBe(true);
    await expect(create(store, 'e')).rejects.toMatchObject(refused);
    // what takes no more than before is stored
    expect(await store.set('a', 'next', { ttlMs: HOUR, expected: 'value' })).toBe(true);
    await expect(store.set('a', 'x'.repeat(4096), { ttlMs: HOUR, expected: 'next' })).rejects.toMatchObject(refused);
    expect(await store.get('a')).toBe('next');
    expect(await store.delete('b', 'value')).toBe(true);
    expect(await create(store, 'e')).toBe(true);
  });

  it('counts what other processes have stored', async () => {
    const folder = createFolder();
    const [one, two] = [await openStore(folder), await openStore(folder, { maxBytes: 2 * 4096 })];
    for (const key of ['a', 'b']) await create(one, key);
    await expect(create(two, 'c')).rejects.toMatchObject({ kind: 'too-many-requests' });
    await one.delete('a', 'value');
    expect(await create(two, 'c')).toBe(true);
  });

  it('has room again after values have expired', async () => {
    const store = await openStore(createFolder(), { maxBytes: 4096 });
    await store.set('a', 'x', { ttlMs: 20_000, expected: undefined });
    pass(30_000);
    await expect(create(store, 'b')).rejects.toMatchObject({ kind: 'too-many-requests' });
    await until(async () => await create(store, 'b').catch(() => false));
    expect([await store.get('a'), await store.get('b')]).toEqual([undefined, 'value']);
  });

  it('is counted anew if nobody knows it, without what a killed process has begun to write', async () => {
    const folder = createFolder();
    const store = await openStore(folder, { maxBytes: 2 * 4096 });
    await create(store, 'a');
    await store.close?.();
    const [file] = valuesIn(folder) as [string];
    writeFileSync(join(folder, file.replace('value', 'new')), 'half');
    writeFileSync(join(folder, 'lock'), 'unreadable');
    await store.open?.();
    expect(await create(store, 'b')).toBe(true);
    await expect(create(store, 'c')).rejects.toMatchObject({ kind: 'too-many-requests' });
    expect(readdirSync(folder).filter((each) => each.endsWith('.new'))).toEqual([]);
  });
});

describe('a mistake in fileKeyValueStore', () => {
  it.each([
    ['no folder', [], '`folder` must be the path of a folder, such as "data/shop"'],
    ['an empty folder', [''], '`folder` must be the path of a folder'],
    ['too few bytes', ['data', { maxBytes: 5 }], '`maxBytes` is 5, but must be a whole number from 4096'],
    ['an unknown option', ['data', { maxChars: 5 }], '`maxChars`'],
  ])('is told at once: %s', (_what, given, told) => {
    expect(() => (fileKeyValueStore as (...all: unknown[]) => unknown)(...given)).toThrow(told);
  });

  it('is told when the server is created: no secret', () => {
    expect(() => new McpServer({ name: 'shop', version: '1', store: fileKeyValueStore('data') })).toThrow(
      'McpServer: `secret` is missing. `store` keeps data beyond the end of the process',
    );
  });
});
