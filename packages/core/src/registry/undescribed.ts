import type { Plan } from './plan.js';
import type { Registry } from './registry.js';

type Described = Plan<{ readonly description?: string }>;

const isTodo = ({ entry: { description = '' } }: Described): boolean => /^\s*TODO\b/i.test(description);

/**
 * The warning for a server whose members lack descriptions, or still have those of a template; undefined if there is
 * nothing to warn of. Only tools need one: prompts and resources are chosen by people. Entries of other servers are
 * theirs to describe.
 */
export function undescribedWarning({ tools, prompts, resources, templates }: Registry): string | undefined {
  const silent = [...tools.values()].filter(
    ({ entry, isRelayed }) => isRelayed !== true && (entry.description ?? '').trim() === '',
  );
  const todo = [tools, prompts, resources, templates]
    .flatMap((plans: ReadonlyMap<string, Described>) => [...plans.values()])
    .filter((plan) => plan.isRelayed !== true && isTodo(plan));
  const parts = [
    silent.length > 0 ? `no description: ${named(silent)}` : '',
    todo.length > 0 ? `a description that begins with TODO: ${named(todo)}` : '',
  ].filter((part) => part !== '');
  if (parts.length === 0) return undefined;
  return `Members with ${parts.join('; with ')}. Models choose tools by their descriptions. Set \`description\` in the decorator.`;
}

/** Names as many members as fit in a line. */
function named(plans: readonly Described[]): string {
  const names = plans.slice(0, 5).map(({ where }) => where);
  return plans.length > names.length ? `${names.join(', ')} and ${plans.length - names.length} more` : names.join(', ');
}
