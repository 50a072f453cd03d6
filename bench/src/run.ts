import { MARGIN } from './bars.js';
import type { Case } from './cases.js';
import { canPin, LOAD_CPU, pinLoad, SERVER_CPU } from './child.js';
import { type Options, readOptions } from './options.js';
import { hasPeers, installPeers, PEERS, runPeer } from './peers.js';
import { type Result, table, verdictOf } from './report.js';
import type { Sample, Samples } from './entrant.js';
import { runCase } from './run-case.js';

/** Retries of `--check` for results that missed their bar or were too noisy. */
const RETRIES = 3;

/** A measurement that can be started repeatedly. */
interface Startable {
  readonly caseName: string;
  readonly what: string;
  start(connections: number): Promise<Samples>;
}

/** The samples of all starts so far. */
class Runs {
  private readonly samples = new Map<string, Sample[]>();
  failure: string | undefined;

  constructor(
    private readonly startable: Startable,
    private readonly options: Options,
  ) {}

  async run(): Promise<void> {
    const { caseName, what } = this.startable;
    const { connections, starts } = this.options;
    this.failure = undefined;
    try {
      for (let start = 1; start <= starts; start += 1) {
        console.error(`measuring ${what}, start ${start} of ${starts} …`);
        for (const [line, sample] of await this.startable.start(connections)) {
          this.samples.set(line, [...(this.samples.get(line) ?? []), sample]);
        }
      }
    } catch (error) {
      this.failure = `${what}, ${caseName}: cannot be measured: ${(error as Error).message.split('\n')[0]}`;
    }
  }

  get results(): Result[] {
    return [...this.samples].map(([line, samples]) => ({ caseName: this.startable.caseName, line, samples }));
  }

  /** Lines that miss their bar, or may miss it. */
  get shortfalls(): string[] {
    const short = this.results.filter((result) => (verdictOf(result) ?? 'reached') !== 'reached');
    const lines = short.map((result) => `${result.caseName}, ${result.line}: ${verdictOf(result)}`);
    return this.failure === undefined ? lines : [...lines, this.failure];
  }
}

function describe({ starts, connections }: Options): string {
  const pinned = canPin
    ? `server on core ${SERVER_CPU}, load on core ${LOAD_CPU} (taskset)`
    : 'NOT pinned (no taskset, or one core): expect noise';
  return [
    `Node ${process.version}; ${pinned}; NODE_ENV=production; at most ${connections} connections`,
    `First quartile of the slices of a start, median of ${starts} starts.`,
    `A bar counts as missed beyond ${MARGIN * 100} %, which is noise.`,
  ].join('\n');
}

/** Drops the entrants that `--only` excludes, and their lines. */
function narrowed(one: Case, only: readonly string[] | undefined): Case {
  if (only === undefined || one.kind !== 'slices') return one;
  const entrants = one.entrants.filter(({ name }) => only.includes(name));
  return { ...one, entrants, lines: one.lines.filter(({ cost }) => only.includes(cost)) };
}

function startables({ cases, only, peers }: Options): Startable[] {
  if (!peers) {
    return cases.map((one) => ({
      caseName: one.name,
      what: one.name,
      start: (connections) => runCase(narrowed(one, only), connections),
    }));
  }
  return cases.filter(hasPeers).flatMap((one) =>
    PEERS.map((peer) => ({
      caseName: one.name,
      what: peer.name,
      start: (connections) => runPeer(one, peer, connections),
    })),
  );
}

async function main(options: Options): Promise<void> {
  console.log(describe(options));
  if (options.peers) installPeers();
  const all = startables(options).map((startable) => new Runs(startable, options));
  for (const runs of all) {
    await runs.run();
    for (let retry = 0; options.check && retry < RETRIES && runs.shortfalls.length > 0; retry += 1) await runs.run();
  }
  console.log(`\n${table(all.flatMap(({ results }) => results))}\n\nlimit ÷ server: more is better\n`);
  const shortfalls = all.flatMap((runs) => runs.shortfalls);
  for (const line of shortfalls) console.error(line);
  if (options.check && shortfalls.length > 0) process.exitCode = 1;
}

pinLoad();
await main(readOptions(process.argv.slice(2)));
