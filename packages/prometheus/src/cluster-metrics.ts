import type { ClusterCounts } from '@decorum/core/plugin';

import { ComputedMetric } from './computed-metric.js';
import { CLUSTER_METRIC, LABEL } from './names.js';

type Counts = Readonly<ClusterCounts>;

const COUNTS = Object.keys(CLUSTER_METRIC) as (keyof ClusterCounts)[];

/** The counts of all servers that share a registry, and the metrics that expose them. The servers count. */
export class ClusterMetrics {
  readonly metrics: readonly ComputedMetric[] = COUNTS.map(
    (key) =>
      new ComputedMetric(CLUSTER_METRIC[key], 'counter', {
        values: () => this.values(key),
        reset: () => this.forget(key),
      }),
  );
  private readonly servers = new Map<string, Map<Counts, Record<keyof ClusterCounts, number>>>();

  /** Adds a server. The counts of servers with the same name are added up. */
  add(server: string, counts: Counts): void {
    const known = this.servers.get(server) ?? new Map();
    this.servers.set(server, known.set(counts, { letters: 0, untaken: 0, adopted: 0, conflicts: 0, timeouts: 0 }));
  }

  private values(key: keyof ClusterCounts) {
    return [...this.servers].map(([server, all]) => ({
      labels: { [LABEL.server]: server },
      value: [...all].reduce((sum, [counts, before]) => sum + counts[key] - before[key], 0),
    }));
  }

  private forget(key: keyof ClusterCounts): void {
    for (const all of this.servers.values()) for (const [counts, before] of all) before[key] = counts[key];
  }
}
