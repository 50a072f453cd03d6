// The stores of this package: the contract, and what is special about each. Crashes are in file-store-crash.test.ts.
import { readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, open, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { fileStore, memoryStore } from '@decorum/auth-server';
import { storeContract } from '@decorum/auth-server/store-contract';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';

import type { AuthStore, Change } from '../src/store/auth-store.js';
import { MemoryStore } from '../src/store/memory-store.js';
import { afterwards, createFolder, ManualClock, openFileStore } from './fixture-store.js';

const clock = new ManualClock();

describe.each<[string, () => Promise<AuthStore>]>([
  ['memoryStore', async () => new MemoryStore({}, clock)],
  ['fileStore', async () => await openFileStore(createFolder(), clock)],
])('%s', (_name, create) => {
  it.each(storeContract)('%s', async (_rule, check) => {
    await expect(check(await create(), clock)).resolves.toBeUndefined();
  });

  it('makes concurrent writes in order, each seeing those before it', async () => {
    const store = await create();
    const steps = Array.from({ length: 20 }, (_, n) => n);
    const made = await Promise.all(
      steps.map((n) => store.write([{ key: 'grant:a', value: `${n}`, expected: n === 0 ? null : `${n - 1}` }])),
    );
    expect(made).toEqual(steps.map(() => true));
    expect(await store.get('grant:a')).toBe('19');
  });
});

/** Stores that break one rule each. */
const BROKEN: Readonly<Record<string, (store: AuthStore) => Partial<AuthStore>>> = {
  'forgets records': () => ({ get: async () => undefined }),
  'ignores `expected`': (store) => ({
    write: async (changes) => await store.write(changes.map((each) => ({ ...each, expected: undefined }))),
  }),
  'ignores `expiresAt`': (store) => ({
    write: async (changes) => await store.write(changes.map((each) => ({ ...each, expiresAt: undefined }))),
  }),
  'writes one change after the other': (store) => ({
    write: async (changes) => {
      for (const change of changes) if (!(await store.write([change]))) return false;
      return true;
    },
  }),
  'checks before it writes, not at once': (store) => ({
    write: async (changes) => {
      for (const { key, expected } of changes)
        if (expected !== undefined && ((await store.get(key)) ?? null) !== expected) return false;
      return await store.write(changes.map((each) => ({ ...each, expected: undefined })));
    },
  }),
  'lists kinds by their first letters': (store) => ({
    list: async (kind) => {
      const kinds = ['key', 'keys', 'key-old', 'ke', 'KEY', 'client', 'grant', 'code'];
      const all = await Promise.all(kinds.map((each) => store.list(each)));
      return all.flat().filter(({ key }) => key.startsWith(kind));
    },
  }),
};

describe('the contract of stores', () => {
  it.each(Object.entries(BROKEN))('rejects a store that %s', async (_what, broken) => {
    const checks = storeContract.map(async ([, check]) => {
      const ownClock = new ManualClock();
      const store = new MemoryStore({}, ownClock);
      await check(Object.assign(Object.create(store) as AuthStore, broken(store)), ownClock);
    });
    const settled = await Promise.allSettled(checks);
    expect(settled.map(({ status }) => status)).toContain('rejected');
  });
});

const journalIn = (folder: string) => join(folder, 'journal.jsonl');
const record = (key: string, value: string) => ({ key, value });

describe('memoryStore', () => {
  it('is refused in production unless the application accepts that restarts sign out all users', () => {
    const before = process.env['NODE_ENV'];
    afterwards(() => (process.env['NODE_ENV'] = before));
    process.env['NODE_ENV'] = 'production';
    expect(() => memoryStore()).toThrow('Use fileStore(folder), or set `inProduction: true`');
    expect(memoryStore({ inProduction: true }).isPersistent).toBe(false);
    process.env['NODE_ENV'] = 'development';
    expect(memoryStore().isPersistent).toBe(false);
  });

  it('rejects invalid options', () => {
    expect(() => memoryStore({ maxRecords: 0 })).toThrow('memoryStore: `maxRecords` is 0');
    expect(() => memoryStore({ max: 1 } as object)).toThrow('`max` is not an option');
  });

  it('evicts what expires first, and never what has no expiry', async () => {
    const store = new MemoryStore({ maxRecords: 100 }, new ManualClock());
    await store.write([record('key:a', 'kept')]);
    const write = async (kind: string, count: number, minutes: number) => {
      const expiresAt = new ManualClock().now() + minutes * 60_000;
      for (let n = 0; n < count; n++) await store.write([{ key: `${kind}:${n}`, value: 'x', expiresAt }]);
    };
    await write('grant', 50, 1000);
    await write('sign-in', 500, 10);
    expect(await store.list('grant')).toHaveLength(50);
    expect(await store.get('key:a')).toBe('kept');
    const left = (await store.list('sign-in')).length;
    expect(left).toBeLessThanOrEqual(49);
    expect(left).toBeGreaterThan(30);
  });

  it('forgets expired records that nobody asks for', async () => {
    const ownClock = new ManualClock();
    const store = new MemoryStore({}, ownClock);
    const { records } = store as unknown as { records: { entries: Map<string, unknown> } };
    for (let n = 0; n < 5000; n++) {
      await store.write([{ key: `code:${n}`, value: 'x', expiresAt: ownClock.now() + 60 }]);
      ownClock.pass(1);
    }
    expect(records.entries.size).toBeLessThan(200);
  });
});

describe('fileStore', () => {
  it('returns after a restart what was written, in a file and a folder that others cannot read', async () => {
    const folder = join(createFolder(), 'new', 'data');
    const first = await openFileStore(folder, clock);
    await first.write([record('grant:a', 'one'), { ...record('code:b', 'two'), expiresAt: clock.now() + 1000 }]);
    await first.write([record('grant:c', 'three')]);
    await first.write([{ key: 'grant:c', value: undefined }]);
    await first.close();
    const second = await openFileStore(folder, clock);
    expect([await second.get('grant:a'), await second.get('code:b'), await second.get('grant:c')]).toEqual([
      'one',
      'two',
      undefined,
    ]);
    for (const [path, mode] of [
      [folder, 0o700],
      [journalIn(folder), 0o600],
      [join(folder, 'lock'), 0o600],
    ] as const)
      expect(statSync(path).mode & 0o777).toBe(mode);
    await second.close();
    clock.pass(1000);
    expect(await (await openFileStore(folder, clock)).get('code:b')).toBeUndefined();
  });

  it('tightens an empty folder, and refuses one that others can open and that has other files', async () => {
    const folder = createFolder();
    await chmod(folder, 0o755);
    await (await openFileStore(folder)).close();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    await chmod(folder, 0o755);
    await (await openFileStore(folder)).close();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const shared = createFolder();
    for (const file of ['lock', 'index.html']) await writeFile(join(shared, file), '');
    await chmod(shared, 0o755);
    const opened = openFileStore(shared);
    await expect(opened).rejects.toMatchObject({ code: 'DECORUM_INVALID_OPTION' });
    await expect(opened).rejects.toThrow(`(mode 755). Pass a folder of its own, such as "${join(shared, 'auth')}"`);
    expect(statSync(shared).mode & 0o777).toBe(0o755);
  });

  it.each(['', 5, undefined, null])('rejects %p as a folder', (folder) => {
    expect(() => fileStore(folder as string)).toThrow('fileStore: `folder` must be the path of a folder');
  });

  it('says what is wrong with a folder that cannot be used', async () => {
    const file = join(createFolder(), 'file');
    await writeFile(file, '');
    const opened = openFileStore(file);
    await expect(opened).rejects.toThrow("fileStore: `folder` can't be used: EEXIST");
    await expect(opened).rejects.toMatchObject({ code: 'DECORUM_INVALID_OPTION', cause: { code: 'EEXIST' } });
  });

  it('refuses writes once it is closed, and completes those before', async () => {
    const folder = createFolder();
    const store = await openFileStore(folder);
    const writes = Promise.all(Array.from({ length: 20 }, (_, n) => store.write([record(`grant:${n}`, 'x')])));
    await store.close();
    await writes;
    await expect(store.write([record('grant:late', 'x')])).rejects.toThrow('The store is closed.');
    expect(await (await openFileStore(folder)).list('grant')).toHaveLength(20);
  });

  it('replaces a journal that has grown, and loses no write that arrives meanwhile', async () => {
    const folder = createFolder();
    const store = await openFileStore(folder);
    const value = 'x'.repeat(10_000);
    // 20 MB in all
    for (let round = 0; round < 20; round++)
      await Promise.all(
        Array.from({ length: 100 }, (_, n) => store.write([record(`grant:${n}`, `${round} ${value}`)])),
      );
    expect((await stat(journalIn(folder))).size).toBeLessThan(6_000_000);
    await store.close();
    const kept = await (await openFileStore(folder)).list('grant');
    expect(kept).toHaveLength(100);
    expect(kept.every((each) => each.value === `19 ${value}`)).toBe(true);
  });

  it('shares a sync between concurrent writes', async () => {
    const folder = createFolder();
    const store = await openFileStore(folder);
    const lines = () => readFileSync(journalIn(folder), 'utf8').trimEnd().split('\n').length;
    const before = lines();
    await Promise.all(Array.from({ length: 100 }, (_, n) => store.write([record(`grant:${n}`, 'x')])));
    expect(lines() - before).toBeLessThanOrEqual(2);
  });
});

/** The prototype of file handles, to make their methods fail. */
async function handlePrototype() {
  const handle = await open(process.execPath);
  await handle.close();
  return Object.getPrototypeOf(handle) as typeof handle;
}

describe('a disk that fails', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });

  it.each(['write', 'datasync'] as const)(
    'in %s rejects the write, shows nothing of it, and later takes others',
    async (method) => {
      const folder = createFolder();
      const store = await openFileStore(folder);
      await store.write([record('grant:a', 'one')]);
      const prototype = await handlePrototype();
      const before = readFileSync(journalIn(folder), 'utf8');
      const fail = jest.spyOn(prototype, method as 'datasync').mockRejectedValueOnce(full);
      afterwards(() => fail.mockRestore());
      const refused = store.write([record('grant:a', 'two'), record('grant:b', 'two')]);
      await expect(refused).rejects.toBe(full);
      expect([await store.get('grant:a'), await store.get('grant:b')]).toEqual(['one', undefined]);
      expect(readFileSync(journalIn(folder), 'utf8')).toBe(before);
      expect(await store.write([record('grant:c', 'three')])).toBe(true);
      await store.close();
      const reopened = await openFileStore(folder);
      expect(await reopened.list('grant')).toEqual([record('grant:a', 'one'), record('grant:c', 'three')]);
    },
  );

  it('after half a line leaves none in front of the next line, even if the file cannot be truncated at once', async () => {
    const folder = createFolder();
    const store = await openFileStore(folder);
    const prototype = await handlePrototype();
    const { write } = prototype;
    const halfWritten = jest.spyOn(prototype, 'write').mockImplementationOnce(async function (
      this: typeof prototype,
      ...[bytes, , , position]: unknown[]
    ) {
      await Reflect.apply(write, this, [bytes, 0, 20, position]);
      throw full;
    } as never);
    const stuck = jest.spyOn(prototype, 'truncate').mockRejectedValueOnce(full);
    afterwards(() => (halfWritten.mockRestore(), stuck.mockRestore()));
    await expect(store.write([record('grant:a', 'a longer value than the next')])).rejects.toBe(full);
    await store.write([record('grant:b', 'x')]);
    await store.write([record('grant:c', 'x')]);
    await store.close();
    expect(await (await openFileStore(folder)).list('grant')).toEqual([record('grant:b', 'x'), record('grant:c', 'x')]);
  });
});

