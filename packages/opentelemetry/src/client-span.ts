import { context, SpanKind, trace, type Tracer } from '@opentelemetry/api';
import type { ObservedQuestion, QuestionOutcome } from '@decorum/core/plugin';

import { commonAttributes, cut } from './attributes.js';
import { ATTRIBUTE } from './names.js';
import { inject } from './propagation.js';
import { endSpan } from './server-span.js';

/** Asks the client inside a span of its own, and propagates the span to the client. */
export async function inClientSpan(
  question: ObservedQuestion,
  run: () => Promise<QuestionOutcome>,
  tracer: Tracer,
): Promise<QuestionOutcome> {
  const { method, id, request } = question;
  const attributes = commonAttributes({ method }, request);
  if (id !== undefined) attributes[ATTRIBUTE.requestId] = cut(String(id));
  if (request.session !== undefined) attributes[ATTRIBUTE.session] = request.session;
  const span = tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes });
  const within = trace.setSpan(context.active(), span);
  inject(within, question.meta);
  const outcome = await context.with(within, run);
  endSpan(span, outcome, true);
  return outcome;
}
