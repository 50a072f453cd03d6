import { type ChildProcess, spawn } from 'node:child_process';

import { CommandFailure, EXIT } from './failure.js';
import { complaintOf, NEEDS_SHELL, type Installer } from './installers.js';
import type { Target } from './project-name.js';

/** How many lines of output are shown if an installation fails. */
const SHOWN_LINES = 12;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Causes of a failure, by output of the package manager, most specific first. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/ENOSPC/, 'the disk is full'],
  [
    /(?:E404|404)[^]*(?:@decorum(?:\/|%2f)|create-decorum)/i,
    'the package registry has no packages of Decorum. Pass --packages with a folder of their tarballs',
  ],
  [
    /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)\b/,
    "the package registry can't be reached",
  ],
  [/\b(?:E401|E403|ERR_PNPM_FETCH_40[13])\b/, 'the package registry denied access'],
  [/\b(?:EACCES|EPERM|EROFS)\b/, 'permission denied'],
];

/** Signals the package manager and all processes that it has started. */
function signal(child: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined && !NEEDS_SHELL) process.kill(-child.pid, name);
    else child.kill(name);
  } catch {
    // it has just ended
  }
}

function environment(): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    // npm retries many requests one by one. Without a network, its defaults would take many minutes
    npm_config_fetch_retry_mintimeout: '100',
    npm_config_fetch_retry_maxtimeout: '300',
    ...process.env,
  };
  // with NODE_ENV=production, package managers leave out devDependencies
  delete env['NODE_ENV'];
  return env;
}

interface Outcome {
  readonly output: string;
  /** Why it failed; undefined if it succeeded. */
  readonly problem: string | undefined;
  readonly isInterrupted: boolean;
}

function run(folder: string, { name, install }: Installer): Promise<Outcome> {
  // in its own process group, so that a signal reaches all of its processes, and each only once
  const options = { cwd: folder, env: environment(), shell: NEEDS_SHELL, detached: !NEEDS_SHELL };
  const child = spawn(name, install, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => void (output += text));
  }
  let signals = 0;
  // a second signal means that the first one didn't end it
  const forward = (received: NodeJS.Signals) => signal(child, ++signals > 1 ? 'SIGKILL' : received);
  for (const each of SIGNALS) process.on(each, forward);
  return new Promise((resolve) => {
    const settle = (problem: string | undefined) => {
      for (const each of SIGNALS) process.off(each, forward);
      resolve({ output, problem, isInterrupted: signals > 0 });
    };
    child.on('error', ({ message }) => settle(message));
    child.on('close', (code, by) => settle(code === 0 ? undefined : by ? `ended by ${by}` : `exit code ${code}`));
  });
}

function lastLines(output: string): string {
  const lines = output.split('\n').map((line) => line.trimEnd());
  return lines
    .filter((line) => line !== '' && !/complete log of this run|_logs\//.test(line))
    .slice(-SHOWN_LINES)
    .join('\n');
}

/** Checks that a package manager is installed, before anything is written. */
export function requireInstaller({ name, version }: Installer): void {
  if (version !== undefined) return;
  const complaint = complaintOf(name);
  if (/homedir|\bHOME\b/.test(complaint)) {
    throw new CommandFailure(
      `${complaint}\n\n${name} doesn't start. Set HOME to a folder that you can write to.`,
      EXIT.environment,
    );
  }
  const remedy = name === 'npm' ? 'Install it' : `Run \`npm install -g ${name}\``;
  throw new CommandFailure(
    `${name} isn't installed. ${remedy}, or pass another --package-manager, or --no-install.`,
    EXIT.environment,
  );
}

/**
 * Installs the dependencies of a project.
 * @throws {CommandFailure} if that fails or is interrupted; the message says what to do next
 */
export async function installDependencies({ folder, shown }: Target, installer: Installer): Promise<void> {
  const { output, problem, isInterrupted } = await run(folder, installer);
  if (problem === undefined && !isInterrupted) return;
  const place = shown === '.' ? '' : `cd ${quoted(shown)} && `;
  const next = `All files are written. To install the dependencies:\n  ${place}${installer.name} install`;
  if (isInterrupted) throw new CommandFailure(`Interrupted. ${next}`, EXIT.failed);
  const cause = CAUSES.find(([pattern]) => pattern.test(output))?.[1] ?? problem;
  throw new CommandFailure(
    [lastLines(output), `${installer.name} install failed: ${cause}.`, next].filter((part) => part !== '').join('\n\n'),
    EXIT.environment,
  );
}

/** Quotes a path for a shell, if necessary. */
const quoted = (path: string) => (/^[\w@%+=:,./\\-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`);
