import type { McpServer, McpServerOptions } from '@decorum/core';

export declare const PIXEL: string;
export declare function createServer(options?: Partial<McpServerOptions>): McpServer;
