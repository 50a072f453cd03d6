import { execFile } from 'node:child_process';
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

const PACKAGES = readdirSync(join(ROOT, 'packages'));

/** A user's project in a folder of its own, with the packages as they are published. */
export interface Project {
  readonly folder: string;
  /** The absolute path of a file of the project. */
  path(file: string): string;
  write(file: string, text: string): string;
  /** Runs a program to its end, and gives what it printed to stdout. Rejects with all it printed where it fails. */
  run(program: string, args: readonly string[], options?: { input?: string; env?: object }): Promise<string>;
  remove(): void;
}

function link(from: string, to: string): void {
  if (existsSync(to)) return;
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(realpathSync(from), to);
}

/** What a `node_modules` holds: `jest`, `@swc/core`, … */
function installed(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => (name.startsWith('@') ? readdirSync(join(folder, name)).map((it) => `${name}/${it}`) : [name]));
}

/** Copies the packages as npm would install them, with their dependencies, and those peers that are named. */
function installPackages(modules: string, peers: readonly string[]): void {
  for (const name of PACKAGES) {
    const home = join(ROOT, 'packages', name);
    const to = join(modules, '@decorum', name);
    cpSync(join(home, 'dist'), join(to, 'dist'), { recursive: true });
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
 * Makes a project in a temporary folder.
 * @param options.peers the optional peers of our packages that it has installed
 * @param options.from a folder beside this file whose files and dependencies it takes
 * @param options.tools packages of the repository's root that it has installed too
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
        // a plain environment: jest's own settings are not the user's
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

/** Compiles a server of `servers/` to JavaScript with the metadata that decorators need. */
export function compiled(server: string, type: 'es6' | 'commonjs' = 'es6'): string {
  const source = readFileSync(join(ROOT, 'test/packaging/servers', server), 'utf8');
  return transformSync(source, {
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

/** One line of a conversation over stdio each. */
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

/** What a server over stdio answered, in the order of the questions. */
export function answers(stdout: string): { readonly id: number; readonly result?: object; readonly error?: object }[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines
    .map((line) => JSON.parse(line) as { id: number })
    .filter(({ id }) => id !== undefined)
    .sort((a, b) => a.id - b.id);
}
