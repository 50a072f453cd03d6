import { conditionsOf, Listing } from './listing.js';
import type { LiveKind } from './live-members.js';
import type { NamedPlans } from './named-plans.js';
import type { Plan } from './plan.js';
import type { PromptPlan } from './prompt-plan.js';
import type { ResourcePlan, TemplatePlan } from './resource-plan.js';
import type { ToolPlan } from './tool-plan.js';

/** The plans of one server, by name or URI. */
interface Plans {
  readonly tools: NamedPlans<ToolPlan>;
  readonly prompts: NamedPlans<PromptPlan>;
  readonly resources: NamedPlans<ResourcePlan>;
  readonly templates: NamedPlans<TemplatePlan>;
}

const shownOf = <P extends Plan<unknown>>(plans: ReadonlyMap<string, P>): readonly P[] =>
  [...plans.values()].filter(({ isUnlisted }) => !isUnlisted);

/** The lists of a server. */
export function listsOf(plans: Plans, onlyUsable: boolean) {
  const templates = shownOf(plans.templates);
  const enumerating = templates.filter(({ list }) => list !== undefined);
  return {
    tools: new Listing(shownOf(plans.tools), onlyUsable),
    prompts: new Listing(shownOf(plans.prompts), onlyUsable),
    resources: new Listing(shownOf(plans.resources), onlyUsable),
    templates: new Listing(templates, onlyUsable),
    /** Templates with a `list` method. The method reveals what exists, so it runs only for callers who may read it. */
    dynamic: new Listing(enumerating, true),
    /** Whether some resource is not for everybody, or on no list. */
    isGuarded: [...plans.resources.values(), ...plans.templates.values()].some(
      (plan) => plan.isUnlisted || conditionsOf(plan, onlyUsable).length > 0,
    ),
  };
}

/** Whether a provider has a name, alias, URI or template. */
export const isTaken = ({ tools, prompts, resources, templates }: Plans, kind: LiveKind, key: string): boolean =>
  ({ tool: tools, prompt: prompts, resource: resources, template: templates })[kind].find(key) !== undefined;
