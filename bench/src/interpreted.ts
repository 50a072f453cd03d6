import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { pinnedNode } from './child.js';
import type { Samples } from './entrant.js';
import { firstQuartile, shuffled } from './slices.js';

const PROCESS = fileURLToPath(new URL('interpreted-process.js', import.meta.url));
const RUNS = 3;

/** What a process prints: microseconds of CPU, by what it checked. */
export type Checked = Readonly<Record<'a query' | 'an order' | 'a wrong order' | 'the first order', number>>;

/** Compares checks in a runtime that forbids generated code with those in one that allows it. */
export async function measureInterpreted(): Promise<Samples> {
  const all: Record<'generated' | 'interpreted', Checked[]> = { generated: [], interpreted: [] };
  for (let run = 0; run < RUNS; run += 1) {
    for (const way of shuffled(['generated', 'interpreted'] as const)) {
      const flags = way === 'generated' ? [] : ['--disallow-code-generation-from-strings'];
      const [command, words] = pinnedNode([...flags, PROCESS]);
      const { stdout } = await promisify(execFile)(command, [...words]);
      all[way].push(JSON.parse(stdout) as Checked);
    }
  }
  const names = Object.keys(all.generated[0] ?? {}) as (keyof Checked)[];
  const micros = (way: keyof typeof all, name: keyof Checked) => firstQuartile(all[way].map((each) => each[name]));
  return new Map(names.map((name) => [name, { cost: micros('interpreted', name), limit: micros('generated', name) }]));
}
