export { openapi } from './openapi.js';
export type {
  OpenApiOptions,
  OperationChanges,
  OperationFilter,
  OperationInfo,
  RequestHeadersSource,
} from './openapi-options.js';
