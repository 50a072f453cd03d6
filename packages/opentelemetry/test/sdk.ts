import { context, metrics, propagation, type SpanContext, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  DataPointType,
  type HistogramMetricData,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
  type SumMetricData,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

/** An OpenTelemetry SDK that keeps everything in memory. */
export class Sdk {
  private readonly spanExporter = new InMemorySpanExporter();
  private readonly metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.spanExporter)] });
  readonly meterProvider = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: this.metricExporter, exportIntervalMillis: 2 ** 30 })],
  });

  /** Registers the SDK for the whole process. */
  register(): this {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
    propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
    trace.setGlobalTracerProvider(this.tracerProvider);
    metrics.setGlobalMeterProvider(this.meterProvider);
    return this;
  }

  get spans(): readonly ReadableSpan[] {
    return this.spanExporter.getFinishedSpans();
  }

  /** The only span with this name. */
  span(name: string): ReadableSpan {
    const found = this.spans.filter((span) => span.name === name);
    if (found.length !== 1) throw new Error(`${found.length} spans are called "${name}".`);
    return found[0] as ReadableSpan;
  }

  /** The histograms so far: their unit, boundaries and points. */
  async histograms(): Promise<readonly HistogramMetricData[]> {
    return (await this.metrics()).filter((each) => each.dataPointType === DataPointType.HISTOGRAM);
  }

  /** The attributes and values of the counters so far, by name. */
  async counts(): Promise<Readonly<Record<string, readonly (readonly [attributes: object, value: number])[]>>> {
    const found = (await this.metrics()).filter((each) => each.dataPointType === DataPointType.SUM);
    const valuesOf = ({ dataPoints }: SumMetricData) =>
      dataPoints.map(({ attributes, value }) => [attributes, value] as const);
    return Object.fromEntries(found.map((each) => [each.descriptor.name, valuesOf(each)]));
  }

  private async metrics(): Promise<readonly MetricData[]> {
    await this.meterProvider.forceFlush();
    const last = this.metricExporter.getMetrics().at(-1);
    return (last?.scopeMetrics ?? []).flatMap(({ metrics: found }) => found);
  }

  async shutdown(): Promise<void> {
    await Promise.all([this.tracerProvider.shutdown(), this.meterProvider.shutdown()]);
    for (const api of [trace, metrics, context, propagation]) api.disable();
  }
}

/** The span that a client names in `_meta`, and the entry that names it. */
export const CLIENT_SPAN = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' } as const;
export const TRACEPARENT = `00-${CLIENT_SPAN.traceId}-${CLIENT_SPAN.spanId}-01`;

/** Values that differ from run to run, by attribute. */
const VOLATILE: ReadonlySet<string> = new Set(['mcp.session.id', 'client.port', 'decorum.error.reference']);

const shown = (attributes: object) =>
  Object.fromEntries(
    Object.entries(attributes)
      .map(([name, value]) => [name, VOLATILE.has(name) ? `<${name}>` : value] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );

const sorted = <T>(values: readonly T[]): T[] => {
  const keyed = values.map((value) => [JSON.stringify(value), value] as const);
  return keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
};

/** Spans and metrics without details that differ from run to run: ids, times, order. */
export async function portrait(sdk: Sdk): Promise<object> {
  const nameOf = (found: Pick<SpanContext, 'spanId'> | undefined) => {
    if (found === undefined) return undefined;
    if (found.spanId === CLIENT_SPAN.spanId) return 'the client';
    return sdk.spans.find((span) => span.spanContext().spanId === found.spanId)?.name ?? 'unknown';
  };
  const spans = sdk.spans.map(({ name, kind, status, attributes, events, links, parentSpanContext }) => ({
    name,
    kind: SpanKind[kind],
    status: { code: SpanStatusCode[status.code], message: status.message?.replace(/reference \w+/, 'reference <id>') },
    parent: nameOf(parentSpanContext),
    attributes: shown(attributes),
    ...(links.length > 0 && { links: links.map((link) => nameOf(link.context)) }),
    ...(events.length > 0 && { events: events.map((event) => [event.name, event.attributes?.['exception.message']]) }),
  }));
  const metricsOf = (await sdk.histograms()).map(({ descriptor, dataPoints }) => ({
    name: descriptor.name,
    unit: descriptor.unit,
    points: sorted(dataPoints.map(({ attributes, value }) => ({ attributes: shown(attributes), count: value.count }))),
  }));
  return { spans: sorted(spans), metrics: sorted(metricsOf) };
}
