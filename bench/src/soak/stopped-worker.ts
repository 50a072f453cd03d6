import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { LOST_MS } from './call.js';
import { CARRIAGES, connectClient } from './carriages.js';
import type { Client } from './client.js';
import { REVISIONS, textOf } from './messages.js';
import { exitOf } from './process-worker.js';
import type { ReaderReport, ReaderTask } from './reader.js';
import type { Round, Worker } from './worker.js';

const READER = fileURLToPath(new URL('reader.js', import.meta.url));

/** Touches a resource repeatedly while a client that follows it is stopped. The server must keep responding. */
async function touch(client: Client, uri: string, times: number): Promise<void> {
  await client.begin();
  for (let left = times; left > 0; left -= 1) {
    const text = textOf(await client.tool('touch', { uri }).answer);
    client.require(text === 'done', `"touch" returned "${text}"`);
  }
  await client.leave();
}

/** Stops a client while it reads, then resumes or kills it. */
export const STOPPED: Worker = {
  name: 'stopped',
  async round({ random, ledger, server, name }: Round) {
    const revision = random.pick(REVISIONS);
    const names = CARRIAGES.filter(({ fits }) => fits(revision)).map((carriage) => carriage.name);
    const [carriage, uri] = [random.pick(names), `soak://${random.int(1, 1_000_000)}`];
    const identity = { name: name.replace(/ /g, '-'), revision, ledger };
    const place = { url: server.url.href, pipe: server.pipe };
    const task: ReaderTask = { name: identity.name, revision, carriage, place, uri };
    // the reader's clock keeps running while the reader is stopped
    const env = { ...process.env, SOAK_LOST_MS: String(10 * LOST_MS) };
    const child = fork(READER, [JSON.stringify(task)], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    try {
      const signal = AbortSignal.timeout(5 * LOST_MS);
      const [first] = (await once(child, 'message', { signal })) as [unknown];
      if (first !== 'reading') throw new Error(`The reader said ${JSON.stringify(first)}`);
      const told = once(child, 'message', { signal }) as Promise<[ReaderReport]>;
      // a killed reader sends no report
      told.catch(() => {});
      child.kill('SIGSTOP');
      await touch(await connectClient(carriage, identity, place), uri, random.int(1, 100));
      if (random.chance(0.3)) return ledger.did('kill a stopped reader');
      child.kill('SIGCONT');
      ledger.add((await told)[0]);
      await exitOf(child);
      ledger.did('stop a reader');
    } finally {
      child.kill('SIGKILL');
    }
  },
};
