import type { Context } from '../context.js';

/** What the callers of methods of extensions may see. */
export const VIEWS = new WeakMap<Context, (uri: string) => Promise<boolean>>();

/**
 * Whether lists show the caller of an extension's method a resource, or the template that matches its URI.
 * @param ctx the context of the method
 * @param uri the URI of a resource that the server has; everybody sees others
 * @throws {TypeError} for the context of anything but a method of an extension
 * @example
 * ```ts
 * if (!(await seesResource(ctx, 'skill://refunds/SKILL.md'))) throw new McpError('invalid-params', 'No such skill.');
 * ```
 */
export async function seesResource(ctx: Context, uri: string): Promise<boolean> {
  const sees = VIEWS.get(ctx);
  if (sees === undefined) throw new TypeError('`seesResource` takes the context of a method of an extension.');
  return await sees(uri);
}
