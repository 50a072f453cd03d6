import type { LiveMembers } from './live-members.js';
import type { Offered } from './plan.js';
import type { PromptPlan } from './prompt-plan.js';
import type { ResourcePlan, TemplatePlan } from './resource-plan.js';
import type { ToolPlan } from './tool-plan.js';

/** The compiled members of a server, or those that were added together. */
export interface CompiledMembers {
  readonly tools: readonly ToolPlan[];
  readonly prompts: readonly PromptPlan[];
  readonly resources: readonly (ResourcePlan | TemplatePlan)[];
  /** Sources of members that depend on the caller. */
  readonly live: readonly LiveMembers[];
  /** What to declare even while there is no such member. */
  readonly offers: readonly Offered[];
}

/** Serves members elsewhere, too. Returns a function that ends that. */
export type Follower = (members: CompiledMembers) => () => void;