describe('a damaged journal', () => {
  const written = async (count: number) => {
    const folder = createFolder();
    const store = await openFileStore(folder);
    for (let n = 0; n < count; n++) await store.write([record(`grant:${n}`, 'x')]);
    await store.close();
    return { folder, lines: readFileSync(journalIn(folder), 'utf8').trimEnd().split('\n') };
  };

  it('opens without an incomplete last line, and goes on after the line before it', async () => {
    const { folder } = await written(3);
    const { size } = await stat(journalIn(folder));
    await truncate(journalIn(folder), size - 5);
    const store = await openFileStore(folder);
    expect((await store.list('grant')).map(({ key }) => key)).toEqual(['grant:0', 'grant:1']);
    await store.write([record('grant:new', 'x')]);
    await store.close();
    expect(await (await openFileStore(folder)).list('grant')).toHaveLength(3);
  });

  it.each(['[["grant:1","x"', '[["grant:1"]]', '{}', '', '[["grant:1",5,null]]'])(
    'with the line %p in the middle fails to open, and says which line it is',
    async (line) => {
      const { folder, lines } = await written(3);
      const text = [...lines.slice(0, 2), line, ...lines.slice(3), ''].join('\n');
      await writeFile(journalIn(folder), text);
      await expect(openFileStore(folder)).rejects.toThrow(
        `fileStore: \`folder\` can't be used: line 3 of ${journalIn(folder)} is damaged. Restore the file from a backup.`,
      );
      expect(readFileSync(journalIn(folder), 'utf8')).toBe(text);
    },
  );

  it.each([
    ['', 'is not a journal of fileStore'],
    ['null\n', 'is not a journal of fileStore'],
    ['{"decorum":"auth-store","version":2}\n', 'was written by a newer version'],
  ])('that begins with %p fails to open', async (text, problem) => {
    const folder = createFolder();
    await mkdir(folder, { recursive: true });
    await writeFile(journalIn(folder), text);
    await expect(openFileStore(folder)).rejects.toThrow(problem);
  });

  it('has a prefix of the acknowledged history, wherever its last line ends', async () => {
    const change: fc.Arbitrary<Change> = fc.record({
      key: fc.constantFrom('grant:a', 'grant:b', 'code:a', 'code:b'),
      value: fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
    });
    const history = fc.array(fc.array(change, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(history, fc.double({ min: 0, max: 1, noNaN: true }), async (writes, share) => {
        const folder = createFolder();
        const store = await openFileStore(folder);
        const states = [new Map<string, string>()];
        for (const changes of writes) {
          await store.write(changes);
          const state = new Map(states.at(-1));
          for (const { key, value } of changes) value === undefined ? state.delete(key) : state.set(key, value);
          states.push(state);
        }
        await store.close();
        const bytes = readFileSync(journalIn(folder));
        const lastLine = bytes.lastIndexOf('\n', bytes.length - 2) + 1;
        const end = lastLine + Math.floor((bytes.length - lastLine) * share);
        await truncate(journalIn(folder), end);
        const reopened = await openFileStore(folder);
        const kept = [...(await reopened.list('grant')), ...(await reopened.list('code'))];
        expect(new Map(kept.map(({ key, value }) => [key, value]))).toEqual(
          end === bytes.length ? states.at(-1) : states.at(-2),
        );
        await reopened.close();
      }),
      { numRuns: 60 },
    );
  });
});
