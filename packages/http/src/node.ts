export { OneWriteResponse } from './fast/one-write.js';
export { nodeHandler, type NodeHandler, type NodeHandlerOptions } from './hosts/node/handler.js';
