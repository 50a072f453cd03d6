import * as nodeModule from 'node:module';

import type { McpServer } from '@decorum/core';
import type { ClosableHost } from '@decorum/core/transport';
import { INITIALIZE } from '@decorum/core/internal';
import type { NodeHandler } from '@decorum/http/node';

import { warmCompiler } from './compiler.js';
import { AS_ENTRY } from './hooks.js';

/** The part of `@decorum/core` that a child uses. */
export interface Core {
  readonly McpServer: typeof McpServer;
  readonly connectMemory: typeof import('@decorum/core').connectMemory;
  readonly serveStdio: (server: ClosableHost) => Promise<unknown>;
}

/** The part of `@decorum/http/node` that a child uses. */
export interface Http {
  readonly nodeHandler: (server: ClosableHost, options: { readonly allowedHosts: readonly string[] }) => NodeHandler;
}

/** The project's copy of a package, or the CLI's own copy if the project has none. */
async function copyOf<T>(name: string, own: () => Promise<unknown>): Promise<T> {
  try {
    return (await import(`${AS_ENTRY}${name}`)) as T;
  } catch {
    return (await own()) as T;
  }
}

/** `@decorum/core` as the entry would import it. */
export const coreOf = (): Promise<Core> => copyOf('@decorum/core', () => import('@decorum/core'));

/** `@decorum/http/node` as the entry would import it. */
export const httpOf = (): Promise<Http> => copyOf('@decorum/http/node', () => import('@decorum/http/node'));

const CALLS = [
  {
    id: 0,
    method: INITIALIZE,
    params: { protocolVersion: '', capabilities: {}, clientInfo: { name: 'dev', version: '0' } },
  },
  { id: 1, method: 'tools/list' },
  { id: 2, method: 'tools/call', params: { name: 'warm', arguments: { text: '' } } },
];

/** Serves one call, to load the modules that are loaded on demand. */
async function rehearse({ McpServer, connectMemory }: Core): Promise<void> {
  const server = new McpServer({ name: 'warm', version: '0' });
  const input = { type: 'object', properties: { text: { type: 'string', format: 'email' } } } as const;
  server.addTool({ name: 'warm', description: 'Does nothing', input }, () => '');
  const connection = await connectMemory(server, { receive() {} });
  for (const call of CALLS) await connection.send({ jsonrpc: '2.0', ...call });
  connection.close();
  await server.close();
}

/** Loads the modules that nearly every program needs, before the entry runs. */
export async function warmUp(entry: string, transport: 'stdio' | 'http', packages: readonly string[]): Promise<void> {
  if ('registerHooks' in nodeModule) warmCompiler(entry);
  const core = await coreOf();
  if (transport === 'http') await httpOf();
  // imported as the entry will, so that Node.js has already detected the exports of CommonJS packages
  for (const name of new Set(['class-validator', 'class-transformer', ...packages])) {
    await import(`${AS_ENTRY}${name}`).catch(() => {});
  }
  await rehearse(core).catch(() => {});
}
