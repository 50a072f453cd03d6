import { isObject, type JsonObject } from '@decorum/schema/internal';

import { TICKET_KEY, ticketIn } from '../../metadata/preview-options.js';
import { text } from '../../protocol/content.js';
import { ToolError } from '../../protocol/errors.js';
import { FAILURE_CAUSE, withFailureCause } from '../../protocol/failure-cause.js';
import type { CallToolResult } from '../../protocol/model.js';
import { errorResult } from '../results.js';
import type { Refusal } from './plan-records.js';

/** The text of a plan: as it is, or as JSON. */
export const textOfPlan = (plan: unknown): string => (typeof plan === 'string' ? plan : JSON.stringify(plan));

const endOf = (ticket: string): string => `\nticket: ${ticket}`;

/** A plan that was made, and its ticket. */
export interface ShownPlan {
  readonly plan: unknown;
  readonly ticket: string;
  readonly ttlMs: number;
  /** Whether results of the tool have structured content. Clients expect it of plans, too. */
  readonly hasOutput: boolean;
}

/** The result that shows a plan. The ticket has a text of its own, because the plan's may be the structured content's. */
export function planResult({ plan, ticket, ttlMs, hasOutput }: ShownPlan): CallToolResult {
  const structuredContent = hasOutput ? { plan, ticket } : isObject(plan) ? plan : undefined;
  const shown = hasOutput ? JSON.stringify(structuredContent) : textOfPlan(plan);
  const how = `This is a plan: nothing has been done yet. To carry it out, call the tool again within ${inWords(ttlMs)}, with the same arguments and the argument \`ticket\`:`;
  return {
    content: [text(shown), text(how + endOf(ticket))],
    ...(structuredContent !== undefined && { structuredContent }),
    _meta: { [TICKET_KEY]: ticket },
  };
}

function inWords(ms: number): string {
  const [count, unit] =
    ms < 120_000 ? [ms / 1000, 'second'] : ms < 7_200_000 ? [ms / 60_000, 'minute'] : [ms / 3_600_000, 'hour'];
  const whole = Math.max(1, Math.floor(count));
  return `${whole} ${unit}${whole === 1 ? '' : 's'}`;
}

/** The parts of a result that shows a plan, for what shortens it; undefined for other results. */
export function partsOfPlan(result: CallToolResult): PlanParts | undefined {
  const ticket = ticketIn(result['_meta'] as JsonObject | undefined);
  if (typeof ticket !== 'string') return undefined;
  const at = result.content.findLastIndex((block) => block.type === 'text' && block.text.endsWith(endOf(ticket)));
  const how = result.content[at];
  if (how?.type !== 'text') return undefined;
  const { structuredContent: data } = result;
  return {
    others: result.content.toSpliced(at, 1),
    how,
    least: isObject(data) && data['ticket'] === ticket ? { ticket } : undefined,
  };
}

interface PlanParts {
  readonly others: CallToolResult['content'];
  /** The text with the ticket. */
  readonly how: ReturnType<typeof text>;
  /** What is left of structured content without the plan. */
  readonly least: JsonObject | undefined;
}

const REFUSALS: Readonly<Record<Refusal, string>> = {
  unknown: 'The ticket is not valid, or has expired. Nothing was done. Call the tool without `ticket` for a new plan.',
  used: 'The ticket has been used before, and a ticket is good for one call. Nothing was done now. Check what that call has done, or call the tool without `ticket` for a new plan.',
  changed:
    'The arguments are not those of the plan. Nothing was done. Call the tool with the arguments of the plan and its ticket, or without `ticket` for a new plan.',
};

/** The error for a ticket that is refused. */
export const refused = (why: Refusal): ToolError => withFailureCause(new ToolError(REFUSALS[why]), 'denied');

/** The result for a user who doesn't confirm a plan. */
export const declined = (): CallToolResult =>
  Object.assign(errorResult('The user did not confirm the plan. Nothing was done. Ask the user what to do instead.'), {
    [FAILURE_CAUSE]: 'denied',
  });
