/** A project as somebody creates it who has nothing but a package manager. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { ROOT } from '../workspace.js';

const requireHere = createRequire(join(ROOT, 'test/release/package.json'));
const load = async (/** @type {string} */ name) => await import(pathToFileURL(requireHere.resolve(name)).href);

/** How each package manager is called: pnpm and yarn come from the registry, too. */
const INSTALLERS = {
  npm: ['npm'],
  pnpm: ['npx', '-y', 'pnpm@10.34.8'],
  yarn: ['npx', '-y', 'yarn@1.22.22'],
};

/** @param {keyof typeof INSTALLERS} installer */
const createArguments = (installer) => {
  if (installer === 'npm') return ['create', 'decorum@latest', 'weather', '--yes', '--', '--yes'];
  return ['create', 'decorum', 'weather', '--yes'];
};

/**
 * Creates, tests, builds and installs a project, and runs it as the client would.
 * @param {import('./registry.js').Registry} registry
 * @param {keyof typeof INSTALLERS} installer
 */
export async function tryOut(registry, installer) {
  const home = mkdtempSync(join(tmpdir(), `decorum-${installer}-`));
  const folder = join(home, 'empty');
  mkdirSync(folder);
  const env = registry.env({ HOME: home, XDG_DATA_HOME: join(home, 'data'), XDG_CACHE_HOME: join(home, 'cache') });
  const [program = '', ...before] = INSTALLERS[installer];
  const run = (/** @type {string} */ cwd, /** @type {string[]} */ ...args) =>
    execFileSync(program, [...before, ...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    run(folder, ...createArguments(installer));
    const project = join(folder, 'weather');
    run(project, 'run', 'test');
    run(project, 'run', 'build');
    const file = join(home, 'client.json');
    execFileSync(join(project, 'node_modules/.bin/decorum'), ['install', 'cursor', '--config', file], {
      cwd: project,
      env,
    });
    const { command, args } = Object.values(JSON.parse(readFileSync(file, 'utf8')).mcpServers)[0];
    await expectAnswer({ command, args });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/**
 * Runs a command as a desktop client does, almost without an environment, and calls its tool.
 * @param {{ command: string, args: string[] }} entry
 */
async function expectAnswer(entry) {
  const { Client } = await load('@modelcontextprotocol/client');
  const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
  const client = new Client({ name: 'check-release', version: '1.0.0' });
  await client.connect(new StdioClientTransport({ ...entry, cwd: tmpdir(), env: { PATH: '/nowhere' } }));
  try {
    const { content } = await client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
    if (content?.[0]?.text !== 'Hello, Ada!') throw new Error(`The server answered ${JSON.stringify(content)}`);
  } finally {
    await client.close();
  }
}
