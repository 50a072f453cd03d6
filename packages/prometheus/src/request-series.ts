import { BUCKETS } from './names.js';
import type { Facts } from './labels.js';

/** The number and durations of the requests that have the same facts. */
export class Series {
  count = 0;
  /** Total duration in seconds. */
  sum = 0;
  /** Number of requests in each bucket, not counting those in the buckets before it. */
  readonly buckets: number[] = BUCKETS.map(() => 0);

  constructor(
    readonly server: string,
    readonly facts: Facts,
  ) {}

  /** Whether a request belongs to this series. */
  // all fields of `Facts`: what is not compared here would be counted as the same
  has({ status, code, cause, revision, transport }: Facts): boolean {
    const mine = this.facts;
    if (mine.status !== status || mine.code !== code || mine.cause !== cause) return false;
    return mine.revision === revision && mine.transport === transport;
  }

  observe(seconds: number): void {
    this.count += 1;
    this.sum += seconds;
    let index = 0;
    while (index < BUCKETS.length && seconds > (BUCKETS[index] as number)) index += 1;
    if (index < BUCKETS.length) this.buckets[index] = (this.buckets[index] as number) + 1;
  }
}

/**
 * The series of one server. prom-client sorts and joins the labels on each observation, which takes longer than
 * everything else that a plugin does. Here, series are looked up by method and member.
 */
export class ServerSeries {
  private readonly byMethod = new Map<string, Map<string | undefined, Series[]>>();

  constructor(readonly server: string) {}

  observe(facts: Facts, seconds: number): void {
    this.find(facts).observe(seconds);
  }

  all(): Series[] {
    return [...this.byMethod.values()].flatMap((byTarget) => [...byTarget.values()].flat());
  }

  reset(): void {
    this.byMethod.clear();
  }

  private find(facts: Facts): Series {
    let byTarget = this.byMethod.get(facts.method);
    if (byTarget === undefined) this.byMethod.set(facts.method, (byTarget = new Map()));
    let some = byTarget.get(facts.target);
    if (some === undefined) byTarget.set(facts.target, (some = []));
    for (const series of some) if (series.has(facts)) return series;
    const added = new Series(this.server, facts);
    some.push(added);
    return added;
  }
}
