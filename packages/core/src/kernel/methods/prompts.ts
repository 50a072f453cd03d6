import { optionalObject, requireString } from '../../protocol/checks.js';
import { excerpt, McpError } from '../../protocol/errors.js';
import type { Prompt } from '../../protocol/model.js';
import { ListPages } from '../../registry/page.js';
import { Context } from '../context.js';
import { cursorScope, type KernelParts, type Method } from './method.js';

/** `prompts/list` and `prompts/get`. */
export function promptMethods({ registry, ...parts }: KernelParts): Record<string, Method> {
  const pages = new ListPages<Prompt>({
    ...parts,
    member: 'prompts',
    word: (revision, prompt) => revision.prompt(prompt),
  });

  return {
    'prompts/list': (exchange) =>
      pages.page(registry.listed.prompts, {
        revision: exchange.revision,
        cursor: exchange.params['cursor'],
        scope: cursorScope(exchange),
      }),

    async 'prompts/get'(exchange) {
      const { params, revision } = exchange;
      const name = requireString(params, 'name');
      const plan = registry.prompts.get(name);
      if (plan === undefined) throw new McpError('unknown-prompt', `Unknown prompt: ${excerpt(name)}`);
      const result = await plan.run(optionalObject(params, 'arguments') ?? {}, new Context(exchange));
      return revision.complete(revision.promptResult(result), parts.server);
    },
  };
}
