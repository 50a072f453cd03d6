import type { Labels } from './labels.js';

/** One value of a metric. */
export interface Value {
  readonly value: number;
  readonly labels: Labels;
  readonly metricName?: string;
}

/** The data that a registry collects from a metric. */
interface Collected {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'histogram';
  readonly aggregator: 'sum';
  readonly values: readonly Value[];
}

/** Where a metric gets its values. */
export interface ValueSource {
  /** @param name the metric's name, with which the names of its series begin */
  values(name: string): readonly Value[];
  reset(): void;
}

/** A metric whose values are computed when read. A registry may change the name: OpenMetrics has other rules. */
export class ComputedMetric {
  readonly aggregator = 'sum';
  readonly help: string;
  name: string;

  constructor(
    { name, help }: { readonly name: string; readonly help: string },
    readonly type: 'counter' | 'histogram',
    private readonly source: ValueSource,
  ) {
    this.name = name;
    this.help = help;
  }

  /** Called by the registry. */
  get(): Promise<Collected> {
    const { name, help, type, aggregator } = this;
    return Promise.resolve({ name, help, type, aggregator, values: this.source.values(name) });
  }

  /** Called by the registry. */
  reset(): void {
    this.source.reset();
  }
}
