import { ComputedMetric, type Value } from './computed-metric.js';
import { type Labels, callLabels, operationLabels } from './labels.js';
import { BUCKETS, LABEL, METRIC } from './names.js';
import { type Series, ServerSeries } from './request-series.js';

/** The series of all servers that share a registry, and the two metrics that expose them. */
export class RequestMetrics {
  readonly metrics: readonly ComputedMetric[] = [
    new ComputedMetric(METRIC.operation, 'histogram', {
      values: (name) => this.all().flatMap((series) => histogramValues(name, series)),
      reset: () => this.reset(),
    }),
    new ComputedMetric(METRIC.calls, 'counter', {
      values: () => callValues(this.all()),
      reset: () => this.reset(),
    }),
  ];
  private readonly servers = new Map<string, ServerSeries>();

  /** The series of a server. Servers with the same name share them. */
  of(server: string): ServerSeries {
    const known = this.servers.get(server);
    if (known) return known;
    const added = new ServerSeries(server);
    this.servers.set(server, added);
    return added;
  }

  private all(): Series[] {
    return [...this.servers.values()].flatMap((server) => server.all());
  }

  private reset(): void {
    for (const server of this.servers.values()) server.reset();
  }
}

function histogramValues(name: string, { server, facts, buckets, count, sum }: Series): Value[] {
  const labels = { [LABEL.server]: server, ...operationLabels(facts) };
  let below = 0;
  const bucket = (le: string, value: number) => ({ metricName: `${name}_bucket`, labels: { le, ...labels }, value });
  return [
    ...BUCKETS.map((bound, index) => bucket(String(bound), (below += buckets[index] as number))),
    bucket('+Inf', count),
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/** Adds up the series that differ only in facts that the counter has no labels for. */
function callValues(all: readonly Series[]): Value[] {
  const sums = new Map<string, { labels: Labels; value: number }>();
  for (const { server, facts, count } of all) {
    const labels = { [LABEL.server]: server, ...callLabels(facts) };
    const key = JSON.stringify(labels);
    const sum = sums.get(key) ?? { labels, value: 0 };
    sum.value += count;
    sums.set(key, sum);
  }
  return [...sums.values()];
}
