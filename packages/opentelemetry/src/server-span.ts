import { context, type Span, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import type { ObservedRequest, RequestOutcome } from '@decorum/core/plugin';

import { commonAttributes, endAttributes, type Named, sentAttributes, spanName } from './attributes.js';
import { argumentAttributes, type Contents, resultAttributes } from './contents.js';
import { ATTRIBUTE } from './names.js';
import { parentageOf } from './propagation.js';

/** How a request or question has ended. */
export interface End {
  readonly status: RequestOutcome['status'];
  readonly code: RequestOutcome['code'];
  readonly cause: RequestOutcome['cause'];
  readonly reference?: string | undefined;
  readonly message?: string | undefined;
  readonly error: unknown;
}

/** Ends a span. Errors that the caller caused leave its status unset. */
export function endSpan(span: Span, end: End, isCaller = false): void {
  const attributes = endAttributes(end, isCaller);
  span.setAttributes({ ...attributes, [ATTRIBUTE.outcome]: end.status });
  if (end.reference !== undefined) span.setAttribute(ATTRIBUTE.reference, end.reference);
  try {
    if (attributes[ATTRIBUTE.errorType] !== undefined) fail(span, end);
  } finally {
    // an error from the application may have getters that throw
    span.end();
  }
}

function fail(span: Span, { error, message, status }: End): void {
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
  if (error instanceof Error && status !== 'cancelled') span.recordException(error);
}

/** The parts that a server span needs besides its request. */
export interface SpanMeans {
  readonly tracer: Tracer;
  readonly named: Named;
  readonly contents: Contents;
}

/** Runs a request inside a span of its own. */
export async function inServerSpan(
  request: ObservedRequest,
  run: () => Promise<RequestOutcome>,
  { tracer, named, contents }: SpanMeans,
): Promise<RequestOutcome> {
  const { parent, links } = parentageOf(request.meta);
  const attributes = { ...commonAttributes(named, request), ...sentAttributes(request) };
  const span = tracer.startSpan(spanName(named), { kind: SpanKind.SERVER, attributes, links }, parent);
  const isRecording = span.isRecording();
  if (isRecording) span.setAttributes(argumentAttributes(request, contents));
  const outcome = await context.with(trace.setSpan(parent, span), run);
  if (isRecording) span.setAttributes(resultAttributes(request.method, outcome, contents));
  endSpan(span, outcome);
  return outcome;
}
