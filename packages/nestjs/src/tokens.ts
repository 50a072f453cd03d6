import { Inject } from '@nestjs/common';

/**
 * The injection token of a server by its name, for applications with several servers.
 * @example
 * ```ts
 * import { getMcpServerToken } from '@decorum/nestjs';
 * import { Inject } from '@nestjs/common';
 *
 * class Orders {
 *   constructor(@Inject(getMcpServerToken('shop')) readonly server: McpServer) {}
 * }
 * ```
 */
export const getMcpServerToken = (name: string): string => `decorum:server:${name}`;

/**
 * Injects a server by its name. In an application with a single server, inject `McpServer` instead.
 * @example
 * ```ts
 * import { InjectMcpServer } from '@decorum/nestjs';
 *
 * class Watcher {
 *   constructor(@InjectMcpServer('admin') private readonly server: McpServer) {}
 * }
 * ```
 */
export const InjectMcpServer = (name: string): PropertyDecorator & ParameterDecorator =>
  Inject(getMcpServerToken(name));
