// Checks values, and prints the microseconds of CPU of each check.
import { explain, parse } from '@decorum/schema';
import { IsIn, IsOptional, IsString, MaxLength } from 'class-validator';

import { CALLS } from './calls.js';
import type { Checked } from './interpreted.js';
import { Order } from './order.js';
import { firstQuartile } from './slices.js';
import { cpuMicros } from './usage.js';

class Query {
  @IsString() @MaxLength(80) city!: string;
  @IsOptional() @IsIn(['metric', 'imperial']) units?: 'metric' | 'imperial' = 'metric';
}

const ORDER = CALLS.echo.params(0)['arguments'] as object;
const SLICES = 10;
const CHECKS = 300;

/** The first quartile of slices, after as many that only warm up. */
async function microsOf(check: () => Promise<unknown>): Promise<number> {
  const slices: number[] = [];
  for (let slice = 0; slice < 2 * SLICES; slice += 1) {
    const begun = cpuMicros();
    for (let n = 0; n < CHECKS; n += 1) await check();
    slices.push((cpuMicros() - begun) / CHECKS);
  }
  return firstQuartile(slices.slice(SLICES));
}

const begun = cpuMicros();
await parse(Order, ORDER);
const first = cpuMicros() - begun;

const checked: Checked = {
  'a query': await microsOf(() => parse(Query, { city: 'Oslo', units: 'imperial' })),
  'an order': await microsOf(() => parse(Order, ORDER)),
  'a wrong order': await microsOf(() => explain(Order, { ...ORDER, priority: '1', customer: {} })),
  'the first order': first,
};
process.stdout.write(JSON.stringify(checked));
