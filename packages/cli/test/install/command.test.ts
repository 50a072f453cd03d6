import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { parseTOML } from 'toml-eslint-parser';

import { toml } from '../../src/install/formats/toml.js';
import { lastingNode, versionNote } from '../../src/install/node-path.js';
import { createProject, DECORUM, type Ended, GREETER, type Project, runNode, TSCONFIG } from '../project.js';

// a command starts a process, and building a compiler
jest.setTimeout(180_000);

const CLI = 'node_modules/@decorum/cli/bin/decorum.js';

let project: Project;
beforeAll(async () => {
  project = createProject({
    'package.json': { name: '@acme/greeter', type: 'module', description: 'Greets people' },
    'tsconfig.json': TSCONFIG,
    'src/main.ts': GREETER.replace('export class', 'export default class'),
  });
});
afterAll(() => project.remove());

let home: string;
beforeEach(() => {
  home = join(project.folder, 'home');
  mkdirSync(home);
});
afterEach(() => {
  rmSync(home, { recursive: true });
  for (const name of ['.mcp.json', '.vscode', '.codex'])
    rmSync(join(project.folder, name), { recursive: true, force: true });
});

/** Runs `decorum` with a home folder of its own. */
async function run(...args: readonly string[]): Promise<Ended> {
  const env = { HOME: home, USERPROFILE: home, XDG_CONFIG_HOME: '', CODEX_HOME: '', CLAUDE_CONFIG_DIR: '' };
  return await project.decorum(args, { env });
}

const here = (path: string): string => join(project.folder, path);
const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
const NODE = lastingNode(process.execPath);
const note = versionNote(NODE);
/** What every installation prints on a machine where Node.js is in a folder of its version. */
const NOTE = note === undefined ? '' : `${note}\n`;
const started = (...args: readonly string[]) => ({
  command: NODE,
  args: [here(CLI), ...args],
});

/** Starts a command as a client does: in another folder, and without the variables of this process. */
async function greeting({ command, args, env }: { command: string; args: string[]; env?: Record<string, string> }) {
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...env, PATH: '/nowhere' },
    cwd: '/',
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  try {
    await client.connect(transport);
    const { content } = await client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
    return content;
  } finally {
    await client.close();
  }
}

const HELLO = [{ type: 'text', text: 'Hello, Ada!' }];

describe('decorum install, before the project is built', () => {
  it('says how to build', async () => {
    expect(await run('install', 'cursor')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'src/main.ts is not built yet. Run `decorum build` first, or pass --dev to run the source.\n',
    });
    expect((await run('install', 'cursor', 'src/main.ts')).stderr).toContain('src/main.ts is not built yet.');
    expect(readdirSync(home)).toEqual([]);
  });

  it('installs the source with --dev, which starts in any folder', async () => {
    expect((await run('install', 'cursor', '--dev')).code).toBe(0);
    const { mcpServers } = json(join(home, '.cursor/mcp.json')) as {
      mcpServers: { greeter: { command: string; args: string[] } };
    };
    expect(mcpServers).toEqual({
      greeter: { type: 'stdio', ...started('dev', '--cwd', project.folder, '--stdio', here('src/main.ts')) },
    });
    expect(await greeting(mcpServers.greeter)).toEqual(HELLO);
  });
});

