import { type Context, McpServer, type McpServerOptions, NoInput } from '@decorum/core';
import { connect, type ConnectOptions } from '@decorum/testing';

export const ERAS = ['stateful', 'stateless'] as const;

export const SILENT = { warn() {}, error() {} };

/** A server, the errors that it reports, and its warnings. */
export function reporting(options: Partial<McpServerOptions> = {}) {
  const errors: Error[] = [];
  const warnings: string[] = [];
  const logger = { warn: (_details: object, message: string) => void warnings.push(message), error() {} };
  const onError = (error: unknown) => void errors.push(error as Error);
  const server = new McpServer({ name: 'test', version: '1', logger, onError, ...options });
  return { server, errors, warnings };
}

/** The same with a tool named `tool`, which has no input, and a client. */
export async function serveTool(
  handler: (ctx: Context) => unknown,
  client: ConnectOptions = {},
  options: Partial<McpServerOptions> = {},
) {
  const made = reporting(options);
  made.server.addTool({ name: 'tool', input: NoInput }, (_input, ctx) => handler(ctx));
  const connected = await connect(made.server, client);
  const call = (params: object = {}) => connected.request('tools/call', { name: 'tool', ...params });
  return { ...made, client: connected, call };
}

/** The text of a result with one block. */
export const textOf = (result: object) => (result as { content: readonly { text: string }[] }).content[0]?.text;

/** Text blocks. */
export const said = (...texts: string[]) => texts.map((text) => ({ type: 'text', text }));

export const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
