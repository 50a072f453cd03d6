import type { JsonObject } from '@decorum/schema/internal';

import { MOUNTABLE, type MountableServer } from './mountable.js';
import { REVISIONS } from './protocol/revisions/index.js';
import type { Revision } from './protocol/revisions/revision.js';
import type { Plan } from './registry/plan.js';
import type { ToolPlan } from './registry/tool-plan.js';

/** The lists of one revision. */
export interface ContractLists {
  readonly tools: readonly JsonObject[];
  readonly prompts: readonly JsonObject[];
  readonly resources: readonly JsonObject[];
  readonly resourceTemplates: readonly JsonObject[];
}

/** Everything that a server offers, by the date of the revision. */
export interface ServerContract {
  readonly server: { readonly name: string };
  /** Whether clients find most tools by a search, which is no part of the contract. */
  readonly isSearched: boolean;
  readonly revisions: Readonly<Record<string, ContractLists>>;
}

/**
 * What a server offers to those who may see all of it. The server need not be open. Members of sources that depend on
 * the caller, or that connect first, are not among them.
 */
export function contractOf(server: MountableServer): ServerContract {
  const revisions = REVISIONS.map((revision) => [revision.id, listsOf(server, revision)] as const);
  const isSearched = [...server[MOUNTABLE].registry.tools.values()].some(({ isFinder }) => isFinder);
  return { server: { name: server.info.name }, isSearched, revisions: Object.fromEntries(revisions) };
}

function listsOf({ [MOUNTABLE]: { registry } }: MountableServer, revision: Revision): ContractLists {
  const { tools, prompts, resources, templates } = registry;
  return {
    // tools that find and call others stand in for the list, and lists of all tools lack them
    tools: [...tools.values()]
      .filter(({ isFinder }) => isFinder !== true)
      .flatMap<JsonObject>((plan) => asWritten(plan, revision) ?? []),
    prompts: [...prompts.values()].map((plan) => ({ ...revision.prompt(plan.entry), ...unlistedOf(plan) })),
    resources: [...resources.values()].map((plan) => ({ ...revision.resource(plan.entry), ...unlistedOf(plan) })),
    resourceTemplates: [...templates.values()].map((plan) => ({
      ...revision.resourceTemplate(plan.entry),
      ...unlistedOf(plan),
    })),
  };
}

/** The entry of a tool for clients without extensions, or else for those that declare all of them. */
function asWritten(plan: ToolPlan, revision: Revision): JsonObject | undefined {
  const { extras, entry: tool, hasPreview } = plan;
  const entry = revision.tool(tool);
  const written = extras?.write
    ? (extras.write(entry, revision.id, 0) ?? extras.write(entry, revision.id, ALL))
    : entry;
  return written && { ...written, ...(hasPreview && { preview: true }), ...unlistedOf(plan) };
}

/** The variant of clients that declare all extensions: a bit for each. */
const ALL = 2 ** 31 - 1;

/** What no list shows: other names of a member, and that it is on no list. */
function unlistedOf({ aliases = [], isUnlisted }: Plan<unknown>): JsonObject {
  const names = aliases.map(({ name }) => name);
  return { ...(names.length > 0 && { aliases: names }), ...(isUnlisted && { listed: false }) };
}
