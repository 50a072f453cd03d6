import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, relative, resolve } from 'node:path';
import { parseEnv } from 'node:util';

import { findEntry } from '../entry.js';
import type { Front } from './front.js';
import { HttpFront } from './http/front.js';
import type { StandIn } from './messages.js';
import { Report } from './report.js';
import { SourceCheck } from './source-check.js';
import { StdioFront } from './stdio/front.js';
import { Supervisor, type SupervisorSettings } from './supervisor.js';
import { TypeCheck } from './type-check.js';
import { Watcher } from './watcher.js';

/** Options of `decorum dev`. */
export interface DevOptions {
  readonly entry: string | undefined;
  readonly stdio: boolean;
  readonly port: number | undefined;
  readonly drainMs: number;
  readonly inspect: string | undefined;
  readonly check: boolean;
  readonly args: readonly string[];
}

const DEFAULT_PORT = 3000;

function readJson(file: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function standInOf(root: string): StandIn {
  const { name, version } = readJson(resolve(root, 'package.json'));
  return {
    name: typeof name === 'string' ? name : basename(root),
    version: typeof version === 'string' ? version : '0.0.0',
  };
}

/** The environment of the program: `.env` doesn't override variables that are already set. */
function environment(root: string, secret: string): NodeJS.ProcessEnv {
  let file: NodeJS.Dict<string> = {};
  try {
    file = parseEnv(readFileSync(resolve(root, '.env'), 'utf8'));
  } catch {
    // no .env file
  }
  return { DECORUM_SECRET: secret, ...file, ...process.env, DECORUM_DEV: String(process.pid) };
}

const allowedHosts = ({ ALLOWED_HOSTS: names = '' }: NodeJS.ProcessEnv): readonly string[] =>
  names.split(',').flatMap((each) => each.trim() || []);

/** Serves a program and starts it again after edits. Resolves when the process is told to end. */
export async function dev(options: DevOptions): Promise<void> {
  const entry = findEntry(options.entry);
  const root = process.cwd();
  const report = new Report((text) => process.stderr.write(text));
  // cursors and question state must outlive the program that sealed them
  const secret = randomBytes(32).toString('base64url');
  const env = () => environment(root, secret);
  const types = options.check ? new TypeCheck(root, report) : undefined;
  const source = new SourceCheck(entry, report);
  const watcher = new Watcher(root, (files) => supervisor.reload(files));
  watcher.add([entry]);
  const settings: SupervisorSettings = {
    entry,
    root,
    env,
    transport: options.stdio ? 'stdio' : 'http',
    // programs choose their transport by this flag
    args: options.stdio && !options.args.includes('--stdio') ? ['--stdio', ...options.args] : options.args,
    inspect: options.inspect,
    drainMs: options.drainMs,
    defaultPort: options.port ?? (Number(env()['PORT']) || DEFAULT_PORT),
    standIn: standInOf(root),
    events: {
      printed: (text) => process.stderr.write(text),
      message: (program, written) => front.hear(program, written),
      loaded: (program) => watcher.add(program.files, program.startedAt),
      told(_program, message) {
        if (message.type === 'waiting') report.note(`${relative(root, entry)} ${message.problem}`);
      },
    },
    settled() {
      types?.run();
      source.run();
    },
  };
  const supervisor = new Supervisor(settings, report);
  const front = options.stdio
    ? new StdioFront(supervisor, process.stdin, process.stdout)
    : new HttpFront(supervisor, settings.defaultPort, allowedHosts(env()));
  supervisor.front = front;
  const told = ending(front);
  try {
    if (options.port !== undefined && front instanceof HttpFront) await front.listen(options.port);
    await Promise.race([supervisor.start(), told]);
    await told;
  } finally {
    types?.stop();
    source.stop();
    watcher.close();
    await supervisor.close();
  }
}

/** Resolves when a signal arrives or the client disconnects. */
function ending(front: Front): Promise<unknown> {
  const signalled = new Promise((told) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, told);
  });
  return Promise.race([signalled, front.left]);
}
