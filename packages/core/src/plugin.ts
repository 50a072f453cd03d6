import type { PluginDefinition } from './plugins.js';
import { startupError } from './protocol/errors.js';
import type { McpServer } from './server.js';

/** A plugin, for the `plugins` option of `McpServer`. */
export type Plugin = PluginDefinition<McpServer>;

/**
 * Defines a plugin, which can add parts to a server and observe its messages.
 * @param create creates the plugin from its options
 * @returns the function that users call in `plugins`
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if `create` is not a function
 * @example
 * ```ts
 * import { definePlugin, McpServer } from '@decorum/core';
 *
 * const audit = definePlugin(({ write }: { write: (line: string) => void }) => ({
 *   name: 'audit',
 *   async observe(request, run) {
 *     const outcome = await run();
 *     write(`${request.method} ${request.target} ${outcome.status}`);
 *     return outcome;
 *   },
 * }));
 *
 * new McpServer({ name: 'shop', version: '1.0.0', plugins: [audit({ write: (line) => process.stderr.write(line) })] });
 * ```
 */
export function definePlugin<A extends readonly unknown[]>(create: (...args: A) => Plugin): (...args: A) => Plugin {
  if (typeof create === 'function') return (...args) => create(...args);
  const problem = "is not a function. Write definePlugin(() => ({ name: 'audit', … }))";
  throw startupError('DECORUM_INVALID_OPTION', 'definePlugin', 'create', problem);
}
