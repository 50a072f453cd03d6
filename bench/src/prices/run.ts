import { parseArgs } from 'node:util';

import { Child } from '../child.js';
import { DAMAGE_HEAD, damageRow, floodAll, isHarmless } from './flood.js';
import { type Answer, PIPES, type Question } from './host.js';
import { KINDS } from './kinds.js';
import { runOptions } from './member-options.js';
import { type Measurement, Scales } from './measure.js';
import { search, type Worst } from './search.js';
import { excess, priceTable } from './table.js';

const BAR_MS = 50;

async function runSearch(options: Parameters<typeof search>[0]): Promise<void> {
  const all: Worst[] = [];
  await search(options, (worst) => {
    all.push(worst);
    const { slot, ms, value } = worst;
    const text = JSON.stringify(value);
    console.log(`${ms.toFixed(1).padStart(8)} ms  ${slot}  ${text.length} bytes: ${text.slice(0, 120)}`);
  });
  const over = all.filter(({ ms }) => ms > BAR_MS);
  console.log(`${all.length} slots, ${over.length} above ${BAR_MS} ms.`);
  for (const { slot, value } of over) console.log(`\n${slot}\n${JSON.stringify(value)}`);
  if (over.length > 0) process.exitCode = 1;
}

const EFFORT = { micros: 25_000, repeats: 2, sent: 1024 * 1024 };

async function runPrices(only: string): Promise<void> {
  const child = new Child({ file: 'prices/host-process.js', flags: ['--expose-gc'], pipes: PIPES });
  const ask = (question: Question) => child.ask<Answer>(question);
  const scales = await Scales.open({ ask, pipe: (index) => child.pipe(index) });
  const measured: Measurement[] = [];
  for (const kind of KINDS.filter(({ name }) => name.includes(only))) {
    console.error(`measuring ${kind.name} …`);
    measured.push(...(await scales.measure(kind, EFFORT)));
  }
  console.log(priceTable(measured));
  for (const each of measured.flatMap((one) => excess(one) ?? [])) {
    console.error(each);
    process.exitCode = 1;
  }
  child.kill();
}

async function runFloods(only: string, seconds: number): Promise<void> {
  console.log(DAMAGE_HEAD);
  await floodAll(only, seconds, (damage) => {
    console.log(damageRow(damage));
    if (!isHarmless(damage)) process.exitCode = 1;
  });
}

const { values } = parseArgs({
  options: {
    search: { type: 'boolean', default: false },
    flood: { type: 'boolean', default: false },
    options: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    iterations: { type: 'string', default: '150' },
    seconds: { type: 'string', default: '10' },
  },
});
const { only, seed, iterations } = values;
if (values.search) await runSearch({ only, seed: Number(seed), iterations: Number(iterations) });
else if (values.options) await runOptions();
else if (values.flood) await runFloods(only, Number(values.seconds));
else await runPrices(only);
process.exit();
