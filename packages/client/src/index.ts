export type { Challenge } from './carriers/credentials.js';
export type { Program } from './carriers/program.js';
export {
  Client,
  type ClientParts,
  type CompleteOptions,
  type CompletionReference,
  type Completions,
} from './client.js';
export { connectClient } from './connect-client.js';
export type { InitializeResult } from './listener.js';
export { ConnectionError, type ConnectionErrorCode, type ConnectionErrorFacts } from './connection-error.js';
export type { ListenFilter, Listening } from './listening.js';
export { finishAuthorization } from './oauth/provider-tokens.js';
export type {
  OAuthClientInformation,
  OAuthClientMetadata,
  OAuthContext,
  OAuthProvider,
  OAuthTokens,
} from './oauth/provider.js';
export type { ClientOptions } from './options.js';
export type {
  ElicitAnswer,
  ElicitQuestion,
  Question,
  QuestionHandlers,
  SampleAnswer,
  SampleQuestion,
} from './questions.js';
export type { Remote, RemoteOptions } from './remote.js';
export type { AskingCall, Notification, RequestOptions } from './request.js';
export type { ConnectTarget } from './target.js';
export { contractDigest } from './proxy/contract-digest.js';
export { proxy } from './proxy/proxy.js';
export type { ProxyFilter, ProxyLimits, ProxyOptions } from './proxy/proxy-options.js';
