export type { ConnectionInfo } from './hosts/fetch/context.js';
export { fetchHandler, type FetchHandler, type FetchHandlerOptions } from './hosts/fetch/handler.js';
