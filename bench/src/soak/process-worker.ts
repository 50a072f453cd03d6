import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

import { ACTS, leaveBehind } from './acts.js';
import { LOST_MS } from './call.js';
import { LINES_ACTS } from './lines-acts.js';
import { LinesClient } from './lines-client.js';
import { REVISIONS } from './messages.js';
import { actOnce, type Round, type Worker } from './worker.js';

const SERVER = fileURLToPath(new URL('stdio-server.js', import.meta.url));

/** Resolves with the exit code, or the signal that ended the process. */
export async function exitOf(child: ChildProcess): Promise<number | string> {
  if (child.exitCode === null && child.signalCode === null) {
    try {
      await once(child, 'exit', { signal: AbortSignal.timeout(LOST_MS) });
    } catch (error) {
      child.kill('SIGKILL');
      throw new Error(`process ${child.pid} goes on although its work is done`, { cause: error });
    }
  }
  return child.exitCode ?? child.signalCode ?? '';
}

/** Serves one client in its own process, which must exit once the client is gone. */
export const PROCESSES: Worker = {
  name: 'stdio',
  async round(round: Round) {
    const { random, ledger, name } = round;
    const child = spawn(process.execPath, [SERVER], { stdio: ['pipe', 'pipe', random.pick(['ignore', 'pipe'])] });
    const lines = { input: child.stdout as Readable, output: child.stdin as Writable };
    const identity = { name: name.replace(/ /g, '-'), revision: random.pick(REVISIONS), ledger };
    const client = new LinesClient(identity, lines);
    try {
      await client.begin();
      for (let left = random.int(1, 4); left > 0; left -= 1) await actOnce(client, [...ACTS, ...LINES_ACTS], round);
      if (random.chance(0.5)) await client.leave();
      else {
        child.stderr?.destroy();
        await leaveBehind(client, random);
      }
      const exit = await exitOf(child);
      if (exit !== 0) throw new Error(`the process ended with ${exit}`);
      ledger.did('end a process');
    } finally {
      client.vanish();
      child.kill('SIGKILL');
    }
  },
};
