// A client in its own process, so that the operating system can stop it while it reads.
import { connectClient, type Place } from './carriages.js';
import type { Client } from './client.js';
import { Ledger } from './ledger.js';
import type { Revision } from './messages.js';
import { textOf } from './messages.js';

/** The task that the process gets when it starts. */
export interface ReaderTask {
  readonly name: string;
  readonly carriage: string;
  readonly revision: Revision;
  readonly place: Place;
  /** The resource that the client follows. */
  readonly uri: string;
}

/** The report that the process sends before it exits. */
export interface ReaderReport {
  readonly calls: number;
  readonly answered: number;
  readonly abandoned: number;
  readonly failures: readonly string[];
}

const STEPS = 2000;

async function read(task: ReaderTask, ledger: Ledger): Promise<void> {
  const { name, revision, carriage, place, uri } = task;
  const client = await connectClient(carriage, { name, revision, ledger }, place);
  try {
    await readAll(client, uri);
  } finally {
    // open connections would keep the process alive
    client.vanish();
  }
}

async function readAll(client: Client, uri: string): Promise<void> {
  await client.begin();
  const { updated } = await client.follow(uri);
  const running = client.tool('progress', { steps: STEPS, size: 4000 }, { progress: true });
  await running.noted(1);
  process.send?.('reading');
  const text = textOf(await running.answer);
  client.require(text === 'done', `a reader that was stopped got "${text}"`);
  const { steps } = running;
  client.require(
    steps.every((step, at) => at === 0 || step > (steps[at - 1] as number)),
    'progress went back',
  );
  await updated();
  await client.result('tools/list');
}

async function main(): Promise<void> {
  const task = JSON.parse(process.argv[2] ?? '') as ReaderTask;
  const ledger = new Ledger();
  try {
    await read(task, ledger);
  } catch (error) {
    ledger.fail(task.name, (error as Error).message);
  }
  const { calls, answered, abandoned, failures } = ledger;
  process.send?.({ calls, answered, abandoned, failures } satisfies ReaderReport);
  process.disconnect();
}

await main();
