export type { LambdaResult } from './hosts/lambda/buffered.js';
export type { LambdaAuthorizer, LambdaContext, LambdaEvent, LambdaRequestContext } from './hosts/lambda/event.js';
export {
  lambdaHandler,
  type LambdaHandler,
  streamingLambdaHandler,
  type StreamingLambdaHandler,
} from './hosts/lambda/handler.js';
export type { LambdaHandlerOptions, StreamingLambdaHandlerOptions } from './hosts/lambda/options.js';
export type { LambdaResponseStream } from './hosts/lambda/runtime.js';
