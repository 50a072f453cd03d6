// `@decorum/core/internal`: for Decorum's own packages. It may change in any release, so don't import it elsewhere.
export { andThen, excerpt, inspectRaw, isObject, isPromise, nearest, withDefaults } from '@decorum/schema/internal';
export { UriTemplate } from '@decorum/uri-template';
export { type ContractLists, contractOf, type ServerContract } from './contract.js';
export { generatorOf, type Provider, SERVER_HOST, type ServerHost } from './hosting.js';
export { CombinedSignal } from './kernel/combined-signal.js';
export { isWorker } from './kernel/cluster.js';
export { EXCHANGE } from './kernel/context-keys.js';
export { type Front, frontOf } from './kernel/extensions/front-of.js';
export { errorFields, isWinston, withErrorFields } from './kernel/logger.js';
export { KeyRing } from './kernel/key-ring.js';
export { visitable } from './kernel/question-rules.js';
export { entryOf } from './kernel/stderr-logger.js';
export { requireNoArguments } from './metadata/constructor.js';
export { scanMembers } from './metadata/scan.js';
export { type ListRequest, TOOL_CATALOG, type ToolCatalog } from './kernel/tool-catalog.js';
export { belongsToSession } from './protocol/exchange.js';
export { CORE_ERRORS, FAILURES } from './protocol/errors.js';
export { checkMessage, readableId } from './protocol/jsonrpc.js';
export { DEFAULT_LIMITS } from './protocol/limits.js';
export { isReservedKey } from './protocol/meta-keys.js';
export { beginsConversation, INITIALIZE, LISTEN } from './protocol/methods.js';
export { accountOf, holderOf, networkOf, ownerOf } from './protocol/owner.js';
export { newestOf, revisionOf, REVISIONS, UNDECLARED_REVISION } from './protocol/revisions/index.js';
export type { Era, Revision } from './protocol/revisions/revision.js';
export { hasAll, isDenial, isScope } from './protocol/scopes.js';
export { isExpiry } from './transports/expiry.js';
export { closeForGood, endOnSignal } from './transports/process-end.js';
export { guardProcess } from './transports/process-guard.js';
export type { OwnedRoute } from './transports/route.js';
export { divertStdout } from './transports/stdio.js';
export { type Repeating, repeating } from './repeated-calls.js';
export { WITHIN } from './registry/caller.js';
export { IDEMPOTENCY_KEY, idempotencyKeyOf } from './registry/outcomes/idempotency-key.js';
export { NOBODY } from './registry/outcomes/idempotent.js';
export { digestOf } from './registry/policies/digest.js';
export { FINDER } from './registry/tool-plan.js';
export {
  hasTool,
  isMountable,
  judgedCall,
  type MountableServer,
  toolNamed,
  type ToolPlan,
  type VisibleTools,
  visibleTools,
  warnOfUnknownTools,
} from './visible-tools.js';
