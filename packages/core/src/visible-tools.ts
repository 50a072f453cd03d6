import { type JsonObject, nearest, type Problem } from '@decorum/schema/internal';

import { admission } from './kernel/admission.js';
import type { Context } from './kernel/context.js';
import { EXCHANGE } from './kernel/context-keys.js';
import { withLive } from './kernel/live-members.js';
import { MOUNTABLE, type MountableServer } from './mountable.js';
import type { ToolPlan } from './registry/tool-plan.js';

export type { MountableServer } from './mountable.js';
export type { ToolPlan } from './registry/tool-plan.js';

/** The tools that the caller of a request may see. */
export interface VisibleTools {
  /** The same array until something changes, unless there are tools that depend on the caller. */
  readonly tools: readonly ToolPlan[];
  /** A tool as the client's list has it. Undefined if an extension hides it from the client. */
  written(tool: ToolPlan): JsonObject | undefined;
}

/**
 * The tools that lists of a server show to the caller of a request, whatever they have.
 * @param ctx the context of a handler of this server
 */
export async function visibleTools(server: MountableServer, ctx: Context): Promise<VisibleTools> {
  const { registry, reporter, extended } = server[MOUNTABLE];
  const exchange = ctx[EXCHANGE]();
  const { revision } = exchange;
  const seen = registry.listed.tools.visible(admission(exchange, reporter));
  const isLive = registry.live.some(({ kinds }) => kinds.includes('tool'));
  const tools = await (isLive ? withLive(seen, 'tool', { exchange, registry, reporter }) : seen);
  const variant = extended.variantOf(exchange) ?? 0;
  return {
    tools: tools as readonly ToolPlan[],
    written({ entry, extras }) {
      const written = revision.tool(entry);
      return extras?.write === undefined ? written : extras.write(written, revision.id, variant);
    },
  };
}

/** Whether a server has a tool with this name or alias, whoever may see it. */
export const hasTool = ({ [MOUNTABLE]: { registry } }: MountableServer, name: string): boolean =>
  registry.tools.find(name) !== undefined;

/** Whether a value is a server of this process. Works with any copy of this package. */
export const isMountable = (value: unknown): value is MountableServer =>
  typeof value === 'object' && value !== null && MOUNTABLE in value;

/** The name of the tool with this name or alias, whoever may see it. */
export const toolNamed = ({ [MOUNTABLE]: { registry } }: MountableServer, name: string): string | undefined =>
  registry.tools.find(name)?.key;

/** What a server would say of a call. */
export interface JudgedCall {
  /** The name of the tool, also if the call has an alias. */
  readonly tool: string;
  /** What is wrong with the arguments. Undefined if only another server knows. */
  readonly problems: readonly Problem[] | undefined;
}

/**
 * Judges a call without making it: which tool it means, and whether its arguments are valid. Access isn't checked.
 * @returns undefined if there is no such tool, or if its source finds tools only once they are called
 */
export async function judgedCall(
  { [MOUNTABLE]: { registry } }: MountableServer,
  name: string,
  args: JsonObject,
): Promise<JudgedCall | undefined> {
  const plan = registry.tools.find(name);
  if (plan === undefined) return undefined;
  const checked = await plan.check?.(args);
  return { tool: plan.key, problems: checked && (checked.ok ? [] : checked.problems) };
}

/** Warns of names of tools in an option that look like slips of the pen. Tools may come later, so nothing else is wrong. */
export function warnOfUnknownTools(server: MountableServer, option: string, names: readonly string[]): void {
  const { registry, reporter } = server[MOUNTABLE];
  for (const name of names) {
    const meant = registry.tools.find(name) ? undefined : nearest(name, [...registry.tools.keys()]);
    if (meant === undefined) continue;
    reporter.warn({}, `\`${option}\` has "${name}", which is no tool so far. If you mean "${meant}", correct it.`);
  }
}
