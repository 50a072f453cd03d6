// `@decorum/core/plugin`: for authors of plugins.
import { invalidOption } from '@decorum/schema/internal';

import type { ClusterCounts } from './kernel/cluster.js';
import type { PluginDefinition } from './plugins.js';
import type { McpServer } from './server.js';
import type { SourceDefinition } from './source.js';
import { HOST } from './transports/transport.js';

export { type OptionType, type OptionTypes, requireOptions } from '@decorum/schema/internal';
export type { RequestOutcome } from './kernel/observed.js';
export { askClient } from './kernel/extensions/ask-client.js';
export { seesResource } from './kernel/extensions/sees-resource.js';
export type {
  Extension,
  ExtensionCallers,
  ExtensionHandler,
  ExtensionHost,
  ExtensionMethod,
  ExtensionNotification,
  Followed,
  Run,
  RunHost,
  SessionClient,
  StartingCall,
  ToolCall,
  ToolVariant,
} from './kernel/extensions/extension.js';
export type { Cancellation } from './protocol/reply.js';
export { isSecretName, secretsIn } from './text/redact.js';
export type { Effect, EffectLog } from './protocol/effects.js';
export { ownerOf } from './protocol/owner.js';
export type { Question } from './protocol/revisions/revision.js';
export type { SessionInfo } from './kernel/observed-sessions.js';
export type { ClusterCounts } from './kernel/cluster.js';
export { startupError } from './protocol/errors.js';
export { ATTACH } from './source.js';
export type { AddedMember, AddMembersOptions, Handlers } from './added-members.js';
export type { SourceOptions } from './source-options.js';
export type { LiveMember, LiveSource } from './live-source.js';
export type { LiveKind, Sought } from './registry/live-members.js';
export type { RelayedRecord } from './metadata/records.js';
export type { Offered } from './registry/plan.js';
export { originalUri, placedUri, type UriPlace } from './registry/placed-uri.js';
export type { QuestionOutcome } from './kernel/observed-questions.js';
export type { AskedAnswer, ObservedQuestion, ObservedRequest } from './protocol/observed.js';
export type { PluginCaller, PluginMember } from './protocol/plugin-access.js';
export { requireRoutePath, type Route, type RouteAnswer, type RouteRequest } from './transports/route.js';

/**
 * Members from outside, as an entry of `providers`: another server, a document or a proxy.
 * @example
 * ```ts
 * import { ATTACH, type MemberSource } from '@decorum/core/plugin';
 *
 * const clock: MemberSource = {
 *   [ATTACH](server) {
 *     server.addMembers([{ kind: 'tool', key: 'now', options: { description: 'Tells the time' } }], { now: () => new Date() });
 *   },
 * };
 * ```
 */
export type MemberSource = SourceDefinition<McpServer>;

/** A plugin, for the `plugins` option of `McpServer`. */
export type Plugin = PluginDefinition<McpServer>;

/**
 * What happened between a server and the other processes of its cluster. The object is always the same one.
 * @example
 * ```ts
 * import { clusterCounts, definePlugin } from '@decorum/core/plugin';
 *
 * const lettersOnClose = definePlugin(() => {
 *   let counts: ReturnType<typeof clusterCounts> | undefined;
 *   return {
 *     name: 'letters-on-close',
 *     onStart: (server) => void (counts = clusterCounts(server)),
 *     onClose: () => void process.stderr.write(`${counts?.letters} letters\n`),
 *   };
 * });
 * ```
 */
export const clusterCounts = (server: McpServer): Readonly<ClusterCounts> => server[HOST].sharing.counts;

/**
 * Reports an error that no client sees, as the server reports its own: to its logger, and to `onError`.
 * @param server the server, as `onStart` gets it
 * @param error what has failed
 * @param message log message that says what has failed
 * @example
 * ```ts
 * import { definePlugin, reportTo } from '@decorum/core/plugin';
 *
 * const heartbeat = definePlugin((url: string) => ({
 *   name: 'heartbeat',
 *   onStart: (server) => void fetch(url).catch((error: unknown) => reportTo(server, error, 'no heartbeat was sent')),
 * }));
 * ```
 */
export function reportTo(server: McpServer, error: unknown, message?: string): void {
  server[HOST].report(error, message);
}

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
