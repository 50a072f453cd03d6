// What an operator sees when a program starts with a wrong issuer: in its own process, as in production.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { afterEach, describe, expect, it } from '@jest/globals';

import { HostileIssuer } from './hostile-issuer.js';

const PROGRAM = `
import { oauth } from '@decorum/auth';
import { McpServer } from '@decorum/core';
import { listen } from '@decorum/http';
const server = new McpServer({ name: 'files', version: '1.0.0' });
server.addTool({ name: 'list' }, () => 'notes.txt');
const auth = oauth({ issuer: process.argv[1], audience: 'http://127.0.0.1:1/mcp', allowLoopbackHttp: true });
const { url } = await listen(server, { auth, port: 0 });
console.error(url);
`;

const stopping: (() => unknown)[] = [];

afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
});

/** Starts the program, and returns its log up to a line that matches. */
async function logOf(issuer: string, last: RegExp): Promise<string[]> {
  const args = ['--input-type=module', '-e', PROGRAM, issuer];
  const child = spawn(process.execPath, args, {
    cwd: new URL('.', import.meta.url),
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  stopping.push(() => child.kill('SIGKILL'));
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    if (last.test(line)) return lines;
  }
  throw new Error(lines.join('\n'));
}

describe('a program with a slash too many in its issuer', () => {
  it('listens at once, and then says what to write (#23)', async () => {
    const issuer = await HostileIssuer.open();
    stopping.push(() => issuer.stop());
    const lines = await logOf(`${issuer.url}/`, /Only the slash/);
    expect(lines.at(-1)?.replaceAll('\\', '')).toContain(`write \`issuer: "${issuer.url}"\``);
    expect(lines.join('\n')).toMatch(/http:\/\/127\.0\.0\.1:\d+\/mcp/);
  });
});
