import { type Act, leaveBehind } from './acts.js';
import { Lost } from './call.js';
import { type Carriage, CARRIAGES } from './carriages.js';
import type { Client } from './client.js';
import type { Ledger } from './ledger.js';
import type { Measured } from './measured.js';
import { REVISIONS, type Revision } from './messages.js';
import { Random } from './random.js';

/** Everything that a round needs. */
export interface Round {
  readonly server: Measured;
  readonly ledger: Ledger;
  /** Names the worker and the round. */
  readonly name: string;
  readonly random: Random;
}

/** Runs rounds repeatedly. The same seed gives the same rounds. */
export interface Worker {
  readonly name: string;
  round(round: Round): Promise<void>;
}

/** One client: it connects, acts, and leaves or vanishes. */
async function visit(client: Client, carriage: Carriage, { random, ledger }: Round): Promise<void> {
  await client.begin();
  for (let left = random.int(1, 5); left > 0; left -= 1) await actOnce(client, carriage.acts, { random, ledger });
  if (random.chance(0.6)) await client.leave();
  else {
    await leaveBehind(client, random);
    ledger.did('vanish');
  }
}

/** Lets a client do something, chosen by weight. */
export async function actOnce(
  client: Client,
  acts: readonly Act<never>[],
  { random, ledger }: Pick<Round, 'random' | 'ledger'>,
): Promise<void> {
  const able = (acts as readonly Act[]).filter(({ fits }) => fits?.(client) ?? true);
  const act = random.pick(able.flatMap((each) => Array.from({ length: each.weight }, () => each)));
  try {
    await act.run(client, random);
    ledger.did(act.name);
  } catch (error) {
    // a lost request is already in the ledger
    if (!(error instanceof Lost)) throw new Error(`${act.name}: ${(error as Error).message}`, { cause: error });
    throw error;
  }
}

function workerOf(carriage: Carriage, revision: Revision): Worker {
  return {
    name: `${carriage.name} ${revision}`,
    async round(round) {
      const {
        ledger,
        name,
        server: { url, pipe },
      } = round;
      const identity = { name: name.replace(/ /g, '-'), revision, ledger };
      const client = await carriage.connect(identity, { url: url.href, pipe });
      try {
        await visit(client, carriage, round);
      } catch (error) {
        // the round has failed: don't count the requests that it leaves behind
        client.vanish();
        throw error;
      }
    },
  };
}

/** A worker for each revision over each transport. */
export const CLIENTS: readonly Worker[] = CARRIAGES.flatMap((carriage) =>
  REVISIONS.filter((revision) => carriage.fits(revision)).map((revision) => workerOf(carriage, revision)),
);

/** Runs one round. If it fails, records the failure. */
export async function runRound(worker: Worker, number: number, run: Omit<Round, 'name' | 'random'> & { seed: string }) {
  const name = `${worker.name} ${number}`;
  try {
    await worker.round({ ...run, name, random: new Random(`${run.seed} ${name}`) });
  } catch (error) {
    if (!(error instanceof Lost)) run.ledger.fail(name, (error as Error).message);
  }
}
