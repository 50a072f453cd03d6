/**
 * `npm run bench:workers`: the CPU time of a call to `decorum start --workers 2`, in all of its processes together,
 * compared with `decorum start`. Short slices of both alternate in random order, so other load on the machine affects both.
 * Needs Linux, because it reads /proc.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { argv, env, execPath, stdout } from 'node:process';

import { type CallName, CALLS, type Era } from '../calls.js';
import { Connection } from '../connection.js';
import { openSession, requestOf } from '../requests.js';
import { median, shuffled } from '../slices.js';

const CLIENTS = 16;
const WORKERS = 2;
const SLICE_MS = 400;
const WARM_UP_SLICES = 25;

const DECORUM = fileURLToPath(new URL('../../../packages/cli/bin/decorum.js', import.meta.url));
const PROGRAM = fileURLToPath(new URL('program.js', import.meta.url));

/** What to measure. */
interface Load {
  readonly name: string;
  readonly era: Era;
  readonly call: CallName;
  /** Whether each call has a connection of its own, and so reaches another worker than the last. */
  readonly reconnects: boolean;
}

const LOADS: readonly Load[] = [
  { name: 'stateless, kept connections', era: 'stateless', call: 'echo', reconnects: false },
  { name: 'session, kept connections', era: 'session', call: 'echo', reconnects: false },
  { name: 'stateless, a connection for each call', era: 'stateless', call: 'echo', reconnects: true },
  { name: 'session, a connection for each call', era: 'session', call: 'echo', reconnects: true },
  { name: 'session, 1,000 events in a stream', era: 'session', call: 'progress', reconnects: false },
];

/** A program with all of its processes. */
class Served {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: URL,
  ) {}

  static async start(workers: number | undefined): Promise<Served> {
    const flags = workers === undefined ? [] : ['--workers', String(workers)];
    const child = spawn(execPath, [DECORUM, 'start', ...flags, PROGRAM], {
      env: { ...env, PORT: '0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let missing = workers ?? 1;
    for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const url = /https?:\/\/\S+/.exec(line)?.[0];
      if (url !== undefined && (missing -= 1) === 0) return new Served(child, new URL(url));
    }
    throw new Error('The program ended before it served.');
  }

  /** Milliseconds of CPU time of all threads of all processes so far. */
  cpuMs(): number {
    const pid = this.child.pid as number;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    const all = [String(pid), ...children].filter((each) => each !== '');
    return all.map(cpuMsOf).reduce((sum, each) => sum + each);
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await once(this.child, 'exit');
  }
}

function cpuMsOf(pid: string): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const nanos = tasks.map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]));
  return nanos.reduce((sum, each) => sum + each) / 1e6;
}

async function connectionsTo({ url }: Served, { era, call: name }: Load): Promise<Connection[]> {
  const call = CALLS[name];
  const connections: Connection[] = [];
  for (let client = 0; client < CLIENTS; client += 1) {
    const session = era === 'session' ? { session: await openSession(url) } : {};
    const request = requestOf(url, { call, style: era, client, ...session });
    connections.push(new Connection({ url, call, client, request }));
  }
  return connections;
}

/** Runs one slice. Returns milliseconds of CPU time for each call. */
async function slice(served: Served, connections: readonly Connection[], { reconnects }: Load): Promise<number> {
  const end = performance.now() + SLICE_MS;
  const before = served.cpuMs();
  let calls = 0;
  const isOpen = () => performance.now() < end;
  const more = () => isOpen() && (calls += 1) > 0;
  const each = async (connection: Connection) => {
    if (!reconnects) return connection.run(more);
    while (isOpen()) {
      let left = 1;
      await connection.run(() => left-- > 0 && more());
      connection.reconnect();
    }
  };
  await Promise.all(connections.map(each));
  return (served.cpuMs() - before) / calls;
}

/** Measures both programs. Returns microseconds of CPU time for each call of the slices, in pairs. */
async function measure(load: Load, slices: number): Promise<readonly (readonly [one: number, many: number])[]> {
  const served = [await Served.start(undefined), await Served.start(WORKERS)];
  try {
    const connections = await Promise.all(served.map((each) => connectionsTo(each, load)));
    const pairs: (readonly [number, number])[] = [];
    for (let round = 0; round < slices + WARM_UP_SLICES; round += 1) {
      const pair = [0, 0] as [number, number];
      for (const at of shuffled([0, 1] as const)) {
        if (!load.reconnects) for (const each of connections[at] as Connection[]) each.reconnect();
        pair[at] = 1000 * (await slice(served[at] as Served, connections[at] as Connection[], load));
      }
      if (round >= WARM_UP_SLICES) pairs.push(pair);
    }
    for (const each of connections.flat()) each.close();
    return pairs;
  } finally {
    await Promise.all(served.map((each) => each.stop()));
  }
}

const slices = Number(argv[2] ?? 40);
for (const load of LOADS) {
  const pairs = await measure(load, slices);
  const [one, many] = [median(pairs.map(([each]) => each)), median(pairs.map(([, each]) => each))];
  const ratio = median(pairs.map(([single, several]) => several / single));
  stdout.write(`${load.name.padEnd(40)} ${one.toFixed(0)} µs → ${many.toFixed(0)} µs   × ${ratio.toFixed(2)}\n`);
}
