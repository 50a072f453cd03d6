import { andThen, excerpt } from '@decorum/schema/internal';

import { requireString } from '../../protocol/checks.js';
import { McpError } from '../../protocol/errors.js';
import type { Exchange } from '../../protocol/exchange.js';
import type { Prompt } from '../../protocol/model.js';
import { ListPages } from '../../registry/page.js';
import type { PromptPlan } from '../../registry/prompt-plan.js';
import { promptBudget } from '../budgets/member-budgets.js';
import { findLive } from '../live-members.js';
import type { Method, MethodParts } from './method.js';
import { rejectFormer } from './former-names.js';
import { pageOf } from './page-of.js';

/** `prompts/list` and `prompts/get`. */
export function promptMethods({ registry, reporter, members, results, ...parts }: MethodParts): Record<string, Method> {
  const pages = new ListPages<Prompt>({
    ...parts,
    member: 'prompts',
    encode: (revision, prompt) => revision.prompt(prompt),
  });

  const get = (exchange: Exchange, plan: PromptPlan): string | Promise<string> => {
    const { params, revision } = exchange;
    const outcome = members.run(exchange, {
      kind: 'prompt',
      name: plan.key,
      args: params['arguments'],
      access: plan.access,
      deny: () => ({ kind: 'failed', error: unknownPrompt(params['name'] as string) }),
      budget: promptBudget(plan, plan.maxResultChars ?? parts.maxResultChars),
      run: plan.run,
    });
    return results.writeOutcome(revision, outcome, (result) => results.write(revision, revision.promptResult(result)));
  };

  return {
    'prompts/list': (exchange) =>
      pageOf(registry.listed.prompts, pages, { kind: 'prompt', exchange, registry, reporter }),

    'prompts/get'(exchange) {
      const name = requireString(exchange.params, 'name');
      const live = { registry, reporter };
      const found = registry.prompts.find(name) ?? findLive(exchange, { kind: 'prompt', key: name }, live);
      return andThen(found, (plan) => {
        if (plan !== undefined) return get(exchange, plan as PromptPlan);
        return rejectFormer(unknownPrompt(name), registry.prompts.former(name), { ...live, exchange });
      });
    },
  };
}

const unknownPrompt = (name: string) => new McpError('unknown-prompt', `Unknown prompt: ${excerpt(name)}`);
