import { Inject } from '@nestjs/common';

/** The injection token of a server by its name, for applications with several servers. */
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
