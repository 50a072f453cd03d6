import { Listing } from './listing.js';
import type { LiveKind } from './live-members.js';
import type { PromptPlan } from './prompt-plan.js';
import type { ResourcePlan, TemplatePlan } from './resource-plan.js';
import type { ToolPlan } from './tool-plan.js';

/** The plans of one server, by name or URI. */
interface Plans {
  readonly tools: ReadonlyMap<string, ToolPlan>;
  readonly prompts: ReadonlyMap<string, PromptPlan>;
  readonly resources: ReadonlyMap<string, ResourcePlan>;
  readonly templates: ReadonlyMap<string, TemplatePlan>;
}

/** The lists of a server. */
export function listsOf(plans: Plans, onlyUsable: boolean) {
  const templates = [...plans.templates.values()];
  const enumerating = templates.filter(({ list }) => list !== undefined);
  return {
    tools: new Listing([...plans.tools.values()], onlyUsable),
    prompts: new Listing([...plans.prompts.values()], onlyUsable),
    resources: new Listing([...plans.resources.values()], onlyUsable),
    templates: new Listing(templates, onlyUsable),
    /** Templates with a `list` method. The method reveals what exists, so it runs only for callers who may read it. */
    dynamic: new Listing(enumerating, true),
  };
}

/** Whether a provider has a name, URI or template. */
export const isTaken = ({ tools, prompts, resources, templates }: Plans, kind: LiveKind, key: string): boolean =>
  ({ tool: tools, prompt: prompts, resource: resources, template: templates })[kind].has(key);
