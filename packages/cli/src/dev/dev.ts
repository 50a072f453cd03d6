import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';

import { allowedHostsIn, findEntry } from '../entry.js';
import { programEnv } from '../program-env.js';
import { ActiveProgram } from './active-program.js';
import type { Frontend } from './frontend.js';
import { HttpFrontend } from './http/frontend.js';
import type { StandIn } from './messages.js';
import { Report } from './report.js';
import { SourceCheck } from './source-check.js';
import { StdioFrontend } from './stdio/frontend.js';
import { Supervisor } from './supervisor.js';
import { TypeCheck } from './type-check.js';

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

/** Serves a program and starts it again after edits. Resolves when the process is told to end. */
export async function dev(options: DevOptions): Promise<void> {
  const { stdio, port, args, inspect, drainMs } = options;
  const entry = findEntry(options.entry);
  const root = process.cwd();
  const report = new Report((text) => process.stderr.write(text));
  // cursors and question state must outlive the program that sealed them
  const secret = randomBytes(32).toString('base64url');
  const env = (): NodeJS.ProcessEnv => ({ ...programEnv(root, secret), DECORUM_DEV: String(process.pid) });
  const defaultPort = port ?? (Number(env()['PORT']) || DEFAULT_PORT);
  const active = new ActiveProgram();
  const frontend = stdio
    ? new StdioFrontend(active, process.stdin, process.stdout)
    : new HttpFrontend(active, defaultPort, allowedHostsIn(env()));
  // what the program tells clients of itself must name the port that they use
  const chosenPort = () =>
    port !== undefined && frontend instanceof HttpFrontend ? { PORT: String(frontend.port) } : {};
  const settings = {
    entry,
    root,
    env: () => ({ ...env(), ...chosenPort() }),
    transport: stdio ? 'stdio' : 'http',
    // programs choose their transport by this flag
    args: stdio && !args.includes('--stdio') ? ['--stdio', ...args] : args,
    inspect,
    drainMs,
    defaultPort,
    standIn: standInOf(root),
  } as const;
  const checks = [new SourceCheck(entry, report), ...(options.check ? [new TypeCheck(root, report)] : [])];
  const supervisor = new Supervisor(settings, { active, frontend, report, checks });
  const told = ending(frontend);
  try {
    if (port !== undefined && frontend instanceof HttpFrontend) await frontend.listen(port);
    await Promise.race([supervisor.start(), told]);
    await told;
  } finally {
    await supervisor.close();
  }
}

/** Resolves when a signal arrives or the client disconnects. */
function ending(frontend: Frontend): Promise<unknown> {
  const signalled = new Promise((told) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, told);
  });
  return Promise.race([signalled, frontend.disconnected]);
}
