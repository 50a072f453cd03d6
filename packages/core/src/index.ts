export {
  type Accepted,
  ArrayOf,
  Choices,
  type Class,
  DateOnly,
  DecorumError,
  Describe,
  type FieldDecorator,
  type FieldDescription,
  type ItemType,
  type Jsonified,
  type JsonObject,
  NoInput,
  Nullable,
  type Parsed,
  RecordOf,
  Schema,
  type SchemaSource,
  type StartupErrorCode,
  type TitledChoices,
} from '@decorum/schema';
export { Completion } from './decorators/completion.js';
export { Defaults, type DefaultsDecorator } from './decorators/defaults.js';
export { Hidden } from './decorators/hidden.js';
export type { MemberDecorator, Method } from './decorators/member-decorator.js';
export { McpHeader } from './decorators/mcp-header.js';
export { Prompt, type PromptOptions } from './decorators/prompt.js';
export { Resource, type ResourceOptions } from './decorators/resource.js';
export { Tool, type ToolMethod, type ToolOptions } from './decorators/tool.js';
export { health, type HealthCheck, type HealthOptions } from './health.js';
export { rateLimit, type RateLimiter, type RateLimitOptions } from './interceptors/rate-limit.js';
export { sanitize, type SanitizeOptions } from './interceptors/sanitize.js';
export { type Change, type ChangeBus, MemoryChangeBus } from './kernel/change-bus.js';
export type { ClusterParts, ClusterServer } from './kernel/cluster.js';
export { ClientLog } from './kernel/client-log.js';
export { CompletionContext } from './kernel/completion-context.js';
export { Context } from './kernel/context.js';
export type { HandlerBudget } from './kernel/budgets/handler-budget.js';
export { MemorySingleUse, type SingleUse } from './kernel/request-states.js';
export type { SessionVisibility } from './kernel/session-visibility.js';
export type { ErrorRule, ErrorRules, PublicError } from './kernel/expected.js';
export type { ErrorOrigin } from './kernel/error-reporter.js';
export {
  type KeyValueStore,
  MemoryKeyValueStore,
  type MemoryKeyValueStoreOptions,
} from './kernel/records/key-value-store.js';
export type { Logger } from './kernel/logger.js';
export type { Memory, RememberOptions } from './kernel/memory/memory.js';
export type {
  AnyInterceptor,
  Call,
  CallResult,
  Interceptor,
  Next,
  NextOptions,
  RepeatingInterceptor,
} from './kernel/interceptors.js';
export type {
  ConfirmOptions,
  ElicitOptions,
  ElicitUrlOptions,
  QuestionOptions,
  SampledContent,
  SampleMessage,
  SampleOptions,
} from './kernel/question-options.js';
export type { ElicitResult, ElicitUrlResult, SampleResult } from './kernel/questions.js';
export type { DefaultsOptions } from './metadata/class-defaults.js';
export type {
  CompletionOptions,
  ExtensionToolOptions,
  IdempotentOptions,
  TimedAlias,
} from './metadata/member-options.js';
export type {
  BreakerOptions,
  ConcurrencyOptions,
  MemoizeOptions,
  PolicyOptions,
  RetryOptions,
  VaryContext,
} from './metadata/policy-options.js';
export type { PreviewOptions } from './metadata/preview-options.js';
export type { CompletionValues, ResourceListing } from './metadata/records.js';
export {
  assistant,
  audio,
  embedded,
  type EmbeddedOptions,
  image,
  link,
  resourceContents,
  text,
  ToolResult,
  toolResult,
  type ToolResultOptions,
  user,
} from './protocol/content.js';
export { QuestionError, type FailureKind, McpError, TicketError, ToolError } from './protocol/errors.js';
export type { FailureCause } from './protocol/failure-cause.js';
export type { Extension, ExtensionHandler, ExtensionMethod } from './kernel/extensions/extension.js';
export type { ReachedLimit, ServerLimits } from './protocol/limits.js';
export { type InputRequest, InputSignal, NeedInput, needInput } from './protocol/input.js';
export type { CacheHint } from './protocol/revisions/revision.js';
export type { AccessCaller } from './protocol/access-caller.js';
export type { Client } from './protocol/client.js';
export type { UrlElicitation } from './protocol/peer.js';
export type {
  Annotations,
  AudioContent,
  BlockOptions,
  CallToolResult,
  ClientCapabilities,
  ContentBlock,
  EmbeddedResource,
  GetPromptResult,
  Icon,
  ImageContent,
  Implementation,
  LogLevel,
  Prompt as PromptEntry,
  PromptMessage,
  ReadResourceResult,
  RequestId,
  Resource as ResourceEntry,
  ResourceContents,
  ResourceLink,
  ResourceTemplate as ResourceTemplateEntry,
  Role,
  Root,
  ServerCapabilities,
  TextContent,
  Tool as ToolEntry,
  ToolAnnotations,
} from './protocol/model.js';
export type { Account } from './protocol/owner.js';
export type { Access, Principal, RequestHeaders, TransportInfo } from './protocol/wire.js';
export type { CompleteResult } from './registry/completion-plan.js';
export type { McpServerOptions } from './options.js';
export type { ProviderClass, ProviderEntry, ProviderSource, Resolve } from './providers.js';
export type { MemberHost, UncheckedInput } from './registry/member-host.js';
export type { ListingMode, ListName } from './registry/registry.js';
export { type Mount, mount, type MountOptions } from './mount.js';
export type { Notifier } from './notifier.js';
export type { MemberChange, Transform } from './transform.js';
export type { TransformedMember } from './registry/change.js';
export type { Registration } from './registration.js';
export { type Lifecycle, McpServer } from './server.js';
export { connectMemory, type MemoryConnection, type MemoryOptions } from './transports/memory.js';
export { serveStdio, type StdioConnection } from './transports/stdio.js';
export type { StdioLimits, StdioOptions } from './transports/stdio-pipe.js';
