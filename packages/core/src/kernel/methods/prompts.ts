import { excerpt } from '@decorum/schema/internal';

import { requireString } from '../../protocol/checks.js';
import { McpError } from '../../protocol/errors.js';
import type { Prompt } from '../../protocol/model.js';
import { ListPages } from '../../registry/page.js';
import type { Method, MethodParts } from './method.js';
import { pageOf } from './page-of.js';

/** `prompts/list` and `prompts/get`. */
export function promptMethods({ registry, reporter, members, results, ...parts }: MethodParts): Record<string, Method> {
  const pages = new ListPages<Prompt>({
    ...parts,
    member: 'prompts',
    encode: (revision, prompt) => revision.prompt(prompt),
  });

  return {
    'prompts/list': (exchange) => pageOf(registry.listed.prompts, pages, { exchange, reporter }),

    'prompts/get'(exchange) {
      const { params, revision } = exchange;
      const name = requireString(params, 'name');
      const plan = registry.prompts.get(name);
      if (plan === undefined) throw unknownPrompt(name);
      const outcome = members.run(exchange, {
        kind: 'prompt',
        name,
        args: params['arguments'],
        access: plan.access,
        deny: () => ({ kind: 'failed', error: unknownPrompt(name) }),
        run: plan.run,
      });
      return results.writeOutcome(revision, outcome, (result) =>
        results.write(revision, revision.promptResult(result)),
      );
    },
  };
}

const unknownPrompt = (name: string) => new McpError('unknown-prompt', `Unknown prompt: ${excerpt(name)}`);
