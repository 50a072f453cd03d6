import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { connect } from '@decorum/testing';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = join(ROOT, 'examples/docs/dist/main.js');

/** Runs the built program until it exits. */
async function runMain(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (text) => (stderr += String(text)));
  const [code] = (await once(child, 'close')) as [number];
  return { code, stderr };
}

describe('The program', () => {
  let cwd: string;
  let child: ChildProcess | undefined;

  beforeEach(async () => {
    cwd = await mkdtemp(join(tmpdir(), 'decorum-docs-'));
  });

  afterEach(async () => {
    child?.kill('SIGKILL');
    await rm(cwd, { recursive: true });
  });

  async function startHttp(): Promise<{ url: string; curl: string; lines: AsyncIterator<string> }> {
    child = spawn(process.execPath, [MAIN], {
      cwd,
      env: { ...process.env, PORT: '0', HOST: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (!child.stdout) throw new Error('The program has no stdout.');
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    let url = '';
    for (;;) {
      const { value } = (await lines.next()) as { value: string };
      url ||= /http:\S+/.exec(value)?.[0] ?? '';
      const curl = /curl .*$/.exec(value)?.[0];
      if (curl) return { url, curl, lines };
    }
  }

  it('serves this repository’s docs on a loopback port from any directory, and prints a curl line that works', async () => {
    const { url, curl } = await startHttp();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    const headers = [...curl.matchAll(/-H '([^:]+): ([^']+)'/g)].map(
      ([, name, value]) => [name, value] as [string, string],
    );
    const response = await fetch(url, { method: 'POST', headers, body: /-d '(.+)'$/.exec(curl)?.[1] ?? '' });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('decorum-docs');
  });

  it('serves the skills of this repository with its docs', async () => {
    const { url } = await startHttp();
    const client = await connect(url, { revision: '2026-07-28' });
    const { skills } = await client.request('skills/list');
    expect(skills).toMatchObject([
      { frontmatter: { name: 'decorum-server' } },
      { frontmatter: { name: 'decorum-testing' } },
    ]);
    const { contents } = await client.readResource('skill://decorum-server/references/members.md');
    expect(contents).toMatchObject([{ mimeType: 'text/markdown', text: expect.stringContaining('@Tool') }]);
    await client.close();
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('exits cleanly on %s', async (signal) => {
    await startHttp();
    child?.kill(signal);
    expect(await once(child as ChildProcess, 'exit')).toEqual([0, null]);
  });

  it('serves stdio with --stdio, and exits when its input ends', async () => {
    child = spawn(process.execPath, [MAIN, '--stdio'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '0' } };
    child.stdin?.end(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
    let output = '';
    child.stdout?.on('data', (text) => (output += String(text)));
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(JSON.parse(output)).toMatchObject({ id: 1, result: { serverInfo: { name: 'decorum-docs' } } });
  });

  it('names a missing folder', async () => {
    const { code, stderr } = await runMain([join(cwd, 'nowhere')], { PORT: '0' });
    expect(stderr).toBe(`There is no folder ${join(cwd, 'nowhere')}. Name one that holds Markdown files.\n`);
    expect(code).toBe(1);
  });

  it('reports a port in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const { code, stderr } = await runMain([], { PORT: String(port) });
    other.close();
    expect(stderr).toMatch(new RegExp(`:${port}[^\n]*\nChoose another port.*\n$`));
    expect(code).toBe(1);
  });

  it('explains how to allow other machines', async () => {
    const { code, stderr } = await runMain([], { PORT: '0', HOST: '0.0.0.0' });
    expect(stderr).toContain('ALLOWED_HOSTS=');
    expect(code).toBe(1);
  });

  it('rejects a PORT that is none', async () => {
    const { code, stderr } = await runMain([], { PORT: '70000' });
    expect(stderr).toContain('PORT is "70000"');
    expect(code).toBe(1);
  });

  it('rejects unknown options', async () => {
    const { code, stderr } = await runMain(['--sdtio']);
    expect(stderr).toContain('--sdtio');
    expect(code).toBe(1);
  });
});
