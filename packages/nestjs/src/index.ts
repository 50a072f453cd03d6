export { McpExecutionContext, type McpMember } from './execution-context.js';
export { ForMcpServer } from './for-mcp-server.js';
export { McpModule } from './mcp-module.js';
export type { McpModuleAsyncOptions, McpModuleOptions, NestHttpOptions, NestOptions } from './options.js';
export { passport, type PassportOptions } from './passport.js';
export { McpRequest, requestOf } from './request.js';
export { type NestStdioOptions, serveNestStdio } from './stdio.js';
export { getMcpServerToken, InjectMcpServer } from './tokens.js';
