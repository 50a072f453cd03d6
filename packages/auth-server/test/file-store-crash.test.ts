// What a folder holds after real processes have died. They run the built package.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from '@jest/globals';

import { afterwards, createFolder, ManualClock, openFileStore } from './fixture-store.js';

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));

/** Opens the folder and prints `open`. */
const OPEN = `
  import { fileStore } from '@decorum/auth-server';
  const print = (line) => process.stdout.write(line + '\\n');
  const store = fileStore(process.argv[1]);
  await store.open();
  print('open');
`;

/** Keeps the process alive. */
const STAY = `setInterval(() => undefined, 60_000);`;

/**
 * Sixteen writers, each of which writes the next number to two records, and prints it once that is done. Long
 * values make the store replace its journal again and again.
 */
const STORM = `
  const filling = 'x'.repeat(4000);
  for (let writer = 0; writer < 16; writer++) {
    void (async () => {
      for (let n = Number((await store.get('one:' + writer))?.split(' ')[0] ?? 0) + 1; ; n++) {
        const value = n + ' ' + filling;
        await store.write([{ key: 'one:' + writer, value }, { key: 'other:' + writer, value }]);
        print(writer + ' ' + n);
      }
    })();
  }
`;

interface Child {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string>;
  /** Kills the process with SIGKILL. Resolves with the lines that were left. */
  kill(): Promise<string[]>;
}

function run(script: string, folder: string, command: readonly string[] = [process.execPath]): Child {
  const [program = '', ...args] = [...command, '--input-type=module', '--eval', script, folder];
  const child = spawn(program, args, { cwd: PACKAGE, stdio: ['ignore', 'pipe', 'inherit'] });
  afterwards(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
    return await restOf(lines);
  };
  return { child, lines, kill };
}

async function restOf(lines: AsyncIterator<string>): Promise<string[]> {
  const rest: string[] = [];
  for (let next = await lines.next(); next.done !== true; next = await lines.next()) rest.push(next.value);
  return rest;
}

async function openChild(script: string, folder: string): Promise<Child> {
  const child = run(OPEN + script, folder);
  expect(await child.lines.next()).toEqual({ done: false, value: 'open' });
  return child;
}

describe('a folder whose process is killed', () => {
  it('has every write that was answered, and no half of any, after each of several storms', async () => {
    const folder = createFolder();
    const answered = new Map<string, number>();
    for (const count of [10, 300, 701, 1204]) {
      const { lines, kill } = await openChild(STORM, folder);
      const printed: string[] = [];
      while (printed.length < count) printed.push((await lines.next()).value as string);
      printed.push(...(await kill()));
      for (const line of printed) {
        const [writer = '', n] = line.split(' ');
        answered.set(writer, Number(n));
      }
      const store = await openFileStore(folder);
      for (const [writer, n] of answered) {
        const one = await store.get(`one:${writer}`);
        expect(Number(one?.split(' ')[0])).toBeGreaterThanOrEqual(n);
        expect(await store.get(`other:${writer}`)).toBe(one);
      }
      await store.close();
    }
    // shorter than what was written: the journal was replaced on the way
    expect(readFileSync(join(folder, 'journal.jsonl')).length).toBeLessThan(2_000_000);
  });
});

describe('a folder that another process has open', () => {
  it('is waited for, and opened once that process is killed', async () => {
    const folder = createFolder();
    const holder = await openChild(
      `await store.write([{ key: 'grant:a', value: 'one' }]); print('written'); ${STAY}`,
      folder,
    );
    await holder.lines.next();
    const clock = new ManualClock();
    const begun = clock.now();
    clock.onWait = async () => {
      if (clock.now() - begun >= 20_000) await holder.kill();
    };
    const store = await openFileStore(folder, clock);
    expect(clock.now() - begun).toBeGreaterThanOrEqual(20_000);
    expect(await store.get('grant:a')).toBe('one');
  });

  it('is given up after 30 seconds, with the process to stop', async () => {
    const folder = createFolder();
    const holder = await openChild(STAY, folder);
    const clock = new ManualClock();
    const begun = clock.now();
    const opened = openFileStore(folder, clock);
    await expect(opened).rejects.toMatchObject({ code: 'DECORUM_INVALID_OPTION' });
    await expect(opened).rejects.toThrow(
      `fileStore: \`folder\` is "${folder}", which process ${holder.child.pid} on ${hostname()} has used for the last 30 seconds. Only one process can use it: stop that one, or pass another folder.`,
    );
    expect(clock.now() - begun).toBe(30_000);
  });

  it('is opened by a second process when the first ends', async () => {
    const folder = createFolder();
    const first = await openChild(STAY, folder);
    const second = run(`process.stdout.write('begun\\n'); ${OPEN} ${STAY}`, folder);
    await second.lines.next();
    first.child.kill('SIGTERM');
    expect(await second.lines.next()).toEqual({ done: false, value: 'open' });
    expect(readFileSync(join(folder, 'lock'), 'utf8')).toContain(`process ${second.child.pid} on`);
  });

  it('stays closed to a second store of the same process, until the first is closed', async () => {
    const folder = createFolder();
    const first = await openFileStore(folder);
    await expect(openFileStore(folder)).rejects.toThrow(`which process ${process.pid} on`);
    await first.close();
    await openFileStore(folder);
  });

  it('is no longer waited for once the store is closed', async () => {
    const folder = createFolder();
    await openFileStore(folder);
    const clock = new ManualClock();
    const { FileStore } = await import('../src/store/file-store.js');
    const second = new FileStore(folder, {}, clock);
    clock.onWait = () => second.close();
    await expect(second.open()).rejects.toThrow('was closed before it was free');
  });
});

describe('a platform without the library that locks files', () => {
  it('stops the start, and is told what to do', async () => {
    const script = `
      import Module from 'node:module';
      const load = Module._load;
      Module._load = (name, ...others) => {
        if (name === 'fs-native-extensions') throw new Error('no binary');
        return load(name, ...others);
      };
      const { fileStore } = await import('@decorum/auth-server');
      await fileStore(process.argv[1]).open().catch(({ code, message, cause }) => console.log(code, message, cause.message));
    `;
    const [line] = await restOf(run(script, createFolder()).lines);
    expect(line).toMatch(/^DECORUM_MISSING_LIBRARY fileStore needs fs-native-extensions, .* Alpine Linux.* no binary$/);
  });
});

describe('a disk that fills up in the middle of a line', () => {
  it('costs only that write', async () => {
    const folder = createFolder();
    // a limit of the kernel on the size of files: what fits is written, and the rest fails
    const limited = ['bash', '-c', `trap '' XFSZ; ulimit -f 64; exec "$0" "$@"`, process.execPath];
    const script = `
      const write = (key, length) => store.write([{ key, value: 'x'.repeat(length) }]).then(() => 'made', ({ code }) => code);
      for (const [key, length] of [['grant:a', 40_000], ['grant:b', 40_000], ['grant:c', 4000], ['grant:d', 40_000], ['grant:e', 10]])
        print(key + ' ' + await write(key, length) + ' ' + (await store.get(key))?.length);
      process.exit();
    `;
    const { lines } = run(OPEN + script, folder, limited);
    expect(await restOf(lines)).toEqual([
      'open',
      'grant:a made 40000',
      'grant:b EFBIG undefined',
      'grant:c made 4000',
      'grant:d EFBIG undefined',
      'grant:e made 10',
    ]);
    const kept = await (await openFileStore(folder)).list('grant');
    expect(kept.map(({ key }) => key).toSorted()).toEqual(['grant:a', 'grant:c', 'grant:e']);
  });
});
