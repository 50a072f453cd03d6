import type { Attributes } from '@opentelemetry/api';
import type { JsonObject } from '@decorum/core';
import type { ObservedRequest, RequestOutcome } from '@decorum/core/plugin';

import { cut } from './attributes.js';
import { ATTRIBUTE, PROMPT_METHOD, TOOL_METHOD } from './names.js';

/** Which contents of calls spans may record. */
export interface Contents {
  readonly arguments: boolean;
  readonly results: boolean;
  /** Cap on the characters of each. */
  readonly maxChars: number;
}

/** Cap on the number of a prompt's arguments in a span, and on the characters of their names. */
const MAX_VARIABLES = 32;
const MAX_NAME_CHARS = 128;

/** The arguments of a call. Attributes have no structure, so objects become JSON text. */
export function argumentAttributes(request: ObservedRequest, { maxChars, ...contents }: Contents): Attributes {
  const { method, target } = request;
  if (!contents.arguments || target === undefined) return {};
  if (method !== TOOL_METHOD && method !== PROMPT_METHOD) return {};
  const args = request.arguments ?? {};
  if (method === TOOL_METHOD) return { [ATTRIBUTE.arguments]: cut(JSON.stringify(args), maxChars) };
  return variables(args, maxChars);
}

function variables(args: JsonObject, maxChars: number): Attributes {
  const few = Object.entries(args).slice(0, MAX_VARIABLES);
  return Object.fromEntries(
    few.map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return [`${ATTRIBUTE.promptVariable}${cut(name, MAX_NAME_CHARS)}`, cut(text, maxChars)];
    }),
  );
}

/** The result of a successful tool call. */
export function resultAttributes(method: string, outcome: RequestOutcome, { results, maxChars }: Contents): Attributes {
  if (!results || method !== TOOL_METHOD || outcome.status !== 'ok' || outcome.result === undefined) return {};
  return { [ATTRIBUTE.result]: cut(JSON.stringify(outcome.result), maxChars) };
}
