import { McpServer, serveStdio, type StdioConnection, type StdioOptions } from '@decorum/core';
import { divertStdout } from '@decorum/core/internal';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestApplicationContextOptions } from '@nestjs/common/interfaces/nest-application-context-options.interface.js';

import { NestServer } from './runtime.js';
import { getMcpServerToken } from './tokens.js';

/** Options of `serveNestStdio`: those of `serveStdio`, and of the application. */
export interface NestStdioOptions extends StdioOptions {
  /** Name of the server to serve, in an application with several servers. */
  readonly server?: string;
  /** Options of the application, such as its `logger`. */
  readonly app?: NestApplicationContextOptions;
}

/**
 * Serves an application over stdin and stdout, without HTTP. From the start, the application's own output goes to
 * stderr. When the client closes the connection, the application closes and runs its shutdown hooks.
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
  const { output = process.stdout } = stdio;
  const restore = output === process.stdout ? divertStdout() : () => {};
  let server: McpServer;
  try {
    const app = await NestFactory.createApplicationContext(module, settings);
    server = app.get<McpServer>(name === undefined ? McpServer : getMcpServerToken(name), { strict: false });
    if (server instanceof NestServer) server.whenClosed = async () => await app.close();
  } finally {
    // `serveStdio` diverts stdout again before anything else can run
    restore();
  }
  return await serveStdio(server, stdio);
}
