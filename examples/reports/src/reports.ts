import { Context, Describe, Tool } from '@decorum/core';
import { IsInt, Max, Min } from 'class-validator';

import type { Sales } from './sales.js';
import type { Site } from './site.js';

class ReportQuery {
  @Describe('Year of the report')
  @IsInt()
  @Min(2000)
  @Max(2100)
  year!: number;
}

/** Builds reports and publishes them. */
export class Reports {
  /** @param coolDownMs milliseconds between the user's consent and the publication */
  constructor(
    private readonly sales: Sales,
    private readonly site: Site,
    private readonly coolDownMs: number,
  ) {}

  @Tool({ description: 'Builds the yearly report, and publishes it', task: 'optional' })
  async yearly({ year }: ReportQuery, ctx: Context) {
    const data = await ctx.once('collect', () => this.sales.collect(year));
    ctx.progress(1, 3, 'Collected');
    if (!(await ctx.confirm(`Publish ${data.rows} rows?`))) return 'Not published.';
    ctx.progress(2, 3, 'Cooling down');
    await ctx.sleep('cool down', this.coolDownMs);
    const url = await ctx.once('publish', (key) => this.site.publish(data, { idempotencyKey: key }));
    return `Published: ${url}`;
  }
}
