// Projects as users create them: from packed packages, with dependencies from the registry.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The package manager that isn't part of Node.js. */
const PNPM = 'pnpm@10.34.8';

/** A folder for projects, with tarballs of our packages. */
export class Workshop {
  private constructor(readonly folder: string) {}

  /**
   * Packs our packages, and installs `create-decorum` as npm does for `npm create decorum`.
   * @param only the packages, if projects are created in another way
   */
  static async open(only?: readonly string[]): Promise<Workshop> {
    const workshop = new Workshop(realpathSync(mkdtempSync(join(tmpdir(), 'decorum-created-'))));
    const filters = (only ?? ['./packages/*']).flatMap((name) => ['--filter', name]);
    const pack = [...filters, 'pack', '--pack-destination', workshop.path('packages')];
    await workshop.run(ROOT, 'npx', ['--yes', PNPM, ...pack]);
    const tools = only === undefined ? [workshop.tarball('create-decorum'), PNPM] : [PNPM];
    await workshop.run(workshop.folder, 'npm', ['install', '--prefix', 'tools', '--no-audit', ...tools]);
    mkdirSync(workshop.path('bin'));
    symlinkSync(workshop.path('tools/node_modules/.bin/pnpm'), workshop.path('bin/pnpm'));
    return workshop;
  }

  /** The path of a package's tarball: `@decorum/core` is in `decorum-core-0.0.0.tgz`. */
  tarball(name: string): string {
    const start = `${name.replace('@', '').replace('/', '-')}-`;
    const [packed = ''] = readdirSync(this.path('packages')).filter((file) => file.startsWith(start));
    return this.path('packages', packed);
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  /** The environment without the test runner's settings. It keeps those that are needed to reach the registry. */
  env(more: object = {}): Record<string, string> {
    const kept = Object.entries(process.env).filter(([name]) => !/^(?:npm_|JEST_|NODE_(?:ENV|OPTIONS)$)/i.test(name));
    const { PATH = '', ...rest } = Object.fromEntries(kept) as Record<string, string>;
    return { ...rest, NO_COLOR: '1', PATH: `${this.path('bin')}${delimiter}${PATH}`, ...more };
  }

  /** Runs a program and resolves with what it prints. Rejects with all its output if it fails. */
  run(cwd: string, program: string, args: readonly string[], env: object = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      execFile(program, args, { cwd, env: this.env(env) }, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`${program} ${args.join(' ')}\n${error.message}\n${stdout}\n${stderr}`));
      });
    });
  }

  /** Creates a project and resolves with what the command prints. */
  async create(name: string, ...flags: string[]): Promise<string> {
    const program = this.path('tools/node_modules/create-decorum/bin/create-decorum.js');
    const args = [program, name, '--yes', '--packages', this.path('packages'), ...flags];
    return await this.run(this.folder, process.execPath, args);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A server in its own process that prints its URL. */
export class Serving {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  /** @throws {Error} if the process ends without printing its URL */
  static async start(command: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<Serving> {
    const [program = '', ...args] = command;
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /https?:\/\/\S+/.exec(line)?.[0];
      if (url) return new Serving(child, url);
    }
    throw new Error(`${command.join(' ')} ended without its URL.`);
  }

  /** Resolves with the exit code. */
  async stop(): Promise<unknown> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const [code] = await ended;
    return code;
  }
}

/** The result of the last stage of a Dockerfile. */
export interface Image {
  readonly folder: string;
  readonly env: Record<string, string>;
  readonly command: readonly string[];
  /** The command of `HEALTHCHECK`. */
  readonly health?: readonly string[];
}

/**
 * Executes a Dockerfile, each stage in its own folder: copies only the files in `COPY`, and runs each `RUN`. Supports
 * only the instructions that the templates and `decorum build --docker` use. For `npm ci`, it links the project's installed dependencies.
 */
export async function buildImage(workshop: Workshop, project: string): Promise<Image> {
  const stages = new Map<string, string>();
  let image: Image = { folder: '', env: {}, command: [] };
  const runStep = async (command: string) => {
    const isInstalled = command === 'npm ci';
    // npm only checks the lockfile, because it would unpack the same files again
    if (isInstalled) await workshop.run(project, 'cp', ['-al', 'node_modules', join(image.folder, 'node_modules')]);
    await workshop.run(image.folder, 'sh', ['-c', isInstalled ? `${command} --dry-run` : command], image.env);
  };
  const lines = readFileSync(join(project, 'Dockerfile'), 'utf8').split('\n');
  for (const line of lines.filter((each) => each !== '' && !each.startsWith('#'))) {
    const [, instruction = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    const words = rest.split(' ');
    if (instruction === 'FROM') {
      const folder = mkdtempSync(`${project}-stage-`);
      stages.set(words[2] ?? 'last', folder);
      image = { folder, env: {}, command: [] };
    } else if (instruction === 'COPY') copy(words, { project, to: image.folder, stages });
    else if (instruction === 'RUN') await runStep(rest);
    else if (instruction === 'ENV') Object.assign(image.env, Object.fromEntries(words.map((word) => word.split('='))));
    else if (instruction === 'CMD') image = { ...image, command: JSON.parse(rest) as string[] };
    else if (instruction === 'HEALTHCHECK')
      image = { ...image, health: JSON.parse(rest.slice(rest.indexOf('['))) as string[] };
    else if (!['WORKDIR', 'USER', 'EXPOSE'].includes(instruction)) throw new Error(`Unknown instruction: ${line}`);
  }
  return image;
}

interface Places {
  readonly project: string;
  readonly to: string;
  readonly stages: ReadonlyMap<string, string>;
}

function copy(words: readonly string[], { project, to, stages }: Places): void {
  const stage = /^--from=(\w+)$/.exec(words[0] ?? '')?.[1];
  const from = stage === undefined ? project : (stages.get(stage) ?? '');
  if (words[0] === '.') return copyAll(project, to);
  const sources = words.slice(stage === undefined ? 0 : 1, -1).map((path) => path.replace(/^\/app\//, ''));
  const target = words.at(-1) ?? '';
  for (const source of sources) {
    const place = join(to, target.endsWith('/') ? join(target, source) : target);
    mkdirSync(dirname(place), { recursive: true });
    // links inside node_modules point to each other
    if (source === 'node_modules') execFileSync('cp', ['-al', join(from, source), place]);
    else cpSync(join(from, source), place, { recursive: true });
  }
}

/** `COPY . .`, without what `.dockerignore` names. Supports only names, with `*` for the rest of one. */
function copyAll(project: string, to: string): void {
  const patterns = readFileSync(join(project, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
  const matches = (pattern: string, name: string) =>
    new RegExp(`^${pattern.replace('!', '').replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(name);
  for (const name of readdirSync(project)) {
    const last = patterns.findLast((pattern) => matches(pattern, name));
    if (last === undefined || last.startsWith('!')) cpSync(join(project, name), join(to, name), { recursive: true });
  }
}
