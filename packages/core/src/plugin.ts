// `@decorum/core/plugin`: for authors of plugins.
import { invalidOption } from '@decorum/schema/internal';

import type { PluginDefinition } from './plugins.js';
import type { McpServer } from './server.js';

export { type OptionType, type OptionTypes, requireOptions } from '@decorum/schema/internal';
export type { RequestOutcome } from './kernel/observed.js';
export type { SessionInfo } from './kernel/observed-sessions.js';
export { startupError } from './protocol/errors.js';
export type { QuestionOutcome } from './kernel/observed-questions.js';
export type { ObservedQuestion, ObservedRequest } from './protocol/observed.js';
export { requireRoutePath, type Route, type RouteAnswer, type RouteRequest } from './transports/route.js';

/** A plugin, for the `plugins` option of `McpServer`. */
export type Plugin = PluginDefinition<McpServer>;

/**
 * Defines a plugin, which can add parts to a server and observe its messages.
 * @param create creates the plugin from its options
 * @returns the function that users call in `plugins`
 * @throws {DecorumError} `DECORUM_INVALID_OPTION` if `create` is not a function
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { definePlugin } from '@decorum/core/plugin';
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
  throw invalidOption('definePlugin', 'create', problem);
}
