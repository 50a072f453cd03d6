import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

import { usersFile } from '@decorum/auth-server';

import { DECORUM, runNode } from './project.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hash-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs the command with some input on stdin, which is no terminal. */
const hashOf = (input: string) => runNode([DECORUM, 'hash-password'], { input });

/** Whether a server accepts the password. */
async function accepts(hash: string, password: string): Promise<boolean> {
  const path = join(folder, 'users.json');
  writeFileSync(path, JSON.stringify({ alice: { password: hash } }));
  return (await usersFile(path).verify('alice', password)) !== undefined;
}

interface Terminal {
  readonly screen: string;
  readonly stdout: string;
  readonly code: number | null;
}

/** Runs the command on a terminal, and types an answer whenever it asks. */
async function onTerminal(answers: readonly string[]): Promise<Terminal> {
  const stdout = join(folder, 'stdout');
  const command = `'${process.execPath}' '${DECORUM}' hash-password > '${stdout}'`;
  const child = spawn('script', ['-qec', command, '/dev/null'], { env: { ...process.env, NODE_OPTIONS: '' } });
  const left = [...answers];
  let screen = '';
  let seen = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
    const asked = screen.match(/: /g)?.length ?? 0;
    for (; seen < asked; seen++) child.stdin.write(left.shift() ?? '\u0003');
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return { screen, stdout: readFileSync(stdout, 'utf8'), code };
}

describe('decorum hash-password', () => {
  it('prints the hash alone, which a server accepts with this password and no other', async () => {
    const { code, stdout, stderr } = await hashOf('hunter2 é\nmore\n');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^\$scrypt\$ln=17,r=8,p=1\$\S+\n$/);
    expect(await accepts(stdout.trim(), 'hunter2 e\u0301')).toBe(true);
    expect(await accepts(stdout.trim(), 'hunter2')).toBe(false);
  });

  it('takes a line as it is, without its end', async () => {
    const { stdout } = await hashOf(' hunter2 \r\n');
    expect(await accepts(stdout.trim(), ' hunter2 ')).toBe(true);
  });

  it.each([
    ['', 'The password is empty.\n'],
    ['\nhunter2', 'The password is empty.\n'],
    ['x'.repeat(5000), 'The password is longer than 4096 bytes.\n'],
  ])('fails without a password: %#', async (input, stderr) => {
    expect(await hashOf(input)).toEqual({ code: 1, stdout: '', stderr });
  });

  it('fails if the input is not UTF-8, whose letters would all be replaced by one', async () => {
    const input = Buffer.from('pässword', 'latin1');
    const { status, stdout, stderr } = spawnSync(process.execPath, [DECORUM, 'hash-password'], {
      input,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: 'The password on stdin is not UTF-8.\n',
    });
  });
});

describe('decorum hash-password on a terminal', () => {
  it('asks twice, shows nothing of the answers, and prints the hash alone on stdout', async () => {
    const { code, screen, stdout } = await onTerminal(['hunteR\u007Fr2\r', 'hunter2\r']);
    expect(code).toBe(0);
    expect(screen.replace(/\s+/g, ' ').trim()).toBe('Password: Again:');
    expect(stdout).toMatch(/^\$scrypt\$\S+\n$/);
    expect(await accepts(stdout.trim(), 'hunter2')).toBe(true);
  });

  it.each([
    [['hunter2\r', 'hunter3\r'], 'These are two different passwords.'],
    [['\r'], 'The password is empty.'],
    [['\u0003'], 'Cancelled.'],
    [['hunter2\r', '\u0004'], 'Cancelled.'],
  ])('prints no hash after %j', async (answers, problem) => {
    const { code, screen, stdout } = await onTerminal(answers);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(screen).toContain(problem);
    expect(screen).not.toContain('hunter');
  });
});
