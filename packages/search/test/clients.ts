import type { CallToolResult, McpServer } from '@decorum/core';
import { connect, type ConnectOptions, type TestClient } from '@decorum/testing';

const open: TestClient[] = [];

/** Closes the clients of a test. */
export async function closeAll(): Promise<void> {
  for (const client of open.splice(0)) await client.close();
}

/** Connects a client that the test closes at its end. */
export async function clientOf(server: McpServer, options: ConnectOptions = {}): Promise<TestClient> {
  const client = await connect(server, options);
  open.push(client);
  return client;
}

/** The names of the tools that a client sees. */
export const namesOf = async (client: TestClient): Promise<readonly string[]> =>
  (await client.listTools()).map(({ name }) => name);

/** The text of a result. */
export const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => ('text' in block ? block.text : '')).join('\n');

/** The names that the text of a search has, in their order. */
export async function found(client: TestClient, query: string, more: object = {}): Promise<readonly string[]> {
  const result = await client.callTool('search_tools', { query, ...more });
  return textOf(result)
    .split('\n\n')
    .slice(1)
    .map((block) => block.split('\n')[0] as string);
}

/** Calls a tool through `call_tool`. */
export const callOf = (client: TestClient, name: unknown, args?: unknown): Promise<CallToolResult> =>
  client.callTool('call_tool', { name, ...(args !== undefined && { arguments: args }) });
