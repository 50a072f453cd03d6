import {
  createNoopMeter,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
  type ProxyTracerProvider,
  trace,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';

import type { ClusterCounts } from '@decorum/core/plugin';

import { ATTRIBUTE, BUCKETS, CLUSTER_METRIC, METRIC, SCOPE } from './names.js';

/** The histograms of a meter provider. */
export interface Histograms {
  readonly operation: Histogram;
  readonly session: Histogram;
  readonly question: Histogram;
}

/** Where spans and metrics go. */
export interface Providers {
  readonly tracerProvider?: TracerProvider | undefined;
  readonly meterProvider?: MeterProvider | undefined;
}

const NOOP_METER = createNoopMeter();

const isProxy = (provider: TracerProvider): provider is ProxyTracerProvider => 'getDelegateTracer' in provider;

/**
 * The tracer and the histograms. An SDK may be registered at any time, even after the server is created. The
 * OpenTelemetry API then updates existing tracers but not existing meters, so the provider is looked up each time.
 */
export class Instruments {
  private meters: MeterProvider | undefined;
  private current: Histograms | undefined;
  private readonly servers: { readonly name: string; readonly counts: Readonly<ClusterCounts> }[] = [];

  constructor(private readonly providers: Providers) {}

  /** Reports what a server counts. */
  addServer(name: string, counts: Readonly<ClusterCounts>): void {
    this.servers.push({ name, counts });
  }

  /** Undefined if no SDK collects spans. */
  get tracer(): Tracer | undefined {
    const provider = this.providers.tracerProvider ?? trace.getTracerProvider();
    return isProxy(provider) ? provider.getDelegateTracer(SCOPE) : provider.getTracer(SCOPE);
  }

  /** Undefined if no SDK collects metrics. */
  get histograms(): Histograms | undefined {
    const provider = this.providers.meterProvider ?? metrics.getMeterProvider();
    if (provider === this.meters) return this.current;
    this.meters = provider;
    const meter = provider.getMeter(SCOPE);
    const histogram = (name: keyof Histograms) =>
      meter.createHistogram(METRIC[name].name, {
        description: METRIC[name].description,
        unit: 's',
        advice: { explicitBucketBoundaries: [...BUCKETS] },
      });
    if (meter !== NOOP_METER) this.count(meter);
    this.current =
      meter === NOOP_METER
        ? undefined
        : { operation: histogram('operation'), session: histogram('session'), question: histogram('question') };
    return this.current;
  }

  private count(meter: Meter): void {
    for (const [key, { name, ...options }] of Object.entries(CLUSTER_METRIC)) {
      meter.createObservableCounter(name, options).addCallback((result) => {
        for (const { name: server, counts } of this.servers) {
          const count = counts[key as keyof ClusterCounts];
          // most servers are alone, and have nothing to report
          if (count > 0) result.observe(count, { [ATTRIBUTE.server]: server });
        }
      });
    }
  }
}
