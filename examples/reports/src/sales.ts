import { setTimeout as wait } from 'node:timers/promises';

/** The sales of a year. */
export interface YearData {
  readonly year: number;
  readonly rows: number;
  readonly total: number;
}

/** A fake database, which takes a moment. */
export class Sales {
  async collect(year: number): Promise<YearData> {
    await wait(200);
    const rows = (year * 7) % 1000;
    return { year, rows, total: rows * 12 };
  }
}
