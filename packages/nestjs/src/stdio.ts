import { McpServer, serveStdio, type StdioConnection, type StdioOptions } from '@decorum/core';
import { ConsoleLogger, type LogLevel, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestApplicationContextOptions } from '@nestjs/common/interfaces/nest-application-context-options.interface.js';

import { NestServer } from './runtime.js';
import { getMcpServerToken } from './tokens.js';

/** Options of `serveNestStdio`: those of `serveStdio`, and of the application. */
export interface NestStdioOptions extends StdioOptions {
  /** Name of the server to serve, in an application with several. */
  readonly server?: string;
  /** Options of the application. By default its log goes to stderr. */
  readonly app?: NestApplicationContextOptions;
}

/** Logs to stderr, because stdout is the wire. */
class StderrLogger extends ConsoleLogger {
  protected override printMessages(messages: unknown[], context?: string, logLevel?: LogLevel): void {
    super.printMessages(messages, context, logLevel, 'stderr');
  }
}

/**
 * Serves an application over stdin and stdout, without HTTP. When the client ends the connection, the application
 * closes with its shutdown hooks.
 * @param module the application's root module
 * @example
 * ```ts
 * import { serveNestStdio } from '@decorum/nestjs';
 *
 * await serveNestStdio(AppModule);
 * ```
 */
export async function serveNestStdio(module: Type, options: NestStdioOptions = {}): Promise<StdioConnection> {
  const { server: name, app: settings, ...stdio } = options;
  const app = await NestFactory.createApplicationContext(module, { logger: new StderrLogger(), ...settings });
  const server = app.get<McpServer>(name === undefined ? McpServer : getMcpServerToken(name), { strict: false });
  if (server instanceof NestServer) server.whenClosed = async () => await app.close();
  return await serveStdio(server, stdio);
}
