// What a log has after real processes have died. They run the built package.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { verifyAudit } from '@decorum/audit';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { Folder, KEY } from './shop.js';

const PACKAGE = dirname(dirname(fileURLToPath(import.meta.url)));

let folder: Folder;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  folder.remove();
});

/** Opens a log, calls a tool again and again, and prints each answer. */
const PROGRAM = `
  import { audit } from '@decorum/audit';
  import { McpServer } from '@decorum/core';
  import { connect } from '@decorum/testing';
  const [write, options, count] = process.argv.slice(1);
  const logger = { error: (details) => process.stdout.write('reported\\n'), warn() {} };
  const server = new McpServer({ name: 'shop', version: '1.0.0', logger, plugins: [audit({ write, ...JSON.parse(options) })] });
  server.addTool({ name: 'buy', description: 'Buys' }, () => 'bought');
  const client = await connect(server);
  for (let at = 0; at < Number(count); at += 1) {
    await client.callTool('buy');
    process.stdout.write('answered\\n');
    // as between the requests of a client elsewhere
    await new Promise(setImmediate);
  }
`;

interface Run {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string>;
  /** Resolves with the lines that are left once the process has ended. */
  rest(): Promise<string[]>;
}

/** @param after what the program does at the end */
function run(options: object, { count = Infinity, after = '', shell = '' } = {}): Run {
  const args = [
    '--input-type=module',
    '--eval',
    PROGRAM + after,
    folder.file('audit.log'),
    JSON.stringify(options),
    `${count}`,
  ];
  const settings = {
    cwd: PACKAGE,
    env: { ...process.env, DECORUM_SECRET: KEY },
    stdio: ['ignore', 'pipe', 'inherit'] as const,
  };
  const child =
    shell === ''
      ? spawn(process.execPath, args, { ...settings, stdio: [...settings.stdio] })
      : spawn('/bin/sh', ['-c', `${shell}; exec "$0" "$@"`, process.execPath, ...args], {
          ...settings,
          stdio: [...settings.stdio],
        });
  children.push(child);
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const rest = async () => {
    const left: string[] = [];
    for (let next = await lines.next(); next.done !== true; next = await lines.next()) left.push(next.value);
    await exited;
    return left;
  };
  return { child, lines, rest };
}

/** All files of the log, in the order of writing. */
const files = () =>
  readdirSync(folder.path)
    .filter((name) => name.endsWith('.log'))
    .sort((one, other) => Number(one === 'audit.log') - Number(other === 'audit.log') || (one < other ? -1 : 1))
    .map((name) => folder.file(name));

describe('A process that is killed', () => {
  it('leaves a log in which every answered call has its line, with sync', async () => {
    let answers = 0;
    for (let storm = 0; storm < 4; storm += 1) {
      const { child, lines, rest } = run({ sync: true, maxBytes: 20_000 });
      for (let seen = 0; seen < 100; seen += 1) answers += (await lines.next()).done === true ? 0 : 1;
      child.kill('SIGKILL');
      answers += (await rest()).length;
    }
    const report = await verifyAudit(files(), { key: KEY });
    expect(report.findings).toEqual([]);
    expect(report.lines).toBeGreaterThanOrEqual(answers);
  });

  it('leaves a log that is as it was written', async () => {
    for (let storm = 0; storm < 3; storm += 1) {
      const { child, lines, rest } = run({});
      for (let seen = 0; seen < 500; seen += 1) await lines.next();
      child.kill('SIGKILL');
      await rest();
    }
    const report = await verifyAudit(files(), { key: KEY });
    expect(report.findings).toEqual([]);
    expect(report.lines).toBeGreaterThan(100);
  });
});

describe('A process that exits without closing its server', () => {
  it('writes the lines that wait', async () => {
    const { rest } = run({}, { count: 3, after: 'process.exit(0);' });
    expect(await rest()).toHaveLength(3);
    expect(await verifyAudit(files(), { key: KEY })).toMatchObject({ lines: 3, findings: [] });
  });
});

describe('A file that may not grow any more', () => {
  it.each([true, false])('is told of, and has whole lines only, with sync: %s', async (sync) => {
    // 16 blocks of 512 bytes
    const { rest } = run({ sync }, { count: 60, shell: 'ulimit -f 16', after: 'process.exit(0);' });
    const printed = await rest();
    expect(printed.filter((line) => line === 'answered')).toHaveLength(60);
    expect(printed).toContain('reported');
    const { lines, findings } = await verifyAudit(files(), { key: KEY });
    expect(findings).toEqual([]);
    expect(lines).toBeGreaterThan(0);
    const next = run({}, { count: 1, after: 'await client.close(); await server.close();' });
    await next.rest();
    expect((await verifyAudit(files(), { key: KEY })).findings).toEqual([]);
  });
});
