import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { audit } from '@decorum/audit';
import { McpServer } from '@decorum/core';
import { connect } from '@decorum/testing';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { createProject, type Project } from './project.js';

const SECRET = 'the secret of a server that is audited';
const VERIFY = ['audit', 'verify', 'audit.log'];
const env = { DECORUM_SECRET: SECRET };

let project: Project;
let lines: string[];
beforeEach(async () => {
  project = createProject({ 'package.json': { name: 'shop', type: 'module' } });
  lines = [];
  const plugins = [audit({ write: (line) => void lines.push(line), key: SECRET })];
  const server = new McpServer({ name: 'shop', version: '1.0.0', plugins });
  server.addTool({ name: 'buy', description: 'Buys' }, () => 'bought');
  const client = await connect(server);
  for (let at = 0; at < 5; at += 1) await client.callTool('buy');
  await client.close();
});
afterEach(() => project.remove());

const write = (all: readonly string[], name = 'audit.log') =>
  project.write({ [name]: all.map((line) => `${line}\n`).join('') });
const macOf = (line: string | undefined): string => (JSON.parse(line ?? '') as { mac: string }).mac;

describe('decorum audit verify', () => {
  it('says that a log is as it was written, and the mac to remember', async () => {
    write(lines);
    expect(await project.decorum(VERIFY, { env })).toEqual({
      code: 0,
      stdout: `5 lines in 1 file: as they were written\nlast mac: ${macOf(lines[4])}\n`,
      stderr: '',
    });
  });

  it('names each line that is not, and exits with 1', async () => {
    const changed = [...lines];
    changed[1] = (lines[1] as string).replace('"ok"', '"tool-error"');
    write([...changed.slice(0, 3), lines[4] as string]);
    expect(await project.decorum(VERIFY, { env })).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'audit.log:2  was changed, or lines before it were removed\naudit.log:4  was changed, or lines before it were removed\n',
    });
  });

  it('reads several files as one log, or what follows a mac', async () => {
    write(lines.slice(0, 2), 'audit.000001.log');
    write(lines.slice(2));
    const both = await project.decorum(['audit', 'verify', 'audit.000001.log', 'audit.log'], { env });
    expect(both).toMatchObject({ code: 0, stdout: expect.stringContaining('5 lines in 2 files') });
    const alone = await project.decorum(VERIFY, { env });
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining('with --after') });
    expect(await project.decorum([...VERIFY, '--after', macOf(lines[1])], { env })).toMatchObject({ code: 0 });
  });

  it('notices removed last lines with the mac of one of them', async () => {
    write(lines.slice(0, 3));
    expect(await project.decorum(VERIFY, { env })).toMatchObject({ code: 0 });
    expect(await project.decorum([...VERIFY, '--seen', macOf(lines[3])], { env })).toEqual({
      code: 1,
      stdout: '',
      stderr: 'audit.log:3  is the last line, and none has the mac of --seen: lines after it were removed\n',
    });
  });

  it('tells of a line that was never finished, which is no failure', async () => {
    project.write({ 'audit.log': `${lines[0]}\n${lines[1]?.slice(0, 50)}` });
    expect(await project.decorum(VERIFY, { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('audit.log:2  was never finished: the process died\n'),
    });
  });

  it('prints JSON, with the same exit codes', async () => {
    write(lines.slice(1));
    const { code, stdout } = await project.decorum([...VERIFY, '--json'], { env });
    expect({ code, found: JSON.parse(stdout) }).toMatchObject({
      code: 1,
      found: { lines: 4, findings: [{ file: 'audit.log', line: 1, problem: 'changed' }], torn: [] },
    });
  });

  it('takes the secret from any variable or file of variables, and from nowhere else', async () => {
    write(lines);
    const other = [...VERIFY, '--key-env', 'AUDIT_KEY'];
    expect(await project.decorum(other, { env: { AUDIT_KEY: SECRET } })).toMatchObject({ code: 0 });
    project.write({ '.env': `AUDIT_KEY='${SECRET}'` });
    expect(await project.decorum([...other, '--env-file', '.env'])).toMatchObject({ code: 0 });
    const nowhere = await project.decorum(VERIFY, { env: { DECORUM_SECRET: '' } });
    expect(nowhere).toMatchObject({ code: 3, stderr: expect.stringContaining('DECORUM_SECRET is not set.') });
    const wrong = await project.decorum(VERIFY, {
      env: { DECORUM_SECRET: 'not the secret of this server but another' },
    });
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('was signed with the secret in') });
    const short = await project.decorum(VERIFY, { env: { DECORUM_SECRET: 'short' } });
    expect(short).toMatchObject({ code: 2, stderr: expect.stringContaining('at least 32 characters') });
  });

  it('needs files, a mac of the right form, and the package', async () => {
    write(lines);
    expect(await project.decorum(['audit', 'verify'], { env })).toMatchObject({ code: 2 });
    const nothing = await project.decorum(['audit', 'verify', 'nothing.log'], { env });
    expect(nothing).toMatchObject({ code: 2, stderr: 'There is no file nothing.log.\n' });
    const mac = await project.decorum([...VERIFY, '--seen', 'x'], { env });
    expect(mac).toMatchObject({ code: 2, stderr: expect.stringContaining('`seen` must be the `mac` of a line') });
    rmSync(join(project.folder, 'node_modules/@decorum'), { recursive: true });
    expect(await project.decorum(VERIFY, { env })).toEqual({
      code: 3,
      stdout: '',
      stderr: '@decorum/audit is not installed here. Run `npm install @decorum/audit`.\n',
    });
  });
});
