import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';

import { audit, type AuditOptions, verifyAudit } from '@decorum/audit';
import { McpServer } from '@decorum/core';
import { connect, type TestClient } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { Chain } from '../src/audit/chain.js';
import { keysOf } from '../src/audit/keys.js';
import { LogFile } from '../src/audit/log-file.js';
import { Folder, KEY, linesIn, parsed, shop } from './shop.js';

let folder: Folder;
let log: string;
beforeEach(() => {
  folder = new Folder();
  log = folder.file('audit.log');
});
afterEach(() => folder.remove());

/** Runs a server with a log file, and closes it. */
async function served(use: (client: TestClient) => Promise<unknown>, options: Partial<AuditOptions> = {}) {
  const server = shop({ write: log, ...options });
  const client = await connect(server);
  await use(client);
  await client.close();
  await server.close();
}

const buy = async (client: TestClient, count = 1) => {
  for (let at = 0; at < count; at += 1) await client.callTool('buy', { sku: String(at) });
};

const verify = async (...files: string[]) => await verifyAudit(files.length === 0 ? [log] : files, { key: KEY });
const WELL = { findings: [], torn: [] };

describe('A log file', () => {
  it('has all lines once the server is closed, and continues its chain in the next process', async () => {
    for (let start = 0; start < 3; start += 1) await served((client) => buy(client, 10));
    expect(await verify()).toMatchObject({ ...WELL, lines: 30 });
  });

  it.each([true, false])('keeps the order of concurrent calls, with sync: %s', async (sync) => {
    await served(
      async (client) =>
        await Promise.all(Array.from({ length: 200 }, (_, at) => client.callTool('buy', { sku: String(at) }))),
      { sync },
    );
    expect(await verify()).toMatchObject({ ...WELL, lines: 200 });
  });

  it('can be read only by its user, in a folder that is created', async () => {
    const write = folder.file('deep/er/audit.log');
    await served(buy, { write });
    expect(statSync(write).mode & 0o777).toBe(0o600);
    expect(await verify(write)).toMatchObject({ lines: 1 });
  });

  it('has a line before its answer is sent, with sync', async () => {
    await served(
      async (client) => {
        for (let at = 1; at <= 5; at += 1) {
          await client.callTool('buy', { sku: 'tea' });
          expect(linesIn(log)).toHaveLength(at);
        }
      },
      { sync: true },
    );
  });

  it('is not one that something else has written', async () => {
    writeFileSync(log, 'a shopping list\n');
    await expect(served(buy)).rejects.toThrow(/The plugin "audit" could not start: .*"audit\.log|is not an audit log/);
    expect(readFileSync(log, 'utf8')).toBe('a shopping list\n');
  });

  it('begins anew if something else moves it, and its chain goes on', async () => {
    let now = 0;
    const clock = { now: () => now, wait: async () => {} };
    const file = new LogFile({ path: log, maxBytes: Infinity, sync: true }, clock);
    const chain = new Chain(keysOf([KEY])[0] as never, await file.open());
    const write = async () => await file.write([chain.sign('{"at":""')]);
    await write();
    renameSync(log, folder.file('moved.log'));
    await write();
    now = 1000;
    await write();
    await write();
    await file.close();
    expect(linesIn(folder.file('moved.log'))).toHaveLength(2);
    expect(await verify(folder.file('moved.log'), log)).toMatchObject({ ...WELL, lines: 4 });
  });

  it('goes on once its folder is back, and writes to no other file in between', async () => {
    let now = 0;
    const clock = { now: () => now, wait: async () => {} };
    mkdirSync(folder.file('logs'));
    const path = folder.file('logs/audit.log');
    const file = new LogFile({ path, maxBytes: Infinity, sync: true }, clock);
    const chain = new Chain(keysOf([KEY])[0] as never, await file.open());
    await file.write([chain.sign('{"at":""')]);
    renameSync(folder.file('logs'), folder.file('moved'));
    now = 1000;
    const line = chain.sign('{"at":""');
    expect(() => file.write([line])).toThrow('ENOENT');
    const other = openSync(folder.file('other.txt'), 'a');
    expect(() => file.write([line])).toThrow('ENOENT');
    expect(readFileSync(folder.file('other.txt'), 'utf8')).toBe('');
    mkdirSync(folder.file('logs'));
    await file.write([line]);
    await file.close();
    closeSync(other);
    expect(await verify(folder.file('moved/audit.log'), path)).toMatchObject({ ...WELL, lines: 2 });
  });

  it('needs a key', async () => {
    const server = new McpServer({ name: 'shop', version: '1.0.0', plugins: [audit({ write: log })] });
    await expect(connect(server)).rejects.toThrow(
      'The plugin "audit" could not start: audit: `key` is missing, and DECORUM_SECRET is not set. Set DECORUM_SECRET to at least 32 random characters',
    );
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('must be a file that can be written', async () => {
    mkdirSync(log);
    await expect(served(buy)).rejects.toThrow("`write` can't be used: EISDIR");
  });
});

describe('A full log file', () => {
  it('gets a number, and its chain goes on in the next file, and in the next process', async () => {
    for (let start = 0; start < 3; start += 1)
      await served((client) => buy(client, 60), { maxBytes: 10_000, sync: true });
    const full = readdirSync(folder.path).filter((name) => /^audit\.\d{6}\.log$/.test(name));
    expect(full).toEqual(['audit.000001.log', 'audit.000002.log', 'audit.000003.log', 'audit.000004.log']);
    const files = [...full, 'audit.log'].map((name) => folder.file(name));
    expect(await verify(...files)).toMatchObject({ ...WELL, lines: 180 });
    expect(files.map((file) => statSync(file).size > 10_000)).toEqual([true, true, true, true, false]);
    expect((await verify(...files.filter((_file, at) => at !== 2))).findings).toEqual([
      { file: files[3], line: 1, problem: 'changed' },
    ]);
  });

  it('may be the last thing before a crash', async () => {
    await served((client) => buy(client, 50), { maxBytes: 10_000 });
    await served((client) => buy(client, 1), { maxBytes: 10_000 });
    writeFileSync(log, '');
    const { last } = await verify(folder.file('audit.000001.log'));
    await served((client) => buy(client, 1), { maxBytes: 10_000 });
    expect(await verifyAudit([log], { key: KEY, after: last as string })).toMatchObject({ ...WELL, lines: 1 });
  });
});

describe('A line that was never finished', () => {
  it('is ended by the next process, which tells of it, and nothing is hidden by that', async () => {
    await served((client) => buy(client, 3));
    truncateSync(log, statSync(log).size - 100);
    expect(await verify()).toMatchObject({ findings: [], torn: [{ file: log, line: 3 }], lines: 2 });
    await served((client) => buy(client, 2));
    const lines = linesIn(log);
    expect(await verify()).toMatchObject({ findings: [], torn: [{ file: log, line: 3 }], lines: 5 });
    expect(parsed([lines[3] as string])[0]).toMatchObject({ caller: null, member: null, outcome: 'torn' });
    // a line of which somebody makes half a line
    const cut = lines.map((line, at) => (at === 4 ? line.slice(0, 60) : line));
    writeFileSync(log, `${cut.join('\n')}\n`);
    expect((await verify()).findings).toEqual([{ file: log, line: 5, problem: 'changed' }]);
    // the rest of the line that was never finished
    writeFileSync(log, `${lines.filter((_line, at) => at !== 2).join('\n')}\n`);
    expect((await verify()).findings).toEqual([{ file: log, line: 3, problem: 'changed' }]);
  });

  it('is whole if only its line break is missing', async () => {
    await served((client) => buy(client, 3));
    truncateSync(log, statSync(log).size - 1);
    expect(await verify()).toMatchObject({ ...WELL, lines: 3 });
    await served(buy);
    expect(await verify()).toMatchObject({ ...WELL, lines: 4 });
  });

  it.each([
    ['a line with another outcome', (line: string) => `${line.replace('"ok"', '"error"')} `],
    ['a line with a carriage return', (line: string) => `${line}\r`],
    ['a line without a MAC', () => '{"at":"2026-11-28","caller":{"subject":"ada"},"outcome":"ok"}'],
    ['an empty line', () => ''],
  ])('is not %s, although the next process goes on behind it', async (_what, forge) => {
    await served((client) => buy(client, 2));
    appendFileSync(log, `${forge(linesIn(log)[0] as string)}\n`);
    await served(buy);
    expect(await verify()).toMatchObject({ findings: [{ file: log, line: 3, problem: 'inserted' }], torn: [] });
  });

  it('may be the first one', async () => {
    writeFileSync(log, '{"at":"2026-');
    await served(buy);
    expect(await verify()).toMatchObject({ findings: [], torn: [{ file: log, line: 1 }], lines: 2 });
  });

  it('may be longer than what is read at first', async () => {
    await served(buy);
    appendFileSync(log, `{"at":"${'x'.repeat(200_000)}`);
    await served(buy);
    expect(await verify()).toMatchObject({ findings: [], torn: [{ file: log, line: 2 }], lines: 3 });
  });
});

describe('Two processes', () => {
  it('can not write the same file', async () => {
    let now = 0;
    const clock = { now: () => now, wait: async (ms: number) => void (now += ms) };
    const options = { path: log, maxBytes: Infinity, sync: false };
    const first = new LogFile(options, clock);
    await first.open();
    await expect(new LogFile(options, clock).open()).rejects.toThrow(
      `audit: \`write\` is "${log}", which process ${process.pid} on ${hostname()} has used for the last 30 seconds. Each process needs a file of its own: put {process} into the name, as in 'audit-{process}.log'. [DECORUM_INVALID_OPTION]`,
    );
    await first.close();
    const next = new LogFile(options, clock);
    await next.open();
    await next.close();
  });

  it('write a file each if its name has {process}, and the next ones continue the chains', async () => {
    const write = folder.file('audit-{process}.log');
    for (let start = 0; start < 2; start += 1)
      await served(
        async (client) => {
          await buy(client, 2);
          await served((other) => buy(other, 3), { write });
        },
        { write },
      );
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.log'))).toEqual(['audit-0.log', 'audit-1.log']);
    expect(await verify(folder.file('audit-0.log'))).toMatchObject({ ...WELL, lines: 4 });
    expect(await verify(folder.file('audit-1.log'))).toMatchObject({ ...WELL, lines: 6 });
  });

  it('have a folder each if its name has {process}', async () => {
    const write = folder.file('{process}/audit.log');
    await served(async () => await served((other) => buy(other, 3), { write }), { write });
    expect(readdirSync(folder.path).sort()).toEqual(['0', '1']);
    expect(await verify(folder.file('1/audit.log'))).toMatchObject({ ...WELL, lines: 3 });
  });
});
