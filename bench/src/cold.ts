import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { CLIENT, type Message, SESSION_REVISION } from './calls.js';
import { pinnedNode } from './child.js';
import type { Samples } from './entrant.js';
import { firstQuartile, shuffled } from './slices.js';

const EXAMPLE = fileURLToPath(new URL('../../examples/weather/', import.meta.url));
const WEATHER = `${EXAMPLE}dist/main.js`;
const BUNDLED = `${EXAMPLE}dist/bundle/main.js`;
const DECORUM = fileURLToPath(new URL('../../packages/cli/bin/decorum.js', import.meta.url));
const BY_HAND = fileURLToPath(new URL('cold-limit.js', import.meta.url));
const RUNS = 4;
const PARAMS = { protocolVersion: SESSION_REVISION, capabilities: {}, clientInfo: CLIENT };
const INITIALIZE = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: PARAMS });

/**
 * Measures the CPU time of a process until its first response over stdio. Alternates between the weather example, its
 * bundle, and the lower bound in `cold-limit.ts`.
 */
export async function measureCold(): Promise<Samples> {
  execFileSync(process.execPath, [DECORUM, 'build', '--bundle'], {
    cwd: EXAMPLE,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const limits: number[] = [];
  const costs: number[] = [];
  const bundled: number[] = [];
  // the first run only warms up the file cache
  for (let run = 0; run <= RUNS; run += 1) {
    const turns = shuffled([
      { args: [BY_HAND], millis: limits },
      { args: [WEATHER, '--stdio'], millis: costs },
      { args: [BUNDLED, '--stdio'], millis: bundled },
    ]);
    for (const { args, millis } of turns) {
      const spent = await cpuToFirstAnswer(args);
      if (run > 0) millis.push(spent);
    }
  }
  const cost = firstQuartile(costs);
  return new Map([
    ['weather', { cost, limit: firstQuartile(limits) }],
    ['weather, bundled ÷ as built', { cost: firstQuartile(bundled), limit: cost }],
  ]);
}

/** Milliseconds of user and system time until the response to `initialize`. */
async function cpuToFirstAnswer(args: readonly string[]): Promise<number> {
  const [command, words] = pinnedNode(args);
  const child = spawn(command, words, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      let text = '';
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('\n')) resolve(text);
      });
      child.once('exit', (code) => reject(new Error(`${words.join(' ')} exited with ${code}`)));
      child.stdin.write(`${INITIALIZE}\n`);
    });
    const millis = cpuOf(child.pid ?? 0);
    const { id, result } = JSON.parse(answer) as Message & { readonly result?: { readonly serverInfo?: object } };
    if (id !== 1 || result?.serverInfo === undefined) throw new Error(`wrong response to initialize: ${answer}`);
    return millis;
  } finally {
    child.kill('SIGKILL');
  }
}

/** CPU time of all threads of another process. Only Linux reports it without that process's cooperation. */
function cpuOf(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) throw new Error('The case "cold" needs /proc. Run it on Linux.');
  const nanos = readdirSync(tasks).map((task) =>
    Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanos.reduce((sum, each) => sum + each, 0) / 1e6;
}
