import { startupError } from '../protocol/errors.js';
import type { Plan } from './plan.js';

/**
 * The error for two members with one name, URI or template.
 * @param other where the first one is
 * @param isSource whether the second has no class that declares it
 */
export const duplicate = (
  kind: string,
  { key, where }: Pick<Plan<unknown>, 'key' | 'where'>,
  { other, isSource }: { readonly other: string; readonly isSource: boolean },
) =>
  startupError('DECORUM_DUPLICATE_NAME', kind, key, {
    one: other,
    other: where,
    remedy: duplicateRemedy(kind, { where, other, isSource }),
  });

function duplicateRemedy(
  kind: string,
  { where, other, isSource }: { readonly where: string; readonly other: string; readonly isSource: boolean },
): string {
  if ([where, other].some((each) => each.endsWith(' (aliases)')))
    return 'Remove the alias, or give one of them another `name` or a `prefix`';
  if (where === other && where.startsWith('addTool.')) {
    return 'Give one of them another `name`, or first `remove()` the registration that `addTool` returned';
  }
  if (isSource)
    return `Give ${where.slice(0, where.lastIndexOf('.'))} a \`prefix\`, or rename the member in its \`transform\``;
  const again = where === other ? 'List the provider once. To serve it twice, g' : 'G';
  if (!kind.startsWith('resource')) return `${again}ive one of them another \`name\`, or its provider a \`prefix\``;
  return `${again}ive one of them another URI, or its provider a \`uriPrefix\`: \`{ provider, prefix: 'eu_', uriPrefix: 'eu+' }\``;
}
