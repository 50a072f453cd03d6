import type { ObservedQuestion, QuestionOutcome } from '@decorum/core/plugin';
import { Counter, Gauge, Histogram, type Metric, type Registry } from 'prom-client';

import { ClusterMetrics } from './cluster-metrics.js';
import { askedEndLabels, askedLabels, type Facts, originLabels } from './labels.js';
import { BUCKETS, LABEL, METRIC } from './names.js';
import { RequestMetrics } from './request-metrics.js';

const END = [LABEL.errorType, LABEL.code, LABEL.decorumCause];
const ORIGIN = [LABEL.revision, LABEL.transport, LABEL.protocol];
const buckets = [...BUCKETS];

/** The metrics of a registry. */
export class Instruments {
  readonly requests = new RequestMetrics();
  readonly cluster = new ClusterMetrics();
  readonly sessions: Gauge;
  readonly session: Histogram;
  private readonly question: Histogram;
  private readonly questions: Counter;
  private readonly aliases: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    // a registry only calls `get` and `reset` on its metrics
    const computed = [...this.requests.metrics, ...this.cluster.metrics];
    for (const metric of computed) registry.registerMetric(metric as unknown as Metric);
    this.sessions = new Gauge({ ...METRIC.sessions, labelNames: [LABEL.server, ...ORIGIN], registers });
    this.session = new Histogram({ ...METRIC.session, labelNames: [LABEL.server, ...ORIGIN], buckets, registers });
    const asked = [LABEL.server, LABEL.method, ...ORIGIN, ...END];
    this.question = new Histogram({ ...METRIC.question, labelNames: asked, buckets, registers });
    const counted = [LABEL.server, LABEL.method, LABEL.outcome, LABEL.cause];
    this.questions = new Counter({ ...METRIC.questions, labelNames: counted, registers });
    const named = [LABEL.server, LABEL.method, LABEL.member, LABEL.alias];
    this.aliases = new Counter({ ...METRIC.aliases, labelNames: named, registers });
  }

  /** Counts a request that has named a member by an alias. */
  countAlias(server: string, alias: string, { method, target }: Pick<Facts, 'method' | 'target'>): void {
    // hidden members have no names in labels, and neither have their aliases
    if (target === undefined) return;
    this.aliases.inc({ [LABEL.server]: server, [LABEL.method]: method, [LABEL.member]: target, [LABEL.alias]: alias });
  }

  /** Counts and times a question of a server. */
  observeQuestion(server: string, { method, request }: ObservedQuestion, outcome: QuestionOutcome): void {
    this.questions.inc({ [LABEL.server]: server, ...askedLabels(method, outcome) });
    const labels = { [LABEL.method]: method, ...originLabels(request), ...askedEndLabels(outcome) };
    this.question.observe({ [LABEL.server]: server, ...labels }, outcome.milliseconds / 1000);
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
