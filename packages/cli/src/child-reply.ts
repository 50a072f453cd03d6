import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What a process is run with. */
export interface ChildRun {
  readonly args: readonly string[];
  /** Defaults to the variables of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** The first message of a script that runs in its own process, or its exit code if it ends without one. */
export async function replyOf<R>(script: URL, { args, env = process.env }: ChildRun): Promise<R | number> {
  const child = fork(fileURLToPath(script), args, {
    env,
    execArgv: ['--enable-source-maps'],
    // to stderr: the program's output isn't the output of this command
    stdio: ['ignore', 2, 2, 'ipc'],
  });
  return await new Promise((resolve, reject) => {
    child.once('message', (message) => resolve(message as R));
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}
