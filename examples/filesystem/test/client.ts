import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { fileURLToPath } from 'node:url';

/** The program, as `npm run setup` builds it. */
export const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));

const INFO = { name: 'test', version: '1.0.0' };

/** A result of a tool, as both clients give it. */
export interface Result {
  readonly isError?: boolean;
  readonly content: readonly Record<string, unknown>[];
  readonly structuredContent?: { readonly content?: unknown };
}

/** The roots of a client, which may change. */
export interface Roots {
  uris: readonly string[];
  readonly listChanged?: boolean;
}

const listRoots = (roots: Roots) => () => ({ roots: roots.uris.map((uri) => ({ uri })) });

const program = (directories: readonly string[]) => ({
  command: process.execPath,
  args: [MAIN, ...directories],
  stderr: 'ignore' as const,
});

/** Starts the program and begins a session with it. */
export async function connect(directories: readonly string[], roots?: Roots): Promise<Client> {
  const capabilities = roots ? { roots: { listChanged: roots.listChanged ?? false } } : {};
  const client = new Client(INFO, { capabilities });
  if (roots) client.setRequestHandler(ListRootsRequestSchema, listRoots(roots));
  await client.connect(new StdioClientTransport(program(directories)) as Parameters<Client['connect']>[0]);
  return client;
}

/** Starts the program for a client without a session. */
export async function connectStateless(directories: readonly string[], roots?: Roots): Promise<ClientV2> {
  const capabilities = roots ? { roots: {} } : {};
  const client = new ClientV2(INFO, { capabilities, versionNegotiation: { mode: { pin: '2026-07-28' } } });
  if (roots) client.setRequestHandler('roots/list', listRoots(roots));
  await client.connect(new StdioV2(program(directories)));
  return client;
}

/** Calls a tool. */
export async function call(client: Client | ClientV2, name: string, args: Record<string, unknown> = {}) {
  return (await client.callTool({ name, arguments: args })) as unknown as Result;
}

/** Calls a tool that succeeds, and gives its text, which it sends in both forms. */
export async function textOf(client: Client | ClientV2, name: string, args: Record<string, unknown> = {}) {
  const { isError, content, structuredContent } = await call(client, name, args);
  const text = content[0]?.['text'] as string;
  if (isError || structuredContent?.content !== text) throw new Error(text);
  return text;
}

/** Calls a tool that fails, and gives what it says. */
export async function failureOf(client: Client | ClientV2, name: string, args: Record<string, unknown> = {}) {
  const { isError, content } = await call(client, name, args);
  if (!isError) throw new Error(`${name} did not fail.`);
  return content[0]?.['text'] as string;
}