describe('decorum install', () => {
  beforeAll(async () => {
    const { code, stderr } = await project.decorum(['build']);
    if (code !== 0) throw new Error(stderr);
  });

  it('installs the built program, which starts with hardly any environment, and uninstalls it', async () => {
    const path = join(home, '.claude.json');
    const added = await run('install', 'claude-code', '--env', 'LOG_LEVEL=debug');
    expect(added).toEqual({
      code: 0,
      stdout: `Claude Code has the server greeter now: ${path}\nRestart Claude Code if it doesn't show the server. \`decorum uninstall\` removes it.\n`,
      stderr: NOTE,
    });
    const { mcpServers } = json(path) as { mcpServers: { greeter: { command: string; args: string[] } } };
    const env = { LOG_LEVEL: 'debug' };
    expect(mcpServers).toEqual({
      greeter: { type: 'stdio', ...started('start', '--stdio', here('dist/main.js')), env },
    });
    expect(await greeting(mcpServers.greeter)).toEqual(HELLO);
    expect(await run('uninstall', 'claude-code')).toEqual({
      code: 0,
      stdout: `Claude Code has the server greeter no more: ${path}\n`,
      stderr: '',
    });
    expect(readdirSync(home)).toEqual([]);
    expect(await run('uninstall', 'claude-code')).toEqual({
      code: 1,
      stdout: '',
      stderr: `Claude Code has no server with the name greeter in ${path}. Pass --name or --scope.\n`,
    });
  });

  it('installs a program in TOML, which starts with hardly any environment', async () => {
    expect((await run('install', 'codex', 'src/main.ts', '--', '--verbose')).code).toBe(0);
    const text = readFileSync(join(home, '.codex/config.toml'), 'utf8');
    expect(() => parseTOML(text)).not.toThrow();
    const parsed = toml.parse(text, { section: 'mcp_servers', name: 'greeter' }).get('mcp_servers');
    const server = Object.fromEntries((parsed as Map<string, Map<string, unknown>>).get('greeter') ?? []);
    expect(server).toEqual(started('start', '--stdio', here('dist/main.js'), '--', '--verbose'));
    expect(await greeting(server as { command: string; args: string[] })).toEqual(HELLO);
  });

  it('prints a change that `git apply` accepts, and writes nothing, with --dry-run', async () => {
    const path = here('.mcp.json');
    writeFileSync(path, '{\n  "mcpServers": {\n    "a": {}\n  }\n}');
    const { stdout } = await run('install', 'claude-code', '--scope', 'project', '--dry-run');
    expect(readFileSync(path, 'utf8')).toBe('{\n  "mcpServers": {\n    "a": {}\n  }\n}');
    const apply = (diff: string) =>
      execFileSync('git', ['apply', '--unsafe-paths', '-p0'], {
        cwd: project.folder,
        input: diff.replaceAll(path, '.mcp.json'),
      });
    apply(stdout);
    expect(Object.keys((json(path) as { mcpServers: object }).mcpServers)).toEqual(['a', 'greeter']);
    expect((await run('install', 'claude-code', '--scope', 'project')).stdout).toContain('already');
    apply((await run('uninstall', 'claude-code', '--scope', 'project', '--dry-run')).stdout);
    expect(readFileSync(path, 'utf8')).toBe('{\n  "mcpServers": {\n    "a": {}\n  }\n}');
    rmSync(path);
    apply((await run('install', 'claude-code', '--scope', 'project', '--dry-run')).stdout);
    expect(json(path)).toEqual({ mcpServers: { greeter: expect.anything() } });
  });

  it('warns of secrets in the file of a project, and says what to write instead', async () => {
    const args = ['--scope', 'project', '--env', 'API_KEY=hunter2', '--env', 'LOG_LEVEL=debug'];
    const advice = (other: string) =>
      `API_KEY seems to be a secret, and others may read the file. Pass ${other}--scope user.\n${NOTE}`;
    expect((await run('install', 'vscode', ...args)).stderr).toBe(advice("--env 'API_KEY=${env:API_KEY}', or "));
    expect((await run('install', 'codex', ...args)).stderr).toBe(advice(''));
    expect(json(here('.vscode/mcp.json'))).toHaveProperty('servers.greeter.env.API_KEY', 'hunter2');
    const safe = ['--scope', 'project', '--env', 'API_KEY=${API_KEY}'];
    expect((await run('install', 'claude-code', ...safe)).stderr).toBe(NOTE);
    expect((await run('install', 'claude-desktop', '--env', 'API_KEY=hunter2')).stderr).toBe(NOTE);
    const argument = ['--scope', 'project', '--dry-run', '--', '--api-key', 'hunter2'];
    expect((await run('install', 'cursor', ...argument)).stderr).toBe(
      `An argument seems to be a secret, and others may read the file. Use --scope user.\n${NOTE}`,
    );
  });

  it('warns of values that the client would change', async () => {
    const warning = (title: string, start: string) =>
      `${title} takes what follows "${start}" in A for the name of a variable, and inserts its value.\n${NOTE}`;
    const warningOf = async (client: string, value: string) =>
      (await run('install', client, '--dry-run', '--env', `A=${value}`)).stderr;
    expect(await warningOf('gemini-cli', 'pa$word')).toBe(warning('Gemini CLI', '$'));
    expect(await warningOf('claude-code', 'a ${B} c')).toBe(warning('Claude Code', '${'));
    expect(await warningOf('claude-code', 'pa$word')).toBe(NOTE);
    expect(await warningOf('claude-code', '${WHOLE}')).toBe(NOTE);
    expect(await warningOf('codex', 'a ${B} c')).toBe(NOTE);
  });

  it('prints what to add, for a client that it knows and for any other one', async () => {
    const { command, args } = started('start', '--stdio', here('dist/main.js'));
    const any = await run('install', '--print', '--env', 'A=b=c');
    expect(JSON.parse(any.stdout)).toEqual({ mcpServers: { greeter: { command, args, env: { A: 'b=c' } } } });
    const entry = await run('install', '--print', 'dist/main.js', '--', '--loud');
    expect(JSON.parse(entry.stdout).mcpServers.greeter.args).toEqual([...args, '--', '--loud']);
    const { stdout } = await run('install', 'goose', '--print', '--url', 'http://127.0.0.1:3000/mcp');
    expect(stdout.trim().split('\n')).toEqual([
      'extensions:',
      '  greeter:',
      '    enabled: true',
      '    type: "streamable_http"',
      '    name: "greeter"',
      '    description: "Greets people"',
      '    uri: "http://127.0.0.1:3000/mcp"',
      '    timeout: 300',
    ]);
    expect(readdirSync(home)).toEqual([]);
  });

  it('installs no program that does not answer over stdio, unless it has to', async () => {
    project.write({ 'dist/ends.js': `console.error('Set CITY.'); process.exit(process.env.CITY ? 0 : 1);` });
    const { code, stdout, stderr } = await run('install', 'cursor', 'dist/ends.js');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^dist\/ends\.js doesn't answer over stdio, so nothing was installed\. It says:\nSet CITY\.\n/,
    );
    expect(stderr).toContain('If it needs variables, pass them with --env.');
    expect(readdirSync(home)).toEqual([]);
    expect((await run('install', 'cursor', 'dist/ends.js', '--force')).code).toBe(0);
    expect(json(join(home, '.cursor/mcp.json'))).toHaveProperty('mcpServers.greeter.command', NODE);
  });

  it('leaves the entry of a new project, which starts the same program with paths from its folder', async () => {
    const args = ['node_modules/@decorum/cli/bin/decorum.js', 'dev', '--stdio'];
    const text = JSON.stringify({ mcpServers: { greeter: { command: 'node', args } } });
    writeFileSync(here('.mcp.json'), text);
    const inProject = ['install', 'claude-code', '--scope', 'project'];
    expect(await run(...inProject, '--dev')).toMatchObject({ code: 0, stdout: expect.stringContaining('already') });
    expect(await run(...inProject, '--dev', '--env', 'CITY=Oslo')).toMatchObject({ code: 1 });
    expect(await run(...inProject)).toMatchObject({ code: 1, stderr: expect.stringContaining('another server') });
    expect(readFileSync(here('.mcp.json'), 'utf8')).toBe(text);
    // in the user's file, such paths mean nothing
    writeFileSync(join(home, '.claude.json'), text);
    expect(await run('install', 'claude-code', '--dev')).toMatchObject({ code: 1 });
  });

  it('says that the project has a server with this name already', async () => {
    writeFileSync(here('.mcp.json'), '{ "mcpServers": { "greeter": {} } }');
    expect(await run('install', 'claude-code', '--dry-run')).toMatchObject({
      code: 0,
      stderr: `In this project, Claude Code has a server with the name greeter already, from ${here('.mcp.json')}.\n${NOTE}`,
    });
  });

  it('installs although the client writes its file while the program is tried', async () => {
    const path = join(home, '.claude.json');
    writeFileSync(path, '{}');
    const program = `import { writeFileSync } from 'node:fs';
      writeFileSync(process.env.CLIENT, '{ "startups": 2 }');
      export { default } from './main.js';`;
    project.write({ 'dist/writes.js': program });
    expect(await run('install', 'claude-code', 'dist/writes.js', '--env', `CLIENT=${path}`)).toMatchObject({ code: 0 });
    expect(json(path)).toEqual({ startups: 2, mcpServers: { greeter: expect.anything() } });
  });

  it('writes nothing without a home folder', async () => {
    const env = { HOME: '', USERPROFILE: '' };
    const { code, stderr } = await project.decorum(['install', 'cursor', '--url', 'http://a/mcp'], { env });
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('Set HOME to the whole path') });
    expect(readdirSync(project.folder)).not.toContain('.cursor');
  });

  it('refuses what it cannot install, and writes nothing', async () => {
    const wrong = [
      [['install', 'claude-desktop', '--url', 'https://example.com/mcp'], 'Claude Desktop has only programs, no URLs.'],
      [['install', 'windsurf', '--scope', 'project'], 'Windsurf has no configuration for a project.'],
      [['install', 'cursor', '--url', 'example.com'], '--url is "example.com". Pass an http or https URL'],
      [['install', 'cursor', '--url', 'http://a/mcp', '--dev'], '--url is for a server that runs already'],
      [['install', 'cursor', '--env', '1A=b'], 'There is an --env for "1A". Write NAME=value.'],
      [['install', 'cursor', '--env', 'hunter2'], 'There is an --env without "=". Write NAME=value.'],
      [['install', 'cursor', '--name', 'a b'], '--name is "a b", which not all clients accept.'],
      [['install', 'cursor', '--name', 'constructor'], '--name is "constructor", which not all clients accept.'],
      [['install', 'cursor', '--name', '__proto__'], '--name is "__proto__", which not all clients accept.'],
      [['install', 'cursor', '--name', 'workspace'], '--name is "workspace", which not all clients accept.'],
      [['install', 'cursor', '--scope', 'local'], "argument 'local' is invalid"],
      [['install', 'cursor', 'dist/other.js'], 'There is no file dist/other.js'],
      [['install'], 'Name a client: claude-desktop'],
    ] as const;
    const ended = await Promise.all(wrong.map(([args]) => run(...args)));
    expect(ended).toEqual(wrong.map(([, says]) => ({ code: 2, stdout: '', stderr: expect.stringContaining(says) })));
    expect(readdirSync(home)).toEqual([]);
  });

  it('runs itself if the project has no `decorum`', async () => {
    const elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'decorum-elsewhere-')));
    writeFileSync(join(elsewhere, 'server.js'), '');
    const args = [DECORUM, 'install', 'cursor', 'server.js', '--print', '--name', 'x'];
    const { stdout } = await runNode(args, { cwd: elsewhere });
    rmSync(elsewhere, { recursive: true });
    const expected = {
      type: 'stdio',
      command: NODE,
      args: [DECORUM, 'start', '--stdio', join(elsewhere, 'server.js')],
    };
    expect(JSON.parse(stdout)).toEqual({ mcpServers: { x: expected } });
  });
});
