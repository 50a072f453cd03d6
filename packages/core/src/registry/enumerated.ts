import type { Resource } from '../protocol/model.js';
import type { Caller } from './caller.js';
import { type Admits, Listing } from './listing.js';
import type { Listed } from './page.js';
import type { Registry } from './registry.js';
import type { Report } from './resource-plan.js';

/**
 * All visible resources: the fixed ones, and those that templates list.
 * @param asked.caller the context of the request
 * @param asked.admits whether the caller meets a condition
 * @param asked.report told of entries that are left out because they are invalid
 */
export async function enumerated(
  registry: Registry,
  { caller, admits, report }: { readonly caller: Caller; readonly admits: Admits; readonly report: Report },
): Promise<readonly Listed<Resource>[]> {
  const { resources, dynamic } = registry.listed;
  const templates = await dynamic.visible(admits);
  const found = await Promise.all(templates.map(async ({ list }) => (await list?.(caller, report)) ?? []));
  // a URI that one template lists may be served by another member, with different access
  const entries = found
    .flat()
    .map((entry) => ({ key: entry.uri, entry, ...registry.guardOf(entry.uri) }))
    .filter(({ isUnlisted }) => !isUnlisted);
  return await new Listing<Listed<Resource>>([...resources.all, ...entries], registry.onlyUsable).visible(admits);
}
