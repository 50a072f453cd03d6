import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The program `decorum`. */
export const DECORUM = join(ROOT, 'packages/cli/bin/decorum.js');
const FROM_ROOT = createRequire(join(ROOT, 'package.json'));

/** How a program ended, and what it printed. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

/** A running program. */
export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  /** Resolves with the match once the program has printed it. Rejects if the program ends first. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
}

/** A project in its own folder. */
export interface Project {
  readonly folder: string;
  write(files: Readonly<Record<string, string | object>>): void;
  /** Runs Node.js. */
  node(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Runs `decorum`. */
  decorum(args: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Starts Node.js and leaves it running. */
  spawn(args: readonly string[], env?: RunOptions['env']): Running;
  /** Starts `decorum` and leaves it running. */
  start(args: readonly string[], env?: RunOptions['env']): Running;
  remove(): void;
}

/** The packages that projects use. The compiler is the one that this repository is built with. */
const PACKAGES: Readonly<Record<string, string>> = {
  '@types/node': '@types/node',
  'class-transformer': 'class-transformer',
  'class-validator': 'class-validator',
  express: 'express',
  fastify: 'fastify',
  typescript: 'ts7',
};

/** Removes the variables that the test runner sets. */
function environment(env: RunOptions['env'] = {}): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, FORCE_COLOR: _color, PORT: _port, HOST: _host, ...rest } = process.env;
  return { ...rest, PORT: '0', ...env };
}

/** Runs Node.js and ends its stdin after the input. */
export async function runNode(args: readonly string[], { cwd, env, input = '' }: RunOptions = {}): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd, env: environment(env) });
  child.stdin.on('error', () => {}).end(input);
  return await watch(child).ended;
}

function watch(child: ChildProcessWithoutNullStreams): Running {
  const output = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      for (const each of waiting) each();
    });
  }
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => resolve({ code, ...output }));
  });
  const printed = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(output.stdout) ?? pattern.exec(output.stderr);
        if (match) resolve(match);
      };
      waiting.add(look);
      look();
      void ended.then(() => reject(new Error(`It has ended: ${output.stdout}${output.stderr}`)));
    });
  return { child, ended, printed };
}

/** Creates a project with the packages that it may import. */
export function createProject(files: Readonly<Record<string, string | object>> = {}): Project {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'decorum-cli-')));
  const running = new Set<ChildProcessWithoutNullStreams>();
  const spawnNode = (args: readonly string[], env?: RunOptions['env']) => {
    const child = spawn(process.execPath, args, { cwd: folder, env: environment(env) });
    running.add(child.once('close', () => running.delete(child)));
    return watch(child);
  };
  const node = (args: readonly string[], options?: RunOptions) => runNode(args, { ...options, cwd: folder });
  const write: Project['write'] = (more) => {
    for (const [path, content] of Object.entries(more)) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    }
  };
  installPackages(join(folder, 'node_modules'));
  write(files);
  return {
    folder,
    write,
    node,
    decorum: async (args, options) => await node([DECORUM, ...args], options),
    spawn: spawnNode,
    start: (args, env) => spawnNode([DECORUM, ...args], env),
    remove() {
      for (const child of running) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function installPackages(modules: string): void {
  mkdirSync(join(modules, '@types'), { recursive: true });
  symlinkSync(join(ROOT, 'packages'), join(modules, '@decorum'));
  for (const [name, from] of Object.entries(PACKAGES)) {
    const folder = FROM_ROOT.resolve
      .paths(from)
      ?.map((path) => join(path, from))
      .find((path) => existsSync(path));
    symlinkSync(realpathSync(folder ?? from), join(modules, name));
  }
}

/** A server with one tool, as a subclass. */
export const GREETER = `
import { McpServer, Tool } from '@decorum/core';
import { IsString } from 'class-validator';

class Greeting {
  @IsString() name!: string;
}

export class Greeter extends McpServer {
  constructor() {
    super({ name: 'greeter', version: '1.0.0' });
  }

  @Tool({ description: 'Greets somebody' })
  greet({ name }: Greeting) {
    return 'Hello, ' + name + '!';
  }
}
`;

/** A server that needs only our packages, so bundling it takes less time. */
export const CLOCK = `
import { McpServer, Tool } from '@decorum/core';

export class Clock extends McpServer {
  constructor() {
    super({ name: 'clock', version: '1.0.0' });
  }

  @Tool({ description: 'Tells the time' })
  now() {
    return 'noon';
  }
}
`;

/** The tsconfig for projects that are built. */
export const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    experimentalDecorators: true,
    emitDecoratorMetadata: true,
    skipLibCheck: true,
    sourceMap: true,
    rootDir: 'src',
    outDir: 'dist',
  },
  include: ['src'],
};
