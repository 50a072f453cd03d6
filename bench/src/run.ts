import { Child, canPin } from './child.js';
import {
  LOAD_CPU,
  measureGrowth,
  measureRound,
  type Round,
  SERVER_CPU,
  SERVER_FLAGS,
  startTarget,
  type Target,
} from './measure.js';
import { type Case, type Options, readOptions } from './options.js';
import { type GrowthLine, growthText, type Line, shortfalls, table } from './report.js';
import { type Era, inputSchemas } from './requests.js';

const ERAS: readonly Era[] = ['session', 'stateless'];

interface Contestant {
  readonly who: Line['who'];
  readonly era: Era;
  readonly target: Target;
  readonly rounds: Round[];
}

/** The processes, and how they are to be run. */
class Bench {
  private readonly load = new Child({ file: 'load.js', cpu: LOAD_CPU });
  private readonly decorum = new Map<number, Target>();
  private limit: Promise<Target> | undefined;

  constructor(private readonly options: Options) {}

  /** Compares one case. Each round has the bare route and both eras in it, so that noise hits all alike. */
  async compare(one: Case): Promise<Line[]> {
    const contestants = await this.contestants(one);
    const calls = Math.ceil(this.options.calls * one.share);
    // V8 needs tens of thousands of calls to settle
    for (const contestant of contestants) await this.round(one, contestant, { warmUp: 2 * calls, calls });
    for (let round = 0; round < this.options.rounds; round += 1) {
      for (const contestant of shuffled(contestants)) {
        contestant.rounds.push(await this.round(one, contestant, { warmUp: Math.ceil(calls / 10), calls }));
      }
    }
    const limit = contestants.find(({ who }) => who === 'bare route')?.rounds ?? [];
    return contestants.map(({ who, rounds }) => ({ name: one.name, who, rounds, limit }));
  }

  /** Watches the memory of the server with the fewest tools. */
  async grow(era: Era): Promise<GrowthLine> {
    const target = await this.server(0);
    const { connections, memoryCalls } = this.options;
    const job = { url: target.url, era, tool: 'add', connections, hasSessions: true } as const;
    const amount = { warmUp: Math.ceil(memoryCalls / 4), calls: memoryCalls };
    return { era, ...(await measureGrowth(target, this.load, { job, amount })) };
  }

  async stop(): Promise<void> {
    for (const { child } of this.decorum.values()) child.stop();
    (await this.limit)?.child.stop();
    this.load.stop();
  }

  private async contestants(one: Case): Promise<Contestant[]> {
    const target = await this.server(one.moreTools);
    const limit: Contestant = { who: 'bare route', era: 'session', target: await this.bareRoute(), rounds: [] };
    return [limit, ...ERAS.map((era) => ({ who: era, era, target, rounds: [] }))];
  }

  private async round(
    one: Case,
    { who, era, target }: Contestant,
    amount: { warmUp: number; calls: number },
  ): Promise<Round> {
    const { connections } = this.options;
    const job = { url: target.url, era, tool: one.tool, connections, hasSessions: who !== 'bare route' };
    return await measureRound(target, this.load, { job, amount });
  }

  private async server(moreTools: number): Promise<Target> {
    const running = this.decorum.get(moreTools);
    if (running !== undefined) return running;
    const target = await startTarget('server.js', { BENCH_TOOLS: String(moreTools) });
    this.decorum.set(moreTools, target);
    return target;
  }

  private async bareRoute(): Promise<Target> {
    const { url } = await this.server(0);
    this.limit ??= inputSchemas(new URL(url)).then(({ add, echo }) =>
      startTarget('limit.js', { LIMIT_SCHEMAS: JSON.stringify({ add, echo }) }),
    );
    return await this.limit;
  }
}

/** In another order each time: what a server costs depends a little on who had the core before. */
function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, key: Math.random() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);
}

function describe({ starts, rounds, calls, connections }: Options): string {
  const pinned = canPin
    ? `server on core ${SERVER_CPU}, load on core ${LOAD_CPU} (taskset)`
    : 'NOT pinned (no taskset, or one core): expect noise';
  return [
    `Node ${process.version}; ${pinned}; servers run with ${SERVER_FLAGS.join(' ')}, NODE_ENV=production`,
    `${starts} starts of ${rounds} rounds, ${calls} calls each (echo a quarter), ${connections} connections`,
  ].join('\n');
}

/** Joins what two starts have measured; both have the same lines in the same order. */
function joined(earlier: readonly Line[], later: readonly Line[]): readonly Line[] {
  if (earlier.length === 0) return later;
  return earlier.map((line, index) => ({
    ...line,
    rounds: [...line.rounds, ...(later[index]?.rounds ?? [])],
    limit: [...line.limit, ...(later[index]?.limit ?? [])],
  }));
}

/** Runs all cases on freshly started servers, then does what is asked with these. */
async function start<T>(options: Options, then: (bench: Bench, lines: readonly Line[]) => Promise<T>): Promise<T> {
  const bench = new Bench(options);
  try {
    const lines: Line[] = [];
    for (const one of options.cases) {
      console.error(`measuring ${one.name} …`);
      lines.push(...(await bench.compare(one)));
    }
    return await then(bench, lines);
  } finally {
    await bench.stop();
  }
}

async function run(options: Options): Promise<string[]> {
  console.log(describe(options));
  let lines: readonly Line[] = [];
  let growth: readonly GrowthLine[] = [];
  for (let count = 1; count <= options.starts; count += 1) {
    const isLast = count === options.starts;
    await start(options, async (bench, measured) => {
      lines = joined(lines, measured);
      if (!isLast || options.memoryCalls === 0) return;
      growth = [await bench.grow('session'), await bench.grow('stateless')];
    });
  }
  console.log(`\n${table(lines)}\n\nratio: CPU of the bare route ÷ CPU of the server; more is better\n`);
  console.log(growthText(growth));
  return shortfalls(lines, growth);
}

const options = readOptions(process.argv.slice(2));
const missed = await run(options);
for (const line of missed) console.error(`Bar missed: ${line}`);
if (options.check && missed.length > 0) process.exitCode = 1;
