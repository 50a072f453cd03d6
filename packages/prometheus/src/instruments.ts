import { Counter, Gauge, Histogram, type Metric, type Registry } from 'prom-client';

import { BUCKETS, LABEL, METRIC } from './names.js';
import { RequestMetrics } from './request-metrics.js';

const END = [LABEL.errorType, LABEL.code, LABEL.decorumCause];
const ORIGIN = [LABEL.revision, LABEL.transport, LABEL.protocol];
const buckets = [...BUCKETS];

/** The metrics of a registry. */
export class Instruments {
  readonly requests = new RequestMetrics();
  readonly sessions: Gauge;
  readonly session: Histogram;
  readonly question: Histogram;
  readonly questions: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    // a registry only calls `get` and `reset` on its metrics
    for (const metric of this.requests.metrics) registry.registerMetric(metric as unknown as Metric);
    this.sessions = new Gauge({ ...METRIC.sessions, labelNames: [LABEL.server, ...ORIGIN], registers });
    this.session = new Histogram({ ...METRIC.session, labelNames: [LABEL.server, ...ORIGIN], buckets, registers });
    const asked = [LABEL.server, LABEL.method, ...ORIGIN, ...END];
    this.question = new Histogram({ ...METRIC.question, labelNames: asked, buckets, registers });
    const counted = [LABEL.server, LABEL.method, LABEL.outcome, LABEL.cause];
    this.questions = new Counter({ ...METRIC.questions, labelNames: counted, registers });
  }
}

/** Servers that share a registry share its metrics. */
const INSTRUMENTS = new WeakMap<Registry, Instruments>();

/** The metrics of a registry. They are registered the first time, and again if the registry was cleared. */
export function instrumentsOf(registry: Registry): Instruments {
  const known = INSTRUMENTS.get(registry);
  const isRegistered = Object.values(METRIC).some(({ name }) => registry.getSingleMetric(name) !== undefined);
  if (known && isRegistered) return known;
  const added = new Instruments(registry);
  INSTRUMENTS.set(registry, added);
  return added;
}
