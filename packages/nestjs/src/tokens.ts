import { Inject } from '@nestjs/common';

/** The injection token of a server by its name, for applications with several. */
export const getMcpServerToken = (name: string): string => `decorum:server:${name}`;

/**
 * Injects the server with a name. With a single server, inject `McpServer`.
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
