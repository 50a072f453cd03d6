import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

import type { McpServer } from '@decorum/core';
import { CommandFailure, EXIT } from 'create-decorum';

import { allowedHostsIn } from '../entry.js';
import { loadFailure, type Program } from '../failures.js';

/** The transport of a server. */
export type Transport = 'stdio' | 'http';

/** The program's copy of a package, because the CLI's may have another version. Falls back to the CLI's copy. */
export async function packageFor<T>(file: string, name: string): Promise<T> {
  try {
    return (await import(pathToFileURL(createRequire(file).resolve(name)).href)) as T;
  } catch {
    return (await import(name)) as T;
  }
}

/**
 * Serves a server until a signal arrives or stdin ends.
 * @throws {CommandFailure}
 */
export async function serve(server: McpServer, transport: Transport, program: Program): Promise<void> {
  try {
    await (transport === 'stdio' ? overStdio(server, program.file) : overHttp(server, program.file));
  } catch (error) {
    throw explained(program, error);
  }
}

const titleOf = ({ info }: McpServer) => `${info.name} ${info.version}`;

async function overStdio(server: McpServer, file: string): Promise<void> {
  const { serveStdio } = await packageFor<typeof import('@decorum/core')>(file, '@decorum/core');
  await serveStdio(server);
  process.stderr.write(`${titleOf(server)}   stdio\n`);
}

async function overHttp(server: McpServer, file: string): Promise<void> {
  const { listen } = await packageFor<typeof import('@decorum/http')>(file, '@decorum/http');
  const { PORT = '', HOST = '' } = process.env;
  const allowedHosts = allowedHostsIn(process.env);
  const { url } = await listen(server, {
    port: portOf(PORT),
    host: HOST || '127.0.0.1',
    ...(allowedHosts.length > 0 && { allowedHosts }),
  });
  process.stdout.write(`${titleOf(server)}   ${url}\n`);
}

function portOf(text: string): number {
  const port = text.trim() === '' ? 3000 : Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new CommandFailure(`PORT is "${text}". Set it to a whole number from 0 to 65535.`, EXIT.usage);
}

function explained(program: Program, error: unknown): Error {
  if (error instanceof CommandFailure) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'DECORUM_UNSAFE_HOST') {
    const problem = `HOST is ${process.env['HOST']}, so other machines can reach the server, but ALLOWED_HOSTS is not set.`;
    const remedy = 'Set it to the names that clients use, such as mcp.example.com, or leave HOST out.';
    return new CommandFailure(`${problem} ${remedy}`, EXIT.usage, error);
  }
  if (code === 'DECORUM_MISSING_LIBRARY') return new CommandFailure((error as Error).message, EXIT.environment, error);
  return loadFailure(program, error);
}
