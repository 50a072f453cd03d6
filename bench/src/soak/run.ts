import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { pinLoad } from '../child.js';
import { type Census, censusOf } from './census.js';
import { Ledger } from './ledger.js';
import { type Figures, Measured } from './measured.js';
import { soakNodes } from './nodes-run.js';
import { readOptions } from './options.js';
import { PROCESSES } from './process-worker.js';
import { report } from './report.js';
import { STOPPED } from './stopped-worker.js';
import { CLIENTS, runRound, type Worker } from './worker.js';

const options = readOptions(process.argv.slice(2));
const { seed, minutes, only } = options;
const ALL = [...CLIENTS, PROCESSES, STOPPED];
const WORKERS = ALL.filter(({ name }) => only.some((start) => name.startsWith(start)));
if (WORKERS.length === 0)
  throw new Error(`--only: no worker starts so. Use ${ALL.map(({ name }) => name).join(', ')}.`);

/** Rounds of each worker in the process whose census is the baseline. */
const WARM_ROUNDS = 5;

/** Runs rounds of all workers concurrently. Returns the number of rounds of each. */
async function runAll(server: Measured, ledger: Ledger, more: (worker: Worker, done: number) => boolean) {
  const rounds = new Map<Worker, number>();
  const runOne = async (worker: Worker) => {
    let done = 0;
    while (more(worker, done)) {
      await runRound(worker, done, { server, ledger, seed });
      done += 1;
    }
    rounds.set(worker, done);
  };
  await Promise.all(WORKERS.map(runOne));
  ledger.balance();
  return rounds;
}

/** Counts the objects of an idle server process. */
async function census(server: Measured): Promise<Census> {
  const file = join(tmpdir(), `soak-${process.pid}.heapsnapshot`);
  await server.snapshot(file);
  try {
    return censusOf(file);
  } finally {
    rmSync(file, { force: true });
  }
}

/** Counts the objects of a server process that has done everything a few times. */
async function warmCensus(): Promise<Census> {
  const server = await Measured.start();
  await runAll(server, new Ledger(), (_worker, done) => done < WARM_ROUNDS);
  await server.figures();
  const counts = await census(server);
  await server.stop();
  return counts;
}

/** Measures the idle server after half of the run. */
async function halfTime(server: Measured, name: string): Promise<Figures> {
  console.error(`${name} is over, waiting until the server is idle …`);
  return await server.figures();
}

async function main(): Promise<void> {
  console.log(`soak of ${minutes} minutes, seed ${seed}`);
  const before = await warmCensus();
  const server = await Measured.start();
  const [first, second] = [new Ledger(), new Ledger()];
  const fresh = await server.figures();
  const end = performance.now() + minutes * 30_000;
  const rounds = await runAll(server, first, () => performance.now() < end);
  const between = await halfTime(server, 'the first half');
  await runAll(server, second, (worker, done) => done < (rounds.get(worker) ?? 0));
  const last = await halfTime(server, 'the second half');
  const after = await census(server);
  await server.stop();
  const failures = report({ fresh, between, last, ledgers: [first, second], before, after });
  if (failures === 0) return;
  console.error(`\nFAILED. Repeat it with: npm run soak -- --minutes ${minutes} --seed ${seed}`);
  process.exitCode = 1;
}

if (options.nodes > 0) {
  await soakNodes(options);
} else {
  pinLoad();
  await main();
}
