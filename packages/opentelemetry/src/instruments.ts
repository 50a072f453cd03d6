import {
  createNoopMeter,
  type Histogram,
  type MeterProvider,
  metrics,
  type ProxyTracerProvider,
  trace,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';

import { BUCKETS, METRIC, SCOPE } from './names.js';

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

  constructor(private readonly providers: Providers) {}

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
    this.current =
      meter === NOOP_METER
        ? undefined
        : { operation: histogram('operation'), session: histogram('session'), question: histogram('question') };
    return this.current;
  }
}
