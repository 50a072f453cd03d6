import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { CLOCK, createProject, GREETER, type Project, TSCONFIG } from './project.js';

// installs the official tool
jest.setTimeout(60_000);

const run = promisify(execFile);

const tools = mkdtempSync(join(tmpdir(), 'decorum-mcpb-'));
const MCPB = join(tools, 'node_modules/@anthropic-ai/mcpb/dist/cli/cli.js');
beforeAll(async () => {
  await run('npm', ['install', '--prefix', tools, '--no-audit', '--no-fund', '@anthropic-ai/mcpb@2.1.2']);
});
afterAll(() => rmSync(tools, { recursive: true, force: true }));

let project: Project;
afterEach(() => project.remove());

interface Manifest {
  readonly server: { readonly mcp_config: { readonly command: string; readonly args: readonly string[] } };
}

const OPENING = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } },
  },
  { method: 'notifications/initialized' },
];

/** Starts a bundle as its manifest says, and returns what it answers. */
async function answers(folder: string, { server }: Manifest, tool: string): Promise<string> {
  const { command, args } = server.mcp_config;
  const child = spawn(
    command,
    args.map((each) => each.replaceAll('${__dirname}', folder)),
    { cwd: tmpdir() },
  );
  const call = {
    id: 2,
    method: 'tools/call',
    params: { name: tool, arguments: tool === 'greet' ? { name: 'Ada' } : {} },
  };
  child.stdin.end([...OPENING, call].map((each) => `${JSON.stringify({ jsonrpc: '2.0', ...each })}\n`).join(''));
  let text = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) text += chunk;
  return text;
}

describe('a bundle of decorum build --mcpb', () => {
  it.each([
    {
      program: 'exports its server',
      server: GREETER,
      main: `export { Greeter as server } from './server.js';`,
      packages: ['class-transformer', 'class-validator'],
      args: ['main.mjs'],
      tool: { name: 'greet', description: 'Greets somebody' },
    },
    {
      program: 'serves by itself',
      server: CLOCK,
      main: `
        import { serveStdio } from '@decorum/core';
        import { listen } from '@decorum/http';
        import { Clock } from './server.js';
        if (process.argv.includes('--stdio')) await serveStdio(new Clock());
        else await listen(new Clock(), { port: 0 });`,
      packages: ['@decorum/http'],
      args: ['dist/main.js', '--stdio'],
      tool: { name: 'now', description: 'Tells the time' },
    },
  ])('is valid, and runs unpacked, from a program that $program', async (each) => {
    const { server, main, packages, args, tool } = each;
    project = createProject({
      'package.json': {
        name: '@acme/greeter',
        version: '1.2.3',
        type: 'module',
        description: 'Greets people',
        author: 'Ada <ada@example.com>',
        license: 'MIT',
        dependencies: Object.fromEntries(['@decorum/core', ...packages].map((name) => [name, '*'])),
        devDependencies: { typescript: '*' },
      },
      'tsconfig.json': TSCONFIG,
      'src/server.ts': server,
      'src/main.ts': main,
    });
    expect(await project.decorum(['build', '--mcpb'])).toMatchObject({ code: 0, stderr: '' });
    const folder = join(project.folder, 'unpacked');
    await run('node', [MCPB, 'unpack', 'greeter.mcpb', folder], { cwd: project.folder });
    const { stdout } = await run('node', [MCPB, 'validate', folder]);
    expect(stdout).toContain('Manifest schema validation passes!');

    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
    expect(manifest).toMatchObject({
      name: 'greeter',
      version: '1.2.3',
      description: 'Greets people',
      author: { name: 'Ada' },
      license: 'MIT',
      tools: [tool],
      server: { mcp_config: { args: [`\${__dirname}/${args[0]}`, ...args.slice(1)] } },
    });
    // without the project, whose packages it could find otherwise
    rmSync(join(project.folder, 'node_modules'), { recursive: true });
    expect(await answers(folder, manifest, tool.name)).toMatch(/Hello, Ada!|noon/);
    expect(existsSync(join(folder, 'node_modules/typescript'))).toBe(false);
    expect(readdirSync(join(folder, 'dist')).sort()).toEqual(['main.js', 'server.js']);
    // a package of the same workspace is bundled as it would be published
    expect(readdirSync(join(folder, 'node_modules/@decorum/core')).sort()).toEqual(['dist', 'package.json']);
  });
});
