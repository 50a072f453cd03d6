import type { MeterProvider, TracerProvider } from '@opentelemetry/api';
import { definePlugin } from '@decorum/core';
import { type OptionTypes, requireKnown } from '@decorum/core/transport';

import { commonAttributes, endAttributes, namesOf, originAttributes } from './attributes.js';
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

/**
 * Creates a plugin that reports spans and metrics to OpenTelemetry, by its conventions for MCP. Without an SDK, it does
 * nothing. An SDK may be registered before or after.
 * @param options what to record, and where it goes
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { telemetry } from '@decorum/opentelemetry';
 *
 * new McpServer({ name: 'shop', version: '1.0.0', plugins: [telemetry()] });
 * ```
 */
export const telemetry = definePlugin((options: TelemetryOptions = {}) => {
  requireKnown('telemetry', options, OPTIONS);
  const { maxChars = DEFAULT_MAX_CHARS, results = false } = options;
  const contents: Contents = { arguments: options.arguments ?? false, results, maxChars };
  const instruments = new Instruments(options);
  return {
    name: 'opentelemetry',

    observe(request, run) {
      const { tracer, histograms } = instruments;
      if (tracer === undefined && histograms === undefined) return run();
      const named = namesOf(request);
      const running = tracer ? inServerSpan(request, run, { tracer, named, contents }) : run();
      if (histograms === undefined) return running;
      return running.then((outcome) => {
        const attributes = { ...commonAttributes(named, request), ...endAttributes(outcome) };
        histograms.operation.record(outcome.milliseconds / 1000, attributes);
      });
    },

    ask(question, run) {
      const { tracer, histograms } = instruments;
      if (tracer === undefined && histograms === undefined) return run();
      const running = tracer ? inClientSpan(question, run, tracer) : run();
      if (histograms === undefined) return running;
      return running.then((outcome) => {
        const attributes = {
          ...commonAttributes({ method: question.method }, question.request),
          ...endAttributes(outcome, true),
        };
        histograms.question.record(outcome.milliseconds / 1000, attributes);
      });
    },

    session(info) {
      const attributes = originAttributes(info);
      const began = performance.now();
      return () => instruments.histograms?.session.record((performance.now() - began) / 1000, attributes);
    },
  };
});
