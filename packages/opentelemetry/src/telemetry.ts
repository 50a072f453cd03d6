import type { Attributes, Histogram, MeterProvider, TracerProvider } from '@opentelemetry/api';
import { clusterCounts, definePlugin } from '@decorum/core/plugin';
import { type OptionTypes, requireOptions, startupError } from '@decorum/core/plugin';

import { askedEndAttributes, commonAttributes, endAttributes, namesOf, originAttributes } from './attributes.js';
import { inClientSpan } from './client-span.js';
import type { Contents } from './contents.js';
import { Instruments } from './instruments.js';
import { inServerSpan } from './server-span.js';

/** Options of `telemetry`. */
export interface TelemetryOptions {
  /** Records the arguments of tools and prompts on spans. They may hold secrets. By default, false. */
  readonly arguments?: boolean;
  /** Records the results of successful tool calls on spans. They may hold secrets. By default, false. */
  readonly results?: boolean;
  /** Cap on the characters of recorded arguments, and on those of recorded results. By default, 4096. */
  readonly maxChars?: number;
  /** By default, the global provider. */
  readonly tracerProvider?: TracerProvider;
  /** By default, the global provider. */
  readonly meterProvider?: MeterProvider;
}

const DEFAULT_MAX_CHARS = 4096;

const OPTIONS: OptionTypes<TelemetryOptions> = {
  arguments: 'boolean',
  results: 'boolean',
  maxChars: [0, Number.MAX_SAFE_INTEGER],
  tracerProvider: true,
  meterProvider: true,
};

function requireProvider(option: 'tracerProvider' | 'meterProvider', value: object | undefined, method: string): void {
  if (value === undefined || typeof (value as Record<string, unknown> | null)?.[method] === 'function') return;
  const problem = `has no \`${method}\`. Pass a provider of an OpenTelemetry SDK, or leave it out for the global one`;
  throw startupError('DECORUM_INVALID_OPTION', 'telemetry', option, problem);
}

/** Records how long something took, once it has ended. */
async function recorded<End extends { readonly milliseconds: number }>(
  running: Promise<End>,
  histogram: Histogram | undefined,
  attributesOf: (end: End) => Attributes,
): Promise<void> {
  const end = await running;
  histogram?.record(end.milliseconds / 1000, attributesOf(end));
}

/**
 * Creates a plugin that reports spans and metrics to OpenTelemetry, following its MCP conventions. Without an SDK, the
 * plugin does nothing. You can register the SDK before or after you create the plugin.
 * @param options the contents to record, and the providers to use
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { telemetry } from '@decorum/opentelemetry';
 *
 * new McpServer({ name: 'shop', version: '1.0.0', plugins: [telemetry()] });
 * ```
 */
export const telemetry = definePlugin((options: TelemetryOptions = {}) => {
  requireOptions('telemetry', options, OPTIONS);
  requireProvider('tracerProvider', options.tracerProvider, 'getTracer');
  requireProvider('meterProvider', options.meterProvider, 'getMeter');
  const { maxChars = DEFAULT_MAX_CHARS, results = false } = options;
  const contents: Contents = { arguments: options.arguments ?? false, results, maxChars };
  const instruments = new Instruments(options);
  return {
    name: 'opentelemetry',

    onStart(server) {
      instruments.addServer(server.info.name, clusterCounts(server));
    },

    observe(request, run) {
      const { tracer, histograms } = instruments;
      if (tracer === undefined && histograms === undefined) return undefined;
      const named = namesOf(request);
      const running = tracer ? inServerSpan(request, run, { tracer, named, contents }) : run();
      return recorded(running, histograms?.operation, (outcome) => ({
        ...commonAttributes(named, request),
        ...endAttributes(outcome),
      }));
    },

    ask(question, run) {
      const { tracer, histograms } = instruments;
      if (tracer === undefined && histograms === undefined) return undefined;
      const { method, request } = question;
      const running = tracer ? inClientSpan(question, run, tracer) : run();
      return recorded(running, histograms?.question, (outcome) => ({
        ...commonAttributes({ method }, request),
        ...askedEndAttributes(outcome),
      }));
    },

    session(info) {
      const attributes = originAttributes(info);
      const began = performance.now();
      return () => instruments.histograms?.session.record((performance.now() - began) / 1000, attributes);
    },
  };
});
