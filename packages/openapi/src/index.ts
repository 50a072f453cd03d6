export type { OpenApiOptions } from './openapi-options.js';
