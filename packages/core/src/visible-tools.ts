import { type JsonObject, nearest } from '@decorum/schema/internal';

import { admission } from './kernel/admission.js';
import type { Context } from './kernel/context.js';
import { EXCHANGE } from './kernel/context-keys.js';
import { withLive } from './kernel/live-members.js';
import { MOUNTABLE, type MountableServer } from './mountable.js';
import type { ToolPlan } from './registry/tool-plan.js';

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

/** Warns of names of tools in an option that look like slips of the pen. Tools may come later, so nothing else is wrong. */
export function warnOfUnknownTools(server: MountableServer, option: string, names: readonly string[]): void {
  const { registry, reporter } = server[MOUNTABLE];
  for (const name of names) {
    const meant = registry.tools.find(name) ? undefined : nearest(name, [...registry.tools.keys()]);
    if (meant === undefined) continue;
    reporter.warn({}, `\`${option}\` has "${name}", which is no tool so far. If you mean "${meant}", correct it.`);
  }
}
