import { optionalObject, requireString } from '../../protocol/checks.js';
import { excerpt, McpError } from '../../protocol/errors.js';
import type { Prompt } from '../../protocol/model.js';
import { ListPages } from '../../registry/page.js';
import { Context } from '../context.js';
import { admission, pageOf } from './access.js';
import type { KernelParts, Method } from './method.js';

/** `prompts/list` and `prompts/get`. */
export function promptMethods({ registry, ...parts }: KernelParts): Record<string, Method> {
  const { server, faults, intercept } = parts;
  const pages = new ListPages<Prompt>({
    ...parts,
    member: 'prompts',
    word: (revision, prompt) => revision.prompt(prompt),
  });

  return {
    'prompts/list': (exchange) => pageOf(registry.listed.prompts, pages, { exchange, faults }),

    async 'prompts/get'(exchange) {
      const { params, revision } = exchange;
      const name = requireString(params, 'name');
      const plan = registry.prompts.get(name) ?? unknownPrompt(name);
      if (plan.access !== undefined && !(await admission(exchange, faults)(plan.access))) unknownPrompt(name);
      const args = optionalObject(params, 'arguments') ?? {};
      const ctx = new Context(exchange);
      const result =
        intercept === undefined
          ? await plan.run(args, ctx)
          : await intercept({ kind: 'prompt', name, args, ctx }, () => plan.run(args, ctx));
      return revision.complete(revision.promptResult(result), server);
    },
  };
}

function unknownPrompt(name: string): never {
  throw new McpError('unknown-prompt', `Unknown prompt: ${excerpt(name)}`);
}
