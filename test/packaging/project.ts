import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { transformSync } from '@swc/core';

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const PROGRAMS = new Set(['cli', 'create-decorum']);
/** The packages that a server uses, without the command-line programs, whose dependencies are optional for servers. */
const PACKAGES = readdirSync(join(ROOT, 'packages')).filter((name) => !PROGRAMS.has(name));

/** A user's project in its own folder, with the published packages. */
export interface Project {
  readonly folder: string;
  /** Absolute path of a file in the project. */
  path(file: string): string;
  write(file: string, text: string): string;
  /** Runs a program and resolves with its stdout. If it fails, rejects with all its output. */
  run(program: string, args: readonly string[], options?: { input?: string; env?: object }): Promise<string>;
  remove(): void;
}

function link(from: string, to: string): void {
  if (existsSync(to)) return;
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(realpathSync(from), to);
}

/** The packages in a `node_modules` folder: `jest`, `@swc/core`, … */
function installed(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => (name.startsWith('@') ? readdirSync(join(folder, name)).map((it) => `${name}/${it}`) : [name]));
}

/** Links the files of a folder into a new one, or copies them if that is on another disk. */
function linkFiles(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    execFileSync('cp', ['-rl', from, to], { stdio: 'ignore' });
  } catch {
    cpSync(from, to, { recursive: true });
  }
}

/** Copies the packages like npm, with their dependencies and the given peers. */
function installPackages(modules: string, peers: readonly string[]): void {
  for (const name of PACKAGES) {
    const home = join(ROOT, 'packages', name);
    const to = join(modules, '@decorum', name);
    linkFiles(join(home, 'dist'), join(to, 'dist'));
    cpSync(join(home, 'package.json'), join(to, 'package.json'));
    const { dependencies = {} } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
    const wanted = [
      ...Object.keys(dependencies),
      ...peers.filter((peer) => existsSync(join(home, 'node_modules', peer))),
    ];
    for (const dependency of wanted.filter((each) => !each.startsWith('@decorum/'))) {
      link(join(home, 'node_modules', dependency), join(modules, dependency));
    }
  }
}

/**
 * Creates a project in a temporary folder.
 * @param options.peers installed optional peers of our packages
 * @param options.from folder beside this file to take files and dependencies from
 * @param options.tools additional packages from the root of the repository
 */
export function createProject(options: {
  readonly peers?: readonly string[];
  readonly from?: string;
  readonly tools?: readonly string[];
}): Project {
  const { peers = ['class-validator', 'class-transformer'], from, tools = [] } = options;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'decorum-project-')));
  const modules = join(folder, 'node_modules');
  installPackages(modules, peers);
  for (const tool of tools) link(join(ROOT, 'node_modules', tool), join(modules, tool));
  if (from !== undefined) {
    const source = join(ROOT, 'test/packaging', from);
    const isCopied = (file: string) => !file.startsWith(join(source, 'node_modules'));
    cpSync(source, folder, { recursive: true, filter: isCopied });
    for (const name of installed(join(source, 'node_modules'))) {
      link(join(source, 'node_modules', name), join(modules, name));
    }
  }
  const path = (file: string) => join(folder, file);
  return {
    folder,
    path,
    write(file, text) {
      mkdirSync(dirname(path(file)), { recursive: true });
      writeFileSync(path(file), text);
      return path(file);
    },
    run: (program, args, { input = '', env = {} } = {}) =>
      new Promise((resolve, reject) => {
        // a clean environment without jest's own settings
        const { PATH, HOME } = process.env;
        const child = execFile(program, args, { cwd: folder, env: { PATH, HOME, ...env } }, (error, stdout, stderr) => {
          if (error === null) resolve(stdout);
          else reject(new Error(`${error.message}\n${stdout}\n${stderr}`));
        });
        child.stdin?.end(input);
      }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Compiles a server in `servers/` to JavaScript with decorator metadata. */
export const compiled = (server: string, type?: 'es6' | 'commonjs'): string =>
  compiledFile(`test/packaging/servers/${server}`, type);

/** Compiles a file of the repository to JavaScript with decorator metadata. */
export const compiledFile = (file: string, type?: 'es6' | 'commonjs'): string =>
  compiledCode(readFileSync(join(ROOT, file), 'utf8'), type);

/** Compiles code to JavaScript with decorator metadata. */
export function compiledCode(code: string, type: 'es6' | 'commonjs' = 'es6'): string {
  return transformSync(code, {
    swcrc: false,
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
      keepClassNames: true,
    },
    module: { type },
  }).code;
}

const request = (id: number, method: string, params: object) => ({ jsonrpc: '2.0', id, method, params });

/** The input of a stdio conversation, one message per line. */
export function conversation(calls: readonly (readonly [name: string, args: object])[]): string {
  const client = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } };
  const messages = [
    request(1, 'initialize', client),
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    request(2, 'tools/list', {}),
    ...calls.map(([name, args], index) => request(3 + index, 'tools/call', { name, arguments: args })),
  ];
  return messages.map((message) => `${JSON.stringify(message)}\n`).join('');
}

/** The responses of a stdio server in request order. */
export function answers(stdout: string): { readonly id: number; readonly result?: object; readonly error?: object }[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines
    .map((line) => JSON.parse(line) as { id: number })
    .filter(({ id }) => id !== undefined)
    .sort((a, b) => a.id - b.id);
}

interface Report {
  readonly testResults: readonly { readonly assertionResults: readonly { title: string; status: string }[] }[];
}

/** The status of each test in the `--json` report of a runner. */
export function statuses(report: string): Record<string, string> {
  const { testResults } = JSON.parse(report) as Report;
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  return Object.fromEntries(tests.map(({ title, status }) => [title, status]));
}
